package vec

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// mover lowers a map that computes nothing: its results are elements of tensors
// of their own types, or values that do not vary along the innermost axis. The
// index space is cut where a condition on a position begins or ceases to hold,
// and each part is moved, or filled, as a whole.
type mover struct {
	*lowering
	prover *expr.Prover
	open   []*expr.Axis // the axes along which parts extend: the innermost one, and the one before it where that works
}

// box is a part of the index space: positions from..to along each of the open
// axes.
type box struct{ from, to []ir.Expr }

// newMover returns a mover for the kernel, nil if that computes something.
func (l *lowering) newMover() *mover {
	n := len(l.k.Par)
	if n == 0 || !l.vec || len(l.k.Reads()) == 0 {
		return nil
	}
	prover := l.Plan.Prover()
	for _, open := range [][]*expr.Axis{l.k.Par[max(n-2, 0):], l.k.Par[n-1:]} {
		m := &mover{l, prover, open}
		if !slices.ContainsFunc(l.k.Stores, func(s *plan.Store) bool { return !m.fits(s) }) {
			return m
		}
	}
	return nil
}

// fits reports whether s only moves values, into rows that lie along the
// innermost axis.
func (m *mover) fits(s *plan.Store) bool {
	steps, _, ok := m.steps(s.T, nil)
	return ok && s.T.Role != expr.InOut && !s.Lazy && expr.IsWhole(steps[len(steps)-1], 1) && m.moves(s.Expr, s.T, m.prover)
}

// moves reports whether e, stored into t, can be moved in parts.
func (m *mover) moves(e expr.Expr, t *expr.Tensor, p *expr.Prover) bool {
	switch e := e.(type) {
	case *expr.Where:
		c := p.Simplify(e.C)
		return m.splits(c, p) && m.moves(e.A, t, p.Given(c, true)) && m.moves(e.B, t, p.Given(c, false))
	case *expr.Read:
		if m.as(e, t) {
			return m.splits(p.Simplify(inside(e)), p)
		}
	}
	return e.Kind() != expr.Bool && !m.varies(e)
}

// as reports whether the bits that r reads are those that t holds, at places
// that lie evenly.
func (m *mover) as(r *expr.Read, t *expr.Tensor) bool {
	_, _, ok := m.steps(r.T, r.Idx)
	return ok && r.T.Type == t.Type && r.T.Bounds == nil
}

// varies reports whether e varies along an open axis.
func (m *mover) varies(e expr.Expr) bool {
	return slices.ContainsFunc(m.open, func(a *expr.Axis) bool { return expr.Uses(e, a) })
}

// steps are the distances, in elements of t, between neighbours along each open
// axis where t is read or written at idx, and the place of their origin.
func (m *mover) steps(t *expr.Tensor, idx []expr.Expr) (steps []expr.Expr, origin expr.Expr, ok bool) {
	origin = lower.Place(t, idx)
	for _, a := range m.open {
		var step expr.Expr
		if step, origin, ok = expr.Affine(origin, a); !ok || m.varies(step) {
			return nil, nil, false
		}
		steps = append(steps, step)
	}
	return steps, origin, true
}

// inside is the condition that r is inside its tensor, true where its indices
// are its own.
func inside(r *expr.Read) expr.Expr {
	all := expr.Truth(r.At, true)
	for i, x := range r.Idx {
		a := r.T.Axes[i]
		if ix, ok := x.(*expr.Index); ok && ix.A == a {
			continue
		}
		all = expr.AndOf(r.At, all, expr.CompareOf(r.At, expr.Ge, x, expr.Whole(r.At, 0)))
		all = expr.AndOf(r.At, all, expr.CompareOf(r.At, expr.Lt, x, expr.SizeOf(r.At, a)))
	}
	return all
}

