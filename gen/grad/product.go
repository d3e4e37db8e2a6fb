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

// times returns e*p; a nil e is 1.
func (p product) times(at diag.Pos, e expr.Expr) expr.Expr {
	all := p.num
	if e != nil {
		all = append(slices.Clone(p.num), e)
	}
	if len(all) == 0 {
		all = []expr.Expr{expr.Num(at, 1)}
	}
	e = all[0]
	for _, f := range all[1:] {
		e = expr.MulOf(at, e, f)
	}
	for _, f := range p.den {
		e = expr.DivOf(at, e, f)
	}
	if p.neg {
		e = expr.NegOf(at, e)
	}
	return e
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
