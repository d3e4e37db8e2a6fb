package plan

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// findProduct reads e, summed over the given axes into let, as a matrix
// product: a product whose factors fall into two parts that share the summed
// axes, each with result axes of its own. It returns nil for anything else.
func findProduct(let *expr.Tensor, over []*expr.Axis, e expr.Expr) *Product {
	var as, bs []expr.Expr
	var aAxes, bAxes []*expr.Axis
	factors := factorsOf(e)
	slices.SortStableFunc(factors, func(x, y expr.Expr) int {
		return len(expr.UsedAxes(y)) - len(expr.UsedAxes(x))
	})
	for _, f := range factors {
		used := expr.UsedAxes(f)
		switch {
		case len(as) == 0 || within(used, aAxes):
			as = append(as, f)
			aAxes = union(aAxes, used)
		case len(bs) == 0 || within(used, bAxes):
			bs = append(bs, f)
			bAxes = union(bAxes, used)
		default:
			return nil
		}
	}
	if len(as) == 0 || len(bs) == 0 || !within(over, aAxes) || !within(over, bAxes) {
		return nil
	}
	p := &Product{Acc: let, A: multiply(as), B: multiply(bs)}
	aOnly, bOnly := 0, 0
	for i, a := range let.Axes {
		inA, inB := slices.Contains(aAxes, a), slices.Contains(bAxes, a)
		switch {
		case inA && inB:
			p.Batch = append(p.Batch, a)
		case inA:
			p.M = append(p.M, a)
			aOnly = i
		case inB:
			p.N = append(p.N, a)
			bOnly = i
		default:
			return nil
		}
	}
	if len(p.M) == 0 || len(p.N) == 0 {
		return nil
	}
	if aOnly > bOnly { // N is the axis along which results lie side by side
		p.A, p.B, p.M, p.N = p.B, p.A, p.N, p.M
	}
	return p
}

// factorsOf splits a product into its factors.
func factorsOf(e expr.Expr) []expr.Expr {
	if m, ok := e.(*expr.Binary); ok && m.Op == expr.Mul && m.K == expr.Float {
		return append(factorsOf(m.X), factorsOf(m.Y)...)
	}
	return []expr.Expr{e}
}

func multiply(fs []expr.Expr) expr.Expr {
	p := fs[0]
	for _, f := range fs[1:] {
		p = &expr.Binary{Node: expr.Node{K: expr.Float, At: f.Pos()}, Op: expr.Mul, X: p, Y: f}
	}
	return p
}

func within(a, b []*expr.Axis) bool {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

func union(a, b []*expr.Axis) []*expr.Axis {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

// findScatter reads e, summed over the given axes into let, as a scatter:
// where(id == V && cond, value, 0) with V the outermost axis of let and an id
// that is a read of a tensor over the summed axes.
func findScatter(let *expr.Tensor, over []*expr.Axis, e expr.Expr) *ScatterOp {
	w, ok := e.(*expr.Where)
	if !ok || !isZero(w.B) || len(let.Axes) < 2 {
		return nil
	}
	axis := let.Axes[0]
	sc := &ScatterOp{Acc: let, Axis: axis, Value: w.A}
	var inner expr.Expr
	for _, c := range conjuncts(w.C) {
		switch id := idOf(c, axis); {
		case id != nil && sc.ID == nil:
			sc.ID = id
		case expr.Uses(c, let.Axes[len(let.Axes)-1]):
			inner = both(inner, c)
		default:
			sc.Cond = both(sc.Cond, c)
		}
	}
	if inner != nil {
		// What differs from column to column is no condition on the row.
		sc.Value = &expr.Where{Node: w.Node, C: inner, A: w.A, B: w.B}
	}
	if sc.ID == nil || !within(expr.UsedAxes(sc.ID), over) || expr.Uses(sc.Value, axis) || sc.Cond != nil && expr.Uses(sc.Cond, axis) {
		return nil
	}
	return sc
}

// both is x && y, where x may be nil.
func both(x, y expr.Expr) expr.Expr {
	if x == nil {
		return y
	}
	return &expr.Binary{Node: expr.Node{K: expr.Bool, At: y.Pos()}, Op: expr.LogicAnd, X: x, Y: y}
}

// idOf returns the read that c compares with the index of axis.
func idOf(c expr.Expr, axis *expr.Axis) expr.Expr {
	eq, ok := c.(*expr.Binary)
	if !ok || eq.Op != expr.Eq {
		return nil
	}
	x, y := eq.X, eq.Y
	if ix, ok := x.(*expr.Index); ok && ix.A == axis {
		x, y = y, x
	}
	if ix, ok := y.(*expr.Index); ok && ix.A == axis {
		if r, ok := x.(*expr.Read); ok && r.Idx == nil {
			return r
		}
	}
	return nil
}

func conjuncts(e expr.Expr) []expr.Expr {
	if b, ok := e.(*expr.Binary); ok && b.Op == expr.LogicAnd {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []expr.Expr{e}
}

func isZero(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.K == expr.Float && c.F == 0
}
