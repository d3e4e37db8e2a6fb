package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/plan"
)

// A gradient that is written as a spec becomes an op of its own, as a derived
// one does: its arguments have the names of what they stand for, and it runs the
// kernels of the spec, its home.

// linkGradients finds the gradients that are specs. known reports whether there
// is a spec of the given name, right or wrong.
func linkGradients(specs []*Spec, known func(name string) bool) diag.List {
	var list diag.List
	for _, s := range specs {
		if s.Grad == nil || s.Grad.Kernel == nil {
			continue
		}
		k := s.Grad.Kernel
		i := slices.IndexFunc(specs, func(x *Spec) bool { return x.Name == k.Name })
		if i < 0 {
			if !known(k.Name) {
				list.Add(k.Pos, "the gradient kernel %q is no spec", k.Name)
			}
			continue
		}
		for _, op := range s.Ops {
			l := &linker{forward: op, home: specs[i], decl: s.Grad}
			if l.link(); len(l.list) > 0 {
				list = append(list, l.list...)
				break // the other choices have the same mistakes
			}
		}
	}
	return list
}

// linker makes the gradient of one op.
type linker struct {
	forward *Op
	home    *Spec
	kernel  *Op // of home, with the choices that go with those of forward
	decl    *expr.GradDecl
	list    diag.List
}

func (l *linker) fail(format string, args ...any) {
	l.list.Add(l.decl.Kernel.Pos, "%s", fmt.Sprintf("the gradient kernel %s ", l.home.Name)+fmt.Sprintf(format, args...))
}

func (l *linker) link() {
	if l.kernel = l.choose(); l.kernel == nil {
		return
	}
	p := l.forward.Programs[0]
	if slices.ContainsFunc(p.Ins, func(t *expr.Tensor) bool { return t.Role == expr.InOut }) {
		l.list.AddHint(l.decl.Kernel.Pos, "write the new value as an output", "%s: no gradient of a spec with an inout", p.Name)
		return
	}
	from := l.sources()
	if len(l.list) > 0 {
		return
	}
	g := &Op{
		Name: l.decl.Name, GoName: l.decl.GoName, Choices: l.forward.Choices, isGradient: true,
		home: l.home, kernel: l.kernel,
	}
	for _, p := range l.forward.Programs {
		if i := l.instance(p, from); i >= 0 {
			g.instances = append(g.instances, i)
			g.Programs = append(g.Programs, l.renamed(p, l.kernel.Programs[i]))
		}
	}
	if len(l.list) == 0 {
		l.forward.Grad = &Gradient{Op: g, From: from}
	}
}

// choose returns the op of home whose choices go with those of the forward op.
func (l *linker) choose() *Op {
	given := map[string]string{}
	for _, c := range l.forward.Programs[0].Static {
		given[c.Name] = c.Value
	}
	for _, c := range l.decl.Kernel.Static {
		if l.holds(c.When) {
			for _, x := range c.Then {
				l.checkChoice(x, c.Pos)
				given[x.Name] = x.Value
			}
		}
	}
	var want []expr.Choice
	for _, set := range l.home.Choices {
		v, ok := given[set.Name]
		if !ok || !slices.Contains(set.Values, v) {
			l.list.AddHint(l.decl.Kernel.Pos, `such as static = { "a=x" = "b=y" }`,
				"nothing says which %s the gradient kernel %s has", set.Name, l.home.Name)
		}
		want = append(want, expr.Choice{Name: set.Name, Value: v})
	}
	if len(l.list) > 0 {
		return nil
	}
	i := slices.IndexFunc(l.home.Ops, func(op *Op) bool { return slices.Equal(op.Programs[0].Static, want) })
	return l.home.Ops[i]
}

func (l *linker) holds(when []expr.Choice) bool {
	return !slices.ContainsFunc(when, func(c expr.Choice) bool { return !slices.Contains(l.forward.Programs[0].Static, c) })
}