func conjuncts(c expr.Expr) []expr.Expr {
	if b, ok := c.(*expr.Binary); ok && b.Op == expr.LogicAnd {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []expr.Expr{c}
}

// splits reports whether c holds between two positions of each open axis.
func (m *mover) splits(c expr.Expr, p *expr.Prover) bool {
	for _, c := range conjuncts(c) {
		if m.varies(c) && m.limits(c, p) == nil {
			return false
		}
	}
	return true
}

// limit is a condition on the position along an open axis: Coef times the
// position is at least Bound, or where Upper holds less than that; Coef is
// positive.
type limit struct {
	axis        int // of open
	coef, bound expr.Expr
	upper       bool
}

// mirrored are the comparisons that hold for -x and -y where others do for x
// and y.
var mirrored = map[expr.BinaryOp]expr.BinaryOp{
	expr.Lt: expr.Gt, expr.Le: expr.Ge, expr.Gt: expr.Lt, expr.Ge: expr.Le, expr.Eq: expr.Eq,
}

// limits reads a comparison as limits on the position along one open axis.
func (m *mover) limits(c expr.Expr, p *expr.Prover) []limit {
	b, ok := c.(*expr.Binary)
	if !ok || b.X.Kind() != expr.Int {
		return nil
	}
	at := c.Pos()
	axis := slices.IndexFunc(m.open, func(a *expr.Axis) bool { return expr.Uses(c, a) })
	coefX, restX, okX := expr.Affine(b.X, m.open[axis])
	coefY, restY, okY := expr.Affine(b.Y, m.open[axis])
	if !okX || !okY {
		return nil
	}
	op, coef, bound := b.Op, expr.SubOf(at, coefX, coefY), expr.SubOf(at, restY, restX) // coef*position op bound
	if m.varies(coef) || m.varies(bound) {
		return nil
	}
	positive := func(e expr.Expr) bool {
		return expr.IsTruth(p.Simplify(expr.CompareOf(at, expr.Gt, e, expr.Whole(at, 0))), true)
	}
	if !positive(coef) {
		op, coef, bound = mirrored[op], expr.NegOf(at, coef), expr.NegOf(at, bound)
		if !positive(coef) {
			return nil
		}
	}
	next := expr.AddOf(at, bound, expr.Whole(at, 1))
	switch op {
	case expr.Ge:
		return []limit{{axis, coef, bound, false}}
	case expr.Gt:
		return []limit{{axis, coef, next, false}}
	case expr.Lt:
		return []limit{{axis, coef, bound, true}}
	case expr.Le:
		return []limit{{axis, coef, next, true}}
	case expr.Eq:
		return []limit{{axis, coef, bound, false}, {axis, coef, next, true}}
	}
	return nil
}

// at is the first position at or beyond l: the bound over the coefficient,
// rounded up.
func (m *mover) at(l limit) ir.Expr {
	if expr.IsWhole(l.coef, 1) {
		return m.Value(l.bound)
	}
	pos := l.bound.Pos()
	return m.Value(expr.NegOf(pos, expr.DivOf(pos, expr.NegOf(pos, l.bound), l.coef)))
}

// kernel lowers the kernel: an item is a tile.
func (m *mover) kernel() {
	axes := m.k.Par
	n := len(axes)
	if n == 1 {
		m.items([]Dim{{axes, mapTile}}, func(at []ir.Expr) {
			from, to := m.tile(axes[0], at[0], mapTile)
			m.stores(box{[]ir.Expr{from}, []ir.Expr{to}})
		})
		m.perItem = mapTile
		return
	}
	outer, row, col := axes[:n-2], axes[n-2], axes[n-1]
	height, width := int64(mapRows), int64(mapTile)
	if m.across() {
		height, width = acrossRows, acrossTile
	}
	m.items(append(each(outer), Dim{[]*expr.Axis{row}, height}, Dim{[]*expr.Axis{col}, width}), func(at []ir.Expr) {
		for i, a := range outer {
			m.Bind(a, at[i])
		}
		rowFrom, rowTo := m.tile(row, at[n-2], height)
		colFrom, colTo := m.tile(col, at[n-1], width)
		if len(m.open) == 2 {
			m.stores(box{[]ir.Expr{rowFrom, colFrom}, []ir.Expr{rowTo, colTo}})
			return
		}
		m.loop(row, rowFrom, rowTo, func() { m.stores(box{[]ir.Expr{colFrom}, []ir.Expr{colTo}}) })
	})
	m.perItem = height
	m.out.Cost = []*expr.Axis{col}
}

// across reports whether an operand is read across its rows, so that neighbours
// in a column of the result share the lines of memory that they are read from.
func (m *mover) across() bool {
	found := false
	for _, e := range m.k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			if r, ok := e.(*expr.Read); ok {
				steps, _, ok := m.steps(r.T, r.Idx)
				if ok {
					step := steps[len(steps)-1]
					found = found || !expr.IsWhole(step, 0) && !expr.IsWhole(step, 1)
				}
			}
			return !found
		})
	}
	return found
}

func (m *mover) stores(b box) {
	for _, s := range m.k.Stores {
		m.put(s.T, s.Expr, b, m.prover)
	}
}

// put writes the part b of t.
func (m *mover) put(t *expr.Tensor, e expr.Expr, b box, p *expr.Prover) {
	repeat := func(e expr.Expr) func(box, *expr.Prover) {
		return func(b box, _ *expr.Prover) { m.repeat(t, e, b) }
	}
	switch e := e.(type) {
	case *expr.Where:
		m.cut(p.Simplify(e.C), b, p,
			func(b box, p *expr.Prover) { m.put(t, e.A, b, p) },
			func(b box, p *expr.Prover) { m.put(t, e.B, b, p) })
		return
	case *expr.Read:
		if m.as(e, t) {
			m.cut(p.Simplify(inside(e)), b, p, func(b box, _ *expr.Prover) { m.move(t, e, b) }, repeat(fillOf(e)))
			return
		}
	}
	m.repeat(t, e, b)
}

