package grad

import (
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// tame reports whether e is finite, or NaN for a NaN, whatever finite or infinite
// values it is computed from, so that 0*e is 0, where the conditions of path
// hold. Cotangents count as tame: an infinite one spreads in any case.
func (b *builder) tame(e expr.Expr, path []cond) bool {
	if constant(e) {
		c, ok := e.(*expr.Const)
		return !ok || !math.IsInf(c.F, 0) && !math.IsNaN(c.F)
	}
	switch e := e.(type) {
	case *expr.Read:
		return b.own[e.T] || limited(e, path) || e.Idx == nil && b.tameValue(e.T)
	case *expr.Unary:
		return b.tame(e.X, path)
	case *expr.Binary:
		switch e.Op {
		case expr.Add, expr.Sub, expr.Mul:
			return b.tame(e.X, path) && b.tame(e.Y, path)
		case expr.Div:
			return b.tame(e.X, path) && constant(e.Y)
		}
	case *expr.Where:
		return b.tame(e.A, path) && b.tame(e.B, path)
	case *expr.Convert:
		return e.X.Kind() != expr.Float || b.tame(e.X, path)
	case *expr.Call:
		switch e.Fn {
		case expr.FnTanh, expr.FnErf, expr.FnSigmoid, expr.FnSign, expr.FnUniform:
			return true
		}
	}
	return false
}

// tameValue reports whether the forward value of t is tame.
func (b *builder) tameValue(t *expr.Tensor) bool {
	s := b.stepOf(t)
	return s != nil && s.Reduce == expr.NoReduce && b.tame(s.Expr, nil)
}

// limited reports whether path keeps e between two constants.
func limited(e expr.Expr, path []cond) bool {
	key := expr.Key(e)
	var above, below bool
	for _, c := range path {
		cmp, ok := c.e.(*expr.Binary)
		if !ok {
			continue
		}
		left := expr.Key(cmp.X) == key && constant(cmp.Y)
		right := expr.Key(cmp.Y) == key && constant(cmp.X)
		switch cmp.Op {
		case expr.Lt, expr.Le:
			above = above || left && !c.neg || right && c.neg
			below = below || left && c.neg || right && !c.neg
		case expr.Gt, expr.Ge:
			above = above || left && c.neg || right && !c.neg
			below = below || left && !c.neg || right && c.neg
		}
	}
	return above && below
}

// tameBut reports whether every factor of e but those with the given keys is
// tame where the conditions of path hold.
func (b *builder) tameBut(e expr.Expr, keys []string, path []cond) bool {
	p := factors(e)
	for _, f := range p.num {
		if !slices.Contains(keys, expr.Key(f)) && !b.tame(f, path) {
			return false
		}
	}
	return !slices.ContainsFunc(p.den, func(f expr.Expr) bool { return !constant(f) })
}