func (l *linker) checkChoice(c expr.Choice, at diag.Pos) {
	i := slices.IndexFunc(l.home.Choices, func(s expr.ChoiceSet) bool { return s.Name == c.Name })
	if i < 0 || !slices.Contains(l.home.Choices[i].Values, c.Value) {
		l.list.Add(at, "the gradient kernel %s has no choice %s=%s", l.home.Name, c.Name, c.Value)
	}
}

// standsFor returns what a tensor of the kernel stands for.
func standsFor(renamings []expr.Renaming, name string) string {
	for _, r := range renamings {
		if r.Kernel == name {
			return r.Forward
		}
	}
	return name
}

// sources finds where the kernel's arguments come from and what its outputs are.
func (l *linker) sources() *grad.Result {
	p, k, decl := l.forward.Programs[0], l.kernel.Programs[0], l.decl.Kernel
	res := &grad.Result{}
	for _, t := range k.Ins {
		name := standsFor(decl.In, t.Name)
		kind, i := sourceOf(p, name)
		switch {
		case i < 0:
			l.fail("has the input %s, and %s is no input, output or cotangent of %s here", t.Name, name, p.Name)
		case t.Role == expr.InOut:
			l.fail("has the inout %s, but a gradient changes nothing", t.Name)
		}
		res.In = append(res.In, grad.Source{Kind: kind, Index: i})
	}
	for _, t := range k.Outs {
		name, ok := strings.CutPrefix(standsFor(decl.Out, t.Name), "d_")
		i := indexOf(p.Ins, name)
		if !ok || i < 0 {
			l.fail("has the output %s, which is no d_NAME of an input of %s here", t.Name, p.Name)
		}
		res.Outs = append(res.Outs, i)
	}
	for _, q := range k.Params {
		i := slices.IndexFunc(p.Params, func(x *expr.Param) bool { return x.Name == q.Name && x.Type == q.Type })
		if i < 0 {
			l.fail("has the parameter %s, and %s has none of that name and type", q.Name, p.Name)
		}
		res.Params = append(res.Params, i)
	}
	for _, a := range k.Axes {
		if a.Free && !slices.ContainsFunc(p.Axes, func(b *expr.Axis) bool { return b.Name == a.Name && !b.Group }) {
			l.fail("takes the extent of %s from its caller, and %s has no such axis", a.Name, p.Name)
		}
	}
	l.unused(decl.In, k.Ins, "input")
	l.unused(decl.Out, k.Outs, "output")
	return res
}

// unused reports renamings of tensors that no instance of the kernel has.
func (l *linker) unused(list []expr.Renaming, tensors []*expr.Tensor, what string) {
	for _, r := range list {
		_, optional := l.home.TypeNames[r.Kernel]
		if indexOf(tensors, r.Kernel) < 0 && !optional {
			l.list.Add(r.Pos, "the gradient kernel %s has no %s %s", l.home.Name, what, r.Kernel)
		}
	}
}

func indexOf(list []*expr.Tensor, name string) int {
	return slices.IndexFunc(list, func(t *expr.Tensor) bool { return t.Name == name })
}

// sourceOf finds what a name stands for; the index is -1 if for nothing.
func sourceOf(p *expr.Program, name string) (grad.SourceKind, int) {
	if i := indexOf(p.Ins, name); i >= 0 {
		return grad.FromIn, i
	}
	if i := indexOf(p.Outs, name); i >= 0 {
		return grad.FromOut, i
	}
	out, ok := strings.CutPrefix(name, "d_")
	if i := indexOf(p.Outs, out); ok && i >= 0 && expr.ValueKind(p.Outs[i]) == expr.Float {
		return grad.FromCotangent, i
	}
	return 0, -1
}

// tensorOf returns the forward tensor at a source: a cotangent is like its
// output.
func tensorOf(p *expr.Program, s grad.Source) *expr.Tensor {
	if s.Kind == grad.FromIn {
		return p.Ins[s.Index]
	}
	return p.Outs[s.Index]
}

// instance returns the number of the kernel's instance for the types of p.
func (l *linker) instance(p *expr.Program, from *grad.Result) int {
	for i, k := range l.kernel.Programs {
		if l.fitsTypes(p, k, from) {
			l.checkShapes(p, k, from)
			return i
		}
	}
	l.fail("has no instance for %s of %s: its tensors have other types", typesOf(p), p.Name)
	return -1
}

