package gen

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/out"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/simrun"
)

// ShaderFindings is what the check of one Metal source found.
type ShaderFindings struct {
	Path     string // of the source in the module
	Findings []sim.Finding
}

// Shaders returns every Metal source that the module's specs give.
func (r *Result) Shaders() []out.File {
	return slices.DeleteFunc(r.Files(), func(f out.File) bool { return !strings.HasSuffix(f.Path, ".metal") })
}

// CheckShaders compiles Metal sources against the stand-in for Apple's
// compiler, several at a time, and returns what was found in each.
func CheckShaders(ctx context.Context, files []out.File) ([]ShaderFindings, error) {
	results := make([]ShaderFindings, len(files))
	errs := make([]error, len(files))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found, err := sim.Check(ctx, f.Path, f.Data)
			results[i], errs[i] = ShaderFindings{f.Path, found}, err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Simulation is what running one variant of an op has shown.
type Simulation struct {
	Op      string // name, and static choices if there are any
	DType   string
	Shader  string // path of the Metal source
	Outcome *simrun.Outcome
}

// kernelsOf returns the ops whose kernels gradients run that are specs.
func kernelsOf(gradients []*Op) []*Op {
	var ops []*Op
	for _, g := range gradients {
		ops = append(ops, g.kernel)
	}
	return ops
}

// metalOps returns the ops of the given name, whose kernels run on Metal, with the spec
// that has the kernels and their source.
func (r *Result) metalOps(name string) (*Spec, out.File, []*Op, error) {
	s, ops := r.find(name)
	if s == nil {
		return nil, out.File{}, nil, unknownName(name)
	}
	if ops[0].home != nil {
		s, ops = ops[0].home, kernelsOf(ops)
	}
	for _, op := range ops {
		if err := op.Bound.Unlowered[bind.MSL]; err != nil {
			return nil, out.File{}, nil, fmt.Errorf("%s has no Metal kernels: %w", name, err)
		}
	}
	i := slices.IndexFunc(s.Files, func(f out.File) bool { return stageOf(f.Path) == StageMSL })
	if i < 0 {
		return nil, out.File{}, nil, fmt.Errorf("%s has no Metal kernels", name)
	}
	return s, s.Files[i], ops, nil
}

// Simulate runs the Metal kernels of the spec, or of the derived gradient, of
// the given name, every variant of them, and hands each outcome to report. The
// programs are kept in dir.
func (r *Result) Simulate(ctx context.Context, name, dir string, san sim.Sanitizer, report func(Simulation)) (bad error) {
	s, shader, ops, err := r.metalOps(name)
	if err != nil {
		return err
	}
	program, err := sim.Build(ctx, dir, shader.Path, shader.Data, san)
	if err != nil {
		return err
	}
	ref := simrun.Reference(oracle.Run)
	if s.Raw != nil {
		server, err := r.module.startReference(ctx, s)
		if err != nil {
			return err
		}
		defer func() { bad = errors.Join(bad, server.close()) }()
		ref = server.run
	}
	for _, op := range ops {
		label := strings.TrimSpace(op.Name + " " + StaticName(op.Choices))
		for v, p := range op.Programs {
			outcome, err := simrun.CheckBy(ctx, program, op.Bound.Op, v, ref)
			if err != nil {
				return err
			}
			report(Simulation{Op: label, DType: DTypeName(p), Shader: shader.Path, Outcome: outcome})
		}
	}
	return nil
}
