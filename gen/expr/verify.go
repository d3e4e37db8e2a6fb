package expr

import (
	"errors"
	"fmt"
	"slices"
)

// Verify reports every way in which p breaks the contract of Program: names
// that are not unique, steps out of order, axes that do not match, operands of
// the wrong kind. A checked spec and a derived gradient verify without error.
func Verify(p *Program) error {
	v := &verifier{p: p, ready: map[*Tensor]bool{}, names: map[string]bool{}, stored: map[*Tensor]bool{}}
	v.axes()
	v.tensors()
	for _, s := range p.Steps {
		v.step(s)
	}
	v.where = ""
	for _, t := range p.Outs {
		if !v.stored[t] && p.Raw == nil {
			v.failf("output %s is computed by no step", t.Name)
		}
	}
	for _, r := range p.Require {
		v.where = "require " + r.Name
		v.scalar(r.Cond, Bool, p.Axes)
	}
	return errors.Join(v.errs...)
}

type verifier struct {
	p      *Program
	where  string           // what the next errors are about
	ready  map[*Tensor]bool // may be read
	names  map[string]bool  // of what may be read
	stored map[*Tensor]bool // has been computed
	errs   []error
}

func (v *verifier) failf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if v.where != "" {
		text = v.where + ": " + text
	}
	v.errs = append(v.errs, fmt.Errorf("%s: %s", v.p.Name, text))
}

func (v *verifier) axes() {
	for i, a := range v.p.Axes {
		v.where = "axis " + a.Name
		for _, b := range v.p.Axes[:i] {
			if a == b || a.Name == b.Name {
				v.failf("declared twice")
			}
		}
		if a.Extent != nil {
			v.scalar(a.Extent, Int, v.p.Axes[:i])
			if a.Free {
				v.failf("both free and with an extent of its own")
			}
		}
	}
	v.where = ""
}

// scalar checks an expression over parameters and the sizes of known axes.
func (v *verifier) scalar(e Expr, k Kind, known []*Axis) {
	if e.Kind() != k {
		v.failf("kind is %s, want %s", e.Kind(), k)
	}
	v.expr(e, nil)
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Read, *Flat, *Index:
			v.failf("a tensor or position where only parameters and sizes are known")
		case *Size:
			if !slices.Contains(known, e.A) {
				v.failf("size of %s is not known here", e.A.Name)
			}
		}
		return true
	})
}

func (v *verifier) tensors() {
	v.unique("input", v.p.Ins)
	v.unique("output", v.p.Outs)
	for _, t := range v.p.Ins {
		v.where = "input " + t.Name
		if t.Role != In && t.Role != InOut {
			v.failf("has the role of another kind of tensor")
		}
		v.shaped(t)
		if t.Bounds != nil {
			v.scalar(t.Bounds, Int, v.p.Axes)
		}
		if t.Except != nil && !slices.Contains(v.p.Params, t.Except) {
			v.failf("parameter %s is not declared", t.Except.Name)
		}
		v.ready[t], v.names[t.Name] = true, true
	}
	for _, t := range v.p.Outs {
		v.where = "output " + t.Name
		if t.Role != Out {
			v.failf("has the role of another kind of tensor")
		}
		v.shaped(t)
	}
	v.where = ""
}

func (v *verifier) unique(what string, ts []*Tensor) {
	for i, t := range ts {
		for _, u := range ts[:i] {
			if t == u || t.Name == u.Name {
				v.failf("%s %s is declared twice", what, t.Name)
			}
		}
	}
}

// shaped checks that the axes of t are those of its shape.
func (v *verifier) shaped(t *Tensor) {
	var axes []*Axis
	for _, d := range t.Shape {
		axes = append(axes, d...)
	}
	if !slices.Equal(axes, t.Axes) {
		v.failf("axes %s differ from shape %s", listAxes(t.Axes), listAxes(axes))
	}
	v.known(t.Axes)
	if t.Type == InvalidDType {
		v.failf("has no type")
	}
}

