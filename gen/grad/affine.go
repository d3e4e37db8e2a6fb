package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// affine is an index as a sum of axis positions with coefficients, and a rest.
type affine struct {
	axes []*expr.Axis
	coef []expr.Expr // of each of axes; varies over no axis
	rest []expr.Expr // terms of any other form
}

// affineOf splits e. Only terms whose factor is an expression over parameters
// and sizes count as affine.
func affineOf(e expr.Expr) affine {
	var f affine
	f.add(e, expr.Whole(e.Pos(), 1))
	return f
}

func (f *affine) add(e, scale expr.Expr) {
	at := e.Pos()
	switch x := e.(type) {
	case *expr.Index:
		for i, a := range f.axes {
			if a == x.A {
				f.coef[i] = expr.AddOf(at, f.coef[i], scale)
				return
			}
		}
		f.axes = append(f.axes, x.A)
		f.coef = append(f.coef, scale)
		return
	case *expr.Unary:
		f.add(x.X, expr.NegOf(at, scale))
		return
	case *expr.Binary:
		switch {
		case x.Op == expr.Add:
			f.add(x.X, scale)
			f.add(x.Y, scale)
			return
		case x.Op == expr.Sub:
			f.add(x.X, scale)
			f.add(x.Y, expr.NegOf(at, scale))
			return
		case x.Op == expr.Mul && constant(x.Y):
			f.add(x.X, expr.MulOf(at, scale, x.Y))
			return
		case x.Op == expr.Mul && constant(x.X):
			f.add(x.Y, expr.MulOf(at, scale, x.X))
			return
		}
	}
	f.rest = append(f.rest, expr.MulOf(at, scale, e))
}

// solve returns what axis i, times its coefficient, is where the index equals
// place: place less all other terms. A negative coefficient comes back positive,
// with the sign on the other side.
func (f affine) solve(place expr.Expr, i int) (multiple, coef expr.Expr) {
	at := place.Pos()
	others := slices.Clone(f.rest)
	for j, a := range f.axes {
		if j != i {
			others = append(others, expr.MulOf(at, f.coef[j], expr.IndexOf(at, a)))
		}
	}
	if coef, ok := positive(f.coef[i]); ok {
		multiple = expr.Whole(at, 0)
		for _, e := range others {
			multiple = expr.AddOf(at, multiple, e)
		}
		return expr.SubOf(at, multiple, place), coef
	}
	multiple = place
	for _, e := range others {
		multiple = expr.SubOf(at, multiple, e)
	}
	return multiple, f.coef[i]
}

// positive returns x of -x.
func positive(e expr.Expr) (expr.Expr, bool) {
	switch x := e.(type) {
	case *expr.Const:
		return expr.NegOf(e.Pos(), e), x.I < 0
	case *expr.Unary:
		return x.X, x.Op == expr.Neg
	}
	return nil, false
}

// pivot chooses the axis to solve for, or returns -1: one of the candidates
// that occurs in no other form, by a coefficient that is never zero. An axis
// whose extent follows from others counts windows, of which there are more than
// taps in one, and what is solved for needs no sum; next, a coefficient of 1 or
// -1 needs no division.
func (b *builder) pivot(f affine, candidate func(*expr.Axis) bool) int {
	best, score := -1, 0
	for i, a := range f.axes {
		if !candidate(a) || f.inRest(a) || !b.nonzero(f.coef[i]) {
			continue
		}
		s := 1
		if a.Extent != nil {
			s += 2
		}
		if expr.IsWhole(f.coef[i], 1) || expr.IsWhole(f.coef[i], -1) {
			s++
		}
		if s > score {
			best, score = i, s
		}
	}
	return best
}

func (f affine) inRest(a *expr.Axis) bool {
	for _, r := range f.rest {
		if expr.Uses(r, a) {
			return true
		}
	}
	return false
}

// nonzero reports whether e is known not to be zero: a constant, a parameter or
// size that the program requires to be positive, or a product of such.
func (b *builder) nonzero(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Const:
		return e.I != 0
	case *expr.Unary:
		return b.nonzero(e.X)
	case *expr.Binary:
		if e.Op == expr.Mul {
			return b.nonzero(e.X) && b.nonzero(e.Y)
		}
	case *expr.ParamRef, *expr.Size:
		for _, r := range b.p.Require {
			if requiresPositive(r.Cond, expr.Key(e)) {
				return true
			}
		}
	}
	return false
}

// requiresPositive reports whether cond implies that the value with the given
// key is positive.
func requiresPositive(cond expr.Expr, key string) bool {
	c, ok := cond.(*expr.Binary)
	if !ok {
		return false
	}
	left, right := expr.Key(c.X) == key, expr.Key(c.Y) == key
	switch c.Op {
	case expr.LogicAnd:
		return requiresPositive(c.X, key) || requiresPositive(c.Y, key)
	case expr.Gt:
		return left && atLeast(c.Y, 0)
	case expr.Ge:
		return left && atLeast(c.Y, 1)
	case expr.Lt:
		return right && atLeast(c.X, 0)
	case expr.Le:
		return right && atLeast(c.X, 1)
	case expr.Ne:
		return left && expr.IsWhole(c.Y, 0) || right && expr.IsWhole(c.X, 0)
	}
	return false
}

func atLeast(e expr.Expr, v int64) bool {
	c, ok := e.(*expr.Const)
	return ok && c.K == expr.Int && c.I >= v
}
