package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// Cost is a number that depends on the extents: a sum of terms.
type Cost []Term

// Term is Coef times the product of the extents of Axes.
type Term struct {
	Coef int64
	Axes []*expr.Axis
}

// add adds a term, joining it with one over the same axes.
func (c Cost) add(coef int64, axes []*expr.Axis) Cost {
	for i, t := range c {
		if sameSet(t.Axes, axes) {
			c[i].Coef += coef
			return c
		}
	}
	return append(c, Term{coef, slices.Clone(axes)})
}

// Plus is the sum of c and d.
func (c Cost) Plus(d Cost) Cost {
	c = slices.Clone(c)
	for _, t := range d {
		c = c.add(t.Coef, t.Axes)
	}
	return c
}

// String writes c as in "8·R·D + 4·D".
func (c Cost) String() string {
	if len(c) == 0 {
		return "0"
	}
	terms := slices.Clone(c)
	slices.SortStableFunc(terms, func(a, b Term) int { return len(b.Axes) - len(a.Axes) })
	var parts []string
	for _, t := range terms {
		s := fmt.Sprint(t.Coef)
		for _, a := range t.Axes {
			s += "·" + a.Name
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " + ")
}

// Eval gives c for the extents that size reports.
func (c Cost) Eval(size func(*expr.Axis) int64) int64 {
	n := int64(0)
	for _, t := range c {
		p := t.Coef
		for _, a := range t.Axes {
			p *= size(a)
		}
		n += p
	}
	return n
}

// BytesRead is what k reads at least: every operand once; of an operand that is
// read by index, as many elements as there are places that read it.
func (k *Kernel) BytesRead() Cost {
	var c Cost
	for _, t := range k.Reads() {
		for _, space := range k.readSpaces(t) {
			c = c.add(int64(t.Type.Bytes()), space)
		}
	}
	return c
}

// readSpaces are the index spaces over which k reads t: t's own axes, or where k
// only reads it by index the axes of each place that does.
func (k *Kernel) readSpaces(t *expr.Tensor) [][]*expr.Axis {
	var spaces [][]*expr.Axis
	own := false
	for _, e := range k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			if r, ok := e.(*expr.Read); ok && r.T == t {
				own = own || r.Idx == nil
				spaces = addSpace(spaces, expr.UsedAxes(r))
			}
			return true
		})
	}
	if own {
		return [][]*expr.Axis{t.Axes}
	}
	return spaces
}

// addSpace adds a space unless one of spaces has all its axes.
func addSpace(spaces [][]*expr.Axis, axes []*expr.Axis) [][]*expr.Axis {
	if slices.ContainsFunc(spaces, func(s []*expr.Axis) bool { return within(axes, s) }) {
		return spaces
	}
	return append(spaces, axes)
}

// BytesWritten is what k always writes.
func (k *Kernel) BytesWritten() Cost {
	var c Cost
	for _, t := range k.Writes() {
		if k.Lazy(t) {
			continue
		}
		c = c.add(int64(t.Type.Bytes()), t.Axes)
	}
	return c
}

// Flops is the number of float operations of k; an intrinsic counts as one, a
// value used more than once is computed once.
func (k *Kernel) Flops() Cost {
	f := &flops{seen: map[string]bool{}}
	over := slices.Concat(k.Par, k.Red)
	if k.Shape == Partial {
		over = k.Red
	}
	for _, s := range k.Stages {
		f.expr(s.Expr)
		if s.Expr.Kind() == expr.Float {
			f.cost = f.cost.add(1, over)
		}
	}
	if p := k.Prod; p != nil {
		f.expr(p.A)
		f.expr(p.B)
		f.cost = f.cost.add(2, over)
	}
	for _, s := range k.Sums {
		f.expr(s.Expr)
		f.cost = f.cost.add(1, over)
	}
	if s := k.Place; s != nil {
		f.expr(s.Value)
		f.cost = f.cost.add(1, append(slices.Clone(k.Red), s.Acc.Axes[1:]...))
	}
	for _, s := range k.Stores {
		f.expr(s.Expr)
	}
	return f.cost
}

type flops struct {
	seen map[string]bool
	cost Cost
}

func (f *flops) expr(e expr.Expr) {
	key := expr.Key(e)
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	for _, c := range expr.Children(e) {
		f.expr(c)
	}
	if e.Kind() != expr.Float {
		return
	}
	switch e.(type) {
	case *expr.Unary, *expr.Binary, *expr.Call:
		f.cost = f.cost.add(1, expr.UsedAxes(e))
	}
}
