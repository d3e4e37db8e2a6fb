package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// product is an expression as numerators over denominators.
type product struct {
	neg      bool
	num, den []expr.Expr
}

// factors splits e along its multiplications, divisions and signs.
func factors(e expr.Expr) product {
	var p product
	p.split(e, false)
	return p
}

func (p *product) split(e expr.Expr, den bool) {
	switch x := e.(type) {
	case *expr.Unary:
		if x.Op == expr.Neg && x.K == expr.Float {
			p.neg = !p.neg
			p.split(x.X, den)
			return
		}
	case *expr.Binary:
		if x.K == expr.Float && (x.Op == expr.Mul || x.Op == expr.Div) {
			p.split(x.X, den)
			p.split(x.Y, den != (x.Op == expr.Div))
			return
		}
	}
	if den {
		p.den = append(p.den, e)
	} else {
		p.num = append(p.num, e)
	}
}

// expr multiplies the product out again, denominators one by one: their own
// product could leave the range.
func (p product) expr(at diag.Pos) expr.Expr {
	return p.times(at, nil)
}

// times returns e*p; a nil e is 1. Factors that are the same along the fastest axis come
// first, with their denominators: for a row they are computed once.
func (p product) times(at diag.Pos, e expr.Expr) expr.Expr {
	if e != nil {
		p.num = append(slices.Clone(p.num), e)
	}
	a := p.fastest()
	row, rest := p.hoist(func(f expr.Expr) bool { return a != nil && !expr.Uses(f, a) })
	if len(row.num) > 0 && len(row.den) > 0 && len(rest.num) > 0 {
		e = rest.on(at, row.on(at, nil))
	} else {
		e = p.on(at, nil)
	}
	if p.neg {
		e = expr.NegOf(at, e)
	}
	return e
}

// on multiplies e, nil for 1, by the numerators and divides it by the denominators.
func (p product) on(at diag.Pos, e expr.Expr) expr.Expr {
	for _, f := range p.num {
		if e == nil {
			e = f
		} else {
			e = expr.MulOf(at, e, f)
		}
	}
	if e == nil {
		e = expr.Num(at, 1)
	}
	for _, f := range p.den {
		e = expr.DivOf(at, e, f)
	}
	return e
}

// fastest is the axis along which the elements of p lie side by side: the last one of its
// factor with most axes, nil if none has any.
func (p product) fastest() *expr.Axis {
	var most []*expr.Axis
	for _, f := range append(slices.Clone(p.num), p.den...) {
		if axes := expr.UsedAxes(f); len(axes) > len(most) {
			most = axes
		}
	}
	if len(most) == 0 {
		return nil
	}
	return most[len(most)-1]
}

// hoist splits p into the factors for which out holds and the others.
func (p product) hoist(out func(expr.Expr) bool) (outer, inner product) {
	outer.neg = p.neg
	for _, f := range p.num {
		if out(f) {
			outer.num = append(outer.num, f)
		} else {
			inner.num = append(inner.num, f)
		}
	}
	for _, f := range p.den {
		if out(f) {
			outer.den = append(outer.den, f)
		} else {
			inner.den = append(inner.den, f)
		}
	}
	return outer, inner
}

// constant reports whether e is made of constants, parameters and sizes.
func constant(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch e.(type) {
		case *expr.Read, *expr.Index, *expr.Flat:
			ok = false
		}
		return ok
	})
	return ok
}