func typesOf(p *expr.Program) string {
	if len(p.Types) == 0 {
		return "the types"
	}
	return DTypeName(p)
}

func (l *linker) fitsTypes(p, k *expr.Program, from *grad.Result) bool {
	for i, s := range from.In {
		if k.Ins[i].Type != tensorOf(p, s).Type {
			return false
		}
	}
	for i, in := range from.Outs {
		if k.Outs[i].Type != p.Ins[in].Type {
			return false
		}
	}
	return true
}

// checkShapes reports tensors of the kernel whose shapes are not those of what
// they stand for, whatever their axes are called.
func (l *linker) checkShapes(p, k *expr.Program, from *grad.Result) {
	axes := map[*expr.Axis]*expr.Axis{}
	check := func(x, stands *expr.Tensor) {
		if len(l.list) == 0 && !sameShape(axes, x.Shape, stands.Shape) {
			l.fail("has %s with the shape %q, which stands for the shape %q of %s",
				x.Name, expr.FormatShape(x.Shape), expr.FormatShape(stands.Shape), stands.Name)
		}
	}
	for i, s := range from.In {
		check(k.Ins[i], tensorOf(p, s))
	}
	for i, in := range from.Outs {
		check(k.Outs[i], p.Ins[in])
	}
}

// sameShape reports whether two shapes are the same once the axes of the first
// are called as axes says, which it completes.
func sameShape(axes map[*expr.Axis]*expr.Axis, a, b []expr.Dim) bool {
	return slices.EqualFunc(a, b, func(x, y expr.Dim) bool {
		return slices.EqualFunc(x, y, func(p, q *expr.Axis) bool {
			if axes[p] == nil {
				axes[p] = q
			}
			return axes[p] == q && p.Group == q.Group
		})
	})
}

// renamed is the kernel's program k with the names that its tensors have as
// those of the gradient of p, and the types of p.
func (l *linker) renamed(p, k *expr.Program) *expr.Program {
	r := *k
	r.Name, r.Types, r.Static = l.decl.Name, p.Types, p.Static
	rename := func(list []*expr.Tensor, names []expr.Renaming) []*expr.Tensor {
		var renamed []*expr.Tensor
		for _, t := range list {
			x := *t
			if x.Name = standsFor(names, t.Name); x.Name != t.Name {
				x.Doc = docOfStandsFor(p, x.Name)
			}
			renamed = append(renamed, &x)
		}
		return renamed
	}
	r.Ins = rename(k.Ins, l.decl.Kernel.In)
	r.Outs = rename(k.Outs, l.decl.Kernel.Out)
	return &r
}

// docOfStandsFor documents an argument of the gradient of p.
func docOfStandsFor(p *expr.Program, name string) string {
	if kind, i := sourceOf(p, name); i >= 0 && kind != grad.FromCotangent {
		return tensorOf(p, grad.Source{Kind: kind, Index: i}).Doc
	}
	return "cotangent of " + strings.TrimPrefix(name, "d_")
}

// bindHome binds the gradient to the kernels of its home, which are bound.
func (op *Op) bindHome() {
	from := op.kernel.Bound
	o := *from.Op
	o.Name, o.Static = op.Name, StaticName(op.Choices)
	rename := func(args []bind.Arg, tensors []*expr.Tensor) []bind.Arg {
		args = slices.Clone(args)
		for i := range args {
			args[i].Name = tensors[i].Name
		}
		return args
	}
	o.Ins = rename(o.Ins, op.Programs[0].Ins)
	o.Outs = rename(o.Outs, op.Programs[0].Outs)
	o.Variants = nil
	var plans []*plan.Plan
	for v, i := range op.instances {
		x := from.Op.Variants[i]
		x.Program = op.Programs[v]
		o.Variants = append(o.Variants, x)
		plans = append(plans, from.Plans[i])
	}
	op.Bound = &bind.Result{Op: &o, Plans: plans, Unlowered: from.Unlowered}
}
