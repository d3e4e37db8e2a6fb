package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// An indexed read takes, for each position of a step, the element of its tensor
// at some place. Its adjoint gives to each place what all positions that read
// it contribute: the positions are solved for where an index is affine in one
// of them (a gather), and else searched, by a sum over all positions under the
// condition that they read this place (a scatter).

// inversion solves the indices of one read for the positions of its step.
type inversion struct {
	b     *builder
	at    diag.Pos
	bound map[*expr.Axis]expr.Expr // positions that the place determines
	conds []expr.Expr
}

// invert turns t, a term of read r over the axes of its step, into one over the
// axes of the tensor, with the positions that remain to be summed over. It
// reports false if no place is read.
func (b *builder) invert(r *expr.Read, t term) (term, bool) {
	if twice(r.T.Axes) {
		b.diags.Add(r.At, "%s: no gradient through an indexed read of %s, which has an axis twice", b.p.Name, r.T.Name)
		return t, false
	}
	idx, t := b.apart(r, t)
	inv := &inversion{b: b, at: r.At, bound: map[*expr.Axis]expr.Expr{}}
	open := inv.plain(r.T, idx, t.space)
	for _, j := range open {
		inv.solve(idx[j], r.T.Axes[j], t.space)
	}
	return b.decide(inv.move(r.T, t))
}

// decide leaves out the conditions of t that always hold; it reports false if
// one never does.
func (b *builder) decide(t term) (term, bool) {
	var path []cond
	for _, c := range t.path {
		c.e = b.prover.Simplify(c.e)
		switch {
		case expr.IsTruth(c.e, !c.neg):
		case expr.IsTruth(c.e, c.neg):
			return t, false
		default:
			path = append(path, c)
		}
	}
	t.path = path
	return t, true
}

// apart renames the axes of the step that are also axes of the tensor but not
// read at their own place: the place and the position must not be confused.
func (b *builder) apart(r *expr.Read, t term) ([]expr.Expr, term) {
	idx := slices.Clone(r.Idx)
	ren := map[*expr.Axis]expr.Expr{}
	space := slices.Clone(t.space)
	for j, a := range r.T.Axes {
		k := slices.Index(space, a)
		if ix, ok := r.Idx[j].(*expr.Index); k < 0 || ok && ix.A == a {
			continue
		}
		twin := &expr.Axis{Name: b.axisName(a.Name), Extent: expr.SizeOf(r.At, a), Pos: a.Pos}
		b.fresh = append(b.fresh, twin)
		ren[a] = expr.IndexOf(r.At, twin)
		space[k] = twin
	}
	if len(ren) == 0 {
		return idx, t
	}
	for j := range idx {
		idx[j] = move(idx[j], ren)
	}
	t.space = space
	t.val = move(t.val, ren)
	t.path = movePath(t.path, ren)
	return idx, t
}

// axisName returns a new axis name that begins with name.
func (b *builder) axisName(name string) string {
	used := map[string]bool{}
	for _, a := range slices.Concat(b.p.Axes, b.fresh) {
		used[a.Name] = true
	}
	return uniqueIn(used, name)
}

// plain binds the positions that are indices themselves and returns the other
// dimensions of the tensor.
func (inv *inversion) plain(t *expr.Tensor, idx []expr.Expr, space []*expr.Axis) []int {
	var open []int
	for j, place := range t.Axes {
		ix, ok := idx[j].(*expr.Index)
		if !ok || !slices.Contains(space, ix.A) {
			open = append(open, j)
			continue
		}
		here := expr.IndexOf(inv.at, place)
		if e, taken := inv.bound[ix.A]; taken {
			inv.require(expr.CompareOf(inv.at, expr.Eq, e, here))
			continue
		}
		inv.bound[ix.A] = here
		if ix.A != place {
			inv.require(expr.CompareOf(inv.at, expr.Lt, here, expr.SizeOf(inv.at, extentOf(ix.A))))
		}
	}
	return open
}

