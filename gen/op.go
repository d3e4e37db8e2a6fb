package gen

import (
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
)

// Op is a spec, or its derived gradient, for one combination of its choices:
// what one descriptor of the generated package describes. Its variants differ
// in the storage types only.
type Op struct {
	Name    string // of the spec or of the gradient
	GoName  string // exported
	Choices []Choice
	// Programs holds the checked program of each variant, and Bound what became
	// of them: plans, kernels and what the host must know of them.
	Programs []*expr.Program
	Bound    *bind.Result
	Grad     *Gradient // nil when the op has none

	isGradient bool // is the gradient of another op
	fusible    bool // is the last call of a fusion's pattern

	// Of a gradient that is a spec: that spec, the op of it whose kernels run,
	// and the number of its instance for each of Programs.
	home      *Spec
	kernel    *Op
	instances []int
}

// Gradient is the op that computes the gradient of another one.
type Gradient struct {
	Op *Op
	// From says where the gradient's arguments come from; it is the same for
	// each variant.
	From *grad.Result
}

// Choice is a choice that an Op has made.
type Choice struct {
	Kind  ChoiceKind
	Name  string
	Value string
}

// ChoiceKind says what is chosen.
type ChoiceKind uint8

// The kinds: a value of a [static], an optional tensor ("with" or "without"),
// and the number of tensors in a list.
const (
	Static ChoiceKind = iota
	Optional
	List
)

// choices turns the choices of a program of s into Choices.
func choices(s *expr.Spec, p *expr.Program) []Choice {
	var list []Choice
	for _, c := range p.Static {
		list = append(list, Choice{choiceKind(s, c.Name), c.Name, c.Value})
	}
	return list
}

// choiceKind tells statics from tensors by their name, which is unique in a
// spec, and optional tensors from lists by their values.
func choiceKind(s *expr.Spec, name string) ChoiceKind {
	if _, isTensor := s.TypeNames[name]; !isTensor {
		return Static
	}
	i := slices.IndexFunc(s.Choices, func(c expr.ChoiceSet) bool { return c.Name == name })
	if slices.Contains(s.Choices[i].Values, "with") {
		return Optional
	}
	return List
}

// StaticName joins the choices of an op to an identifier: the values of its
// statics ("nt"), the optional tensors that it has ("bias") and the lengths of
// its lists ("3").
func StaticName(list []Choice) string {
	var statics strings.Builder
	var parts []string
	for _, c := range list {
		switch c.Kind {
		case Static:
			statics.WriteString(c.Value)
		case Optional:
			if c.Value == "with" {
				parts = append(parts, c.Name)
			}
		case List:
			parts = append(parts, c.Value)
		}
	}
	if statics.Len() > 0 {
		parts = slices.Insert(parts, 0, statics.String())
	}
	return strings.Join(parts, "_")
}

// opsOf groups the instances of s by their choices, in their order, and derives
// the gradients, which are declared at gradPos. Mistakes that only the
// derivation finds are in the list.
func opsOf(s *expr.Spec, gradPos diag.Pos) ([]*Op, diag.List) {
	var ops []*Op
	for _, p := range s.Instances {
		if n := len(ops); n > 0 && slices.Equal(ops[n-1].Programs[0].Static, p.Static) {
			ops[n-1].Programs = append(ops[n-1].Programs, p)
			continue
		}
		ops = append(ops, &Op{Name: s.Name, GoName: s.GoName, Choices: choices(s, p), Programs: []*expr.Program{p}})
	}
	if s.Grad == nil || s.Grad.Kernel != nil {
		return ops, nil // linkGradients finds those that are specs
	}
	var list diag.List
	for _, op := range ops {
		list = append(list, op.derive(s.Grad, gradPos)...)
	}
	return ops, list
}

// derive adds the gradient of every variant of op.
func (op *Op) derive(decl *expr.GradDecl, pos diag.Pos) diag.List {
	var list diag.List
	d := &Op{Name: decl.Name, GoName: decl.GoName, Choices: op.Choices, isGradient: true}
	var from *grad.Result
	narrow := op.narrow()
	for _, p := range op.Programs {
		res, wrong := grad.Derive(p, grad.Decl{Name: decl.Name, Wrt: decl.Wrt, From: decl.From, Narrow: narrow, Pos: pos})
		if len(wrong) > 0 {
			list = append(list, wrong...)
			continue
		}
		d.Programs = append(d.Programs, res.Program)
		if from != nil && !slices.Equal(from.In, res.In) {
			list.Add(pos, "the gradient of %s reads other tensors for other types", op.Name)
		}
		from = res
	}
	if len(list) == 0 {
		op.Grad = &Gradient{Op: d, From: from}
	}
	return list
}

// narrow returns the names of the outputs that a variant stores in less than
// f32.
func (op *Op) narrow() []string {
	var names []string
	for i, t := range op.Programs[0].Outs {
		if slices.ContainsFunc(op.Programs, func(p *expr.Program) bool {
			return p.Outs[i].Type == expr.F16 || p.Outs[i].Type == expr.BF16
		}) {
			names = append(names, t.Name)
		}
	}
	return names
}

// bind plans and lowers the op of s for the package at importPath.
func (op *Op) bind(importPath string, s *Spec) error {
	var err error
	op.Bound, err = bind.Bind(bind.Input{
		ImportPath: importPath, Programs: op.Programs, Static: StaticName(op.Choices), Hash: s.Hash, Spec: s.Spec,
	})
	return err
}

// FamilyRaw is the family of kernels that are written by hand.
const FamilyRaw = "raw"

// Family returns the family that the spec pins, or else that of the plan; ""
// when there is none.
func (op *Op) Family() string {
	if op.Programs[0].Raw != nil {
		return FamilyRaw
	}
	if family := op.Programs[0].Family; family != "" {
		return family
	}
	return op.Bound.Plans[0].Family()
}

// Targets returns the targets that have kernels for every variant of the op.
func (op *Op) Targets() []string {
	var list []string
	for _, t := range []bind.Target{bind.C, bind.MSL} {
		if op.Bound.Unlowered[t] == nil {
			list = append(list, string(t))
		}
	}
	if op.hasCUDA() {
		list = append(list, string(StageCUDA))
	}
	return list
}