func (v *verifier) known(axes []*Axis) {
	for _, a := range axes {
		if !slices.Contains(v.p.Axes, a) {
			v.failf("axis %s is not declared", a.Name)
		}
	}
}

func (v *verifier) step(s *Step) {
	t := s.Result
	v.where = "step " + t.Name
	v.place(t)
	v.known(t.Axes)
	v.known(s.Over)
	for i, a := range s.Over {
		if slices.Contains(t.Axes, a) || slices.Contains(s.Over[:i], a) {
			v.failf("reduces over %s, which is a result axis or named twice", a.Name)
		}
	}
	if !v.inOrder(s.Over) {
		v.failf("reduced axes %s are not in order of declaration", listAxes(s.Over))
	}
	if (s.Reduce == NoReduce) != (len(s.Over) == 0) {
		v.failf("has %d reduced axes and reduction %q", len(s.Over), s.Reduce)
	}
	space := append(slices.Clone(t.Axes), s.Over...)
	v.expr(s.Expr, space)
	used := UsedAxes(s.Expr)
	for _, a := range used {
		if !slices.Contains(space, a) {
			v.failf("uses axis %s, which it neither has nor reduces", a.Name)
		}
	}
	if t.Role == Let {
		v.letAxes(t, used)
	}
	v.resultKind(s)
	v.stored[t] = true
	if t.Role == Let {
		v.ready[t], v.names[t.Name] = true, true
	}
}

// place checks that t may be computed here.
func (v *verifier) place(t *Tensor) {
	if v.stored[t] {
		v.failf("is computed twice")
	}
	switch t.Role {
	case Let:
		if v.names[t.Name] {
			v.failf("an input or an earlier let has the same name")
		}
	case Out:
		if !slices.Contains(v.p.Outs, t) {
			v.failf("is not among the outputs")
		}
	case InOut:
		if !slices.Contains(v.p.Ins, t) {
			v.failf("is not among the inputs")
		}
	default:
		v.failf("computes an input")
	}
}

// letAxes checks that a let varies over each of its axes, in order.
func (v *verifier) letAxes(t *Tensor, used []*Axis) {
	for _, a := range t.Axes {
		if !slices.Contains(used, a) {
			v.failf("has axis %s, over which it does not vary", a.Name)
		}
	}
	if !v.inOrder(t.Axes) {
		v.failf("axes %s are not in order of declaration", listAxes(t.Axes))
	}
}

func (v *verifier) inOrder(axes []*Axis) bool {
	last := -1
	for _, a := range axes {
		i := slices.Index(v.p.Axes, a)
		if i <= last {
			return false
		}
		last = i
	}
	return true
}

// resultKind checks the kind of what a step reduces and of what it gives.
func (v *verifier) resultKind(s *Step) {
	k := s.Expr.Kind()
	switch s.Reduce {
	case Any, All:
		if k != Bool {
			v.failf("reduces a %s where a bool is wanted", k)
		}
	case Mean, Prod:
		if k != Float {
			v.failf("reduces a %s where a float is wanted", k)
		}
	case Sum, Max, Min, Argmax, Argmin:
		if k != Float && k != Int {
			v.failf("reduces a %s where a number is wanted", k)
		}
		if s.Reduce == Argmax || s.Reduce == Argmin {
			k = Int
		}
	}
	if !holds(s.Result, k) {
		v.failf("a %s does not go into storage type %d", k, s.Result.Type)
	}
}

// holds reports whether values of kind k may be stored in t.
func holds(t *Tensor, k Kind) bool {
	switch t.Type {
	case F32:
		return k == Float
	case F16, BF16:
		return k == Float && t.Role != Let
	case I32:
		return k == Int
	case U8:
		return k == Bool || k == Int && t.Role != Let
	}
	return false
}

func listAxes(axes []*Axis) []string {
	names := make([]string, len(axes))
	for i, a := range axes {
		names[i] = a.Name
	}
	return names
}