// solve determines one more position from index == place, or keeps that as a
// condition.
func (inv *inversion) solve(index expr.Expr, place *expr.Axis, space []*expr.Axis) {
	at, here := inv.at, expr.IndexOf(inv.at, place)
	f := affineOf(move(index, inv.bound))
	i := inv.b.pivot(f, func(a *expr.Axis) bool {
		_, taken := inv.bound[a]
		return slices.Contains(space, a) && !taken
	})
	if i < 0 {
		index = move(index, inv.bound)
		if constant(index) {
			index, here = here, index
		}
		inv.require(expr.CompareOf(at, expr.Eq, index, here))
		return
	}
	multiple, coef := f.solve(here, i)
	position, a := multiple, f.axes[i]
	if !expr.IsWhole(coef, 1) {
		inv.require(expr.CompareOf(at, expr.Eq, expr.RemOf(at, multiple, coef), expr.Whole(at, 0)))
		position = expr.DivOf(at, multiple, coef)
	}
	inv.bind(a, position)
	inv.require(expr.CompareOf(at, expr.Ge, position, expr.Whole(at, 0)))
	inv.require(expr.CompareOf(at, expr.Lt, position, expr.SizeOf(at, extentOf(a))))
}

// bind adds a := e, also in what was bound and required before.
func (inv *inversion) bind(a *expr.Axis, e expr.Expr) {
	one := map[*expr.Axis]expr.Expr{a: e}
	for k, old := range inv.bound { // each on its own: order does not matter
		inv.bound[k] = move(old, one)
	}
	for i, c := range inv.conds {
		inv.conds[i] = move(c, one)
	}
	inv.bound[a] = e
}

func (inv *inversion) require(c expr.Expr) {
	if !expr.IsTruth(c, true) {
		inv.conds = append(inv.conds, c)
	}
}

// move puts the term at the solved positions, under the conditions that make
// them read the place. What remains of its space is to be summed over.
func (inv *inversion) move(t *expr.Tensor, c term) term {
	c.val = move(c.val, inv.bound)
	c.path = slices.Clone(movePath(c.path, inv.bound))
	for _, e := range inv.conds {
		c.path = append(c.path, cond{e: e})
	}
	space := slices.Clone(t.Axes)
	for _, a := range c.space {
		if _, solved := inv.bound[a]; !solved && !slices.Contains(space, a) {
			space = append(space, a)
		}
	}
	c.space = space
	return c
}

// extentOf is the axis whose size a has: a itself, or the one it is a twin of.
func extentOf(a *expr.Axis) *expr.Axis {
	if s, ok := a.Extent.(*expr.Size); ok {
		return s.A
	}
	return a
}

func movePath(path []cond, at map[*expr.Axis]expr.Expr) []cond {
	moved := make([]cond, len(path))
	for i, c := range path {
		moved[i] = c
		moved[i].e = move(c.e, at)
		if moved[i].e != c.e {
			moved[i].about = nil
		}
	}
	return moved
}

// move is e with each position in at replaced by the expression beside it.
func move(e expr.Expr, at map[*expr.Axis]expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Index:
			if x, ok := at[e.A]; ok {
				return x
			}
		case *expr.Read:
			if e.Idx == nil {
				if idx, moved := moved(e.At, e.T, at); moved {
					return &expr.Read{Node: e.Node, T: e.T, Idx: idx}
				}
			}
		case *expr.Flat:
			if idx, moved := moved(e.At, e.T, at); moved {
				return flat(e.At, e.T.Axes, idx)
			}
		}
		return e
	})
}

// moved returns the place in t where its own place moves to, and whether that
// is another one.
func moved(pos diag.Pos, t *expr.Tensor, at map[*expr.Axis]expr.Expr) ([]expr.Expr, bool) {
	other := false
	idx := make([]expr.Expr, len(t.Axes))
	for i, a := range t.Axes {
		idx[i] = expr.IndexOf(pos, a)
		if x, ok := at[a]; ok {
			ix, same := x.(*expr.Index)
			other = other || !same || ix.A != a
			idx[i] = x
		}
	}
	return idx, other
}

// flat is the row-major position of idx in the given axes.
func flat(at diag.Pos, axes []*expr.Axis, idx []expr.Expr) expr.Expr {
	p := expr.Whole(at, 0)
	for i, a := range axes {
		p = expr.AddOf(at, expr.MulOf(at, p, expr.SizeOf(at, a)), idx[i])
	}
	return &expr.Convert{Node: expr.Node{K: expr.Uint64, At: at}, X: p}
}
