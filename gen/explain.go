package gen

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	emitc "github.com/kernelgen/kgen/gen/emit/c"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/plan"
)

// Stage is a form that a kernel takes on its way to a target.
type Stage string

// The stages: the spec's text, the kernel sequence with its costs, the lowered
// kernels of both execution models, and the generated files.
const (
	StageSpec Stage = "spec"
	StagePlan Stage = "plan"
	StageIR   Stage = "ir"
	StageMSL  Stage = "msl"
	StageCUDA Stage = "cuda"
	StageC    Stage = "c"
	StageGo   Stage = "go"
	StageRef  Stage = "ref"
)

// Explain returns one stage of the spec, or derived gradient, of the given
// name. For the stages plan and ir, dtype and static choose the variant; empty
// ones stand for the first. The generated files hold all variants.
func (r *Result) Explain(name string, stage Stage, dtype, static string) ([]byte, error) {
	s, ops := r.find(name)
	if s == nil {
		return nil, unknownName(name)
	}
	op, i, err := pick(ops, dtype, static)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if op.home != nil && stage != StageSpec && stage != StageGo {
		s, op, i = op.home, op.kernel, op.instances[i]
	}
	switch stage {
	case StageSpec:
		return r.Source(s.File), nil
	case StagePlan, StageIR:
		if s.Raw != nil {
			return s.explainRaw(op, i), nil
		}
	case StageRef:
		if s.Raw != nil {
			return r.Source(s.Raw.Go.File), nil
		}
	}
	switch stage {
	case StagePlan:
		if len(op.Bound.Plans[i].Kernels) == 0 {
			return nil, fmt.Errorf("%s: no plan: %w", name, op.Bound.Unlowered[bind.C])
		}
		return []byte(plan.Format(op.Bound.Plans[i])), nil
	case StageIR:
		return r.explainIR(s, op, i), nil
	}
	return s.file(stage)
}

func unknownName(name string) error {
	return fmt.Errorf("no spec or gradient has the name %q: kgen list shows those there are", name)
}

// find returns the spec that gives the name and its ops of that name.
func (r *Result) find(name string) (*Spec, []*Op) {
	for _, s := range r.Specs {
		if s.Name == name || slices.Contains(s.Also, name) {
			return s, s.Ops
		}
		if grads := s.gradients(); len(grads) > 0 && grads[0].Name == name {
			return s, grads
		}
	}
	return nil, nil
}

// pick returns the op with the given static choices and the number of its
// variant for the given types.
func pick(ops []*Op, dtype, static string) (*Op, int, error) {
	op := ops[0]
	if static != "" {
		i := slices.IndexFunc(ops, func(op *Op) bool { return StaticName(op.Choices) == static })
		if i < 0 {
			return nil, 0, fmt.Errorf("no static choice %q: there are %s", static, strings.Join(collect(ops, func(op *Op) string {
				return StaticName(op.Choices)
			}), " "))
		}
		op = ops[i]
	}
	if dtype == "" {
		return op, 0, nil
	}
	names := collect(op.Programs, DTypeName)
	i := slices.Index(names, dtype)
	if i < 0 {
		return nil, 0, fmt.Errorf("no variant for %q: there are %s", dtype, strings.Join(names, " "))
	}
	return op, i, nil
}

func collect[E any](list []E, f func(E) string) []string {
	var names []string
	for _, e := range list {
		names = append(names, f(e))
	}
	return names
}

// explainIR formats the lowered kernels of variant i of op.
func (r *Result) explainIR(s *Spec, op *Op, i int) []byte {
	var c, msl []*ir.Func // equal kernels are one function, maybe that of another op
	for _, other := range r.Specs {
		for _, b := range other.bound() {
			c = append(c, b.C...)
			if other == s {
				msl = append(msl, b.MSL...)
			}
		}
	}
	var b bytes.Buffer
	for _, target := range []struct {
		name    bind.Target
		funcs   []*ir.Func
		symbols func(k *bind.Kernel) []string
	}{
		{bind.C, c, func(k *bind.Kernel) []string { return []string{k.C} }},
		{bind.MSL, msl, (*bind.Kernel).Functions},
	} {
		if err := op.Bound.Unlowered[target.name]; err != nil {
			fmt.Fprintf(&b, "%s: not lowered: %v\n\n", target.name, err)
			continue
		}
		for k := range op.Bound.Op.Variants[i].Kernels {
			symbols := target.symbols(&op.Bound.Op.Variants[i].Kernels[k])
			for _, f := range target.funcs {
				if slices.Contains(symbols, f.Symbol) {
					fmt.Fprintf(&b, "%s:\n%s\n", target.name, ir.Format(f))
				}
			}
		}
	}
	return b.Bytes()
}

// file returns the generated file that a stage stands for.
func (s *Spec) file(stage Stage) ([]byte, error) {
	for _, f := range s.Files {
		if stageOf(f.Path) == stage {
			return f.Data, nil
		}
	}
	return nil, fmt.Errorf("%s: no file for the target %s: kgen list shows which targets a spec has", s.Name, stage)
}

func stageOf(file string) Stage {
	switch {
	case path.Ext(file) == ".metal":
		return StageMSL
	case path.Ext(file) == ".cu":
		return StageCUDA
	case strings.HasSuffix(file, emitc.Ext), path.Ext(file) == ".c":
		return StageC
	case strings.HasSuffix(file, "_ref.go"):
		return StageRef
	case strings.HasSuffix(file, "_test.go"):
		return ""
	}
	return StageGo
}