// fillOf is what r gives outside its tensor.
func fillOf(r *expr.Read) expr.Expr {
	switch {
	case r.T.Fill != nil:
		return r.T.Fill
	case r.K == expr.Int:
		return expr.Whole(r.At, 0)
	}
	return expr.Num(r.At, 0)
}

// place is the origin of t at idx for the part b, and the distances along the
// open axes.
func (m *mover) place(t *expr.Tensor, idx []expr.Expr, b box) (from, rows, cols ir.Expr) {
	steps, origin, _ := m.steps(t, idx)
	from = m.Value(origin)
	var by []ir.Expr
	for i, s := range steps {
		step := m.Value(s)
		by = append(by, step)
		if !expr.IsWhole(s, 0) {
			from = lower.AddI(from, lower.MulI(step, b.from[i]))
		}
	}
	if len(by) == 1 {
		by = append([]ir.Expr{lower.Int(0)}, by...)
	}
	return from, by[0], by[1]
}

// extents are the numbers of rows and columns of b.
func (b box) extents() (rows, cols ir.Expr) {
	n := len(b.from) - 1
	rows = lower.Int(1)
	if n > 0 {
		rows = lower.SubI(b.to[0], b.from[0])
	}
	return rows, lower.SubI(b.to[n], b.from[n])
}

func (m *mover) move(t *expr.Tensor, r *expr.Read, b box) {
	s := &ir.Move{B: m.Buffer(t), Src: m.Buffer(r.T)}
	s.Rows, s.Cols = b.extents()
	s.Off, s.LD, _ = m.place(t, nil, b)
	s.From, s.RowStep, s.ColStep = m.place(r.T, r.Idx, b)
	m.Emit(s)
}

func (m *mover) repeat(t *expr.Tensor, e expr.Expr, b box) {
	s := &ir.Repeat{B: m.Buffer(t), X: m.Value(e)}
	s.Rows, s.Cols = b.extents()
	s.Off, s.LD, _ = m.place(t, nil, b)
	m.Emit(s)
}

// cut runs then for the parts of b in which c holds, and otherwise for the rest.
func (m *mover) cut(c expr.Expr, b box, p *expr.Prover, then, otherwise func(box, *expr.Prover)) {
	given := p.Given(c, true)
	inner := func(b box) { then(b, given) }
	if expr.IsTruth(c, true) {
		inner(b)
		return
	}
	outer := func(b box) { otherwise(b, p.Given(c, false)) }
	fixed := expr.Truth(c.Pos(), true)
	limits := make([][]limit, len(m.open))
	for _, c := range conjuncts(c) {
		if !m.varies(c) {
			fixed = expr.AndOf(c.Pos(), fixed, c)
			continue
		}
		for _, l := range m.limits(c, p) {
			limits[l.axis] = append(limits[l.axis], l)
		}
	}
	parts := func(b box) { m.between(limits, 0, b, inner, outer) }
	if expr.IsTruth(fixed, true) {
		parts(b)
		return
	}
	var yes, no []ir.Stmt
	cond := m.Value(fixed)
	m.Guarded(&yes, func() { parts(b) })
	m.Guarded(&no, func() { outer(b) })
	m.Emit(&ir.If{C: cond, Then: yes, Else: no})
}

// between runs inner for the part of b inside the limits of the open axes from
// number i on, and outer for what lies outside.
func (m *mover) between(limits [][]limit, i int, b box, inner, outer func(box)) {
	if i == len(limits) {
		inner(b)
		return
	}
	if len(limits[i]) == 0 {
		m.between(limits, i+1, b, inner, outer)
		return
	}
	from, to := b.from[i], b.to[i]
	before, after := false, false
	for _, l := range limits[i] {
		if l.upper {
			after, to = true, lower.MinI(to, m.at(l))
		} else {
			before, from = true, lower.MaxI(from, m.at(l))
		}
	}
	part := func(from, to ir.Expr) box {
		c := box{slices.Clone(b.from), slices.Clone(b.to)}
		c.from[i], c.to[i] = from, to
		return c
	}
	if before {
		from = m.Name("begin", lower.MinI(from, b.to[i]))
		outer(part(b.from[i], from))
	}
	if after {
		to = m.Name("end", lower.MaxI(to, from))
	}
	m.between(limits, i+1, part(from, to), inner, outer)
	if after {
		outer(part(to, b.to[i]))
	}
}
