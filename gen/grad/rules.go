package grad

import (
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// rule passes t, a term of the cotangent of n, on to the operands of n.
func (b *builder) rule(n *node, t term) {
	switch e := n.e.(type) {
	case *expr.Unary:
		n.kids[0].take(t, expr.NegOf(e.At, t.val))
	case *expr.Binary:
		b.binary(n, e, t)
	case *expr.Where:
		n.kids[1].takeIf(t, cond{e: e.C}, t.val)
		n.kids[2].takeIf(t, cond{e: e.C, neg: true}, t.val)
	case *expr.Convert:
		n.kids[0].take(t, t.val)
	case *expr.Call:
		b.call(n, e, t)
	}
}

// take contributes val to n, under the conditions of t.
func (n *node) take(t term, val expr.Expr) {
	if n.active {
		n.terms = append(n.terms, term{path: t.path, val: val, space: t.space})
	}
}

// takeIf contributes val to n where c holds, too.
func (n *node) takeIf(t term, c cond, val expr.Expr) {
	if !n.active {
		return
	}
	opposite := cond{e: c.e, neg: !c.neg}.key()
	for _, d := range t.path {
		switch d.key() {
		case c.key():
			n.take(t, val)
			return
		case opposite:
			return
		}
	}
	t.path = append(slices.Clone(t.path), c)
	n.take(t, val)
}

func (b *builder) binary(n *node, e *expr.Binary, t term) {
	at, g := e.At, t.val
	x, y := n.kids[0], n.kids[1]
	switch e.Op {
	case expr.Add:
		x.take(t, g)
		y.take(t, g)
	case expr.Sub:
		x.take(t, g)
		y.take(t, expr.NegOf(at, g))
	case expr.Mul:
		x.take(t, expr.MulOf(at, g, e.Y))
		y.take(t, expr.MulOf(at, g, e.X))
	case expr.Div:
		x.take(t, expr.DivOf(at, g, e.Y))
		quotient := b.known(e, t.path)
		y.take(t, expr.NegOf(at, expr.DivOf(at, expr.MulOf(at, g, quotient), e.Y)))
	default:
		b.diags.Add(at, "%s: an operator on floats here has no derivative", b.p.Name)
	}
}

func (b *builder) call(n *node, e *expr.Call, t term) {
	x := n.kids[0]
	switch e.Fn {
	case expr.FnMin, expr.FnMax:
		first, second := e.Args[1], e.Args[0]
		if e.Fn == expr.FnMax {
			first, second = second, first
		}
		// At a tie, and with a NaN on either side, the first operand has it all.
		less := expr.CompareOf(e.At, expr.Lt, first, second)
		n.kids[0].takeIf(t, cond{e: less, neg: true}, t.val)
		n.kids[1].takeIf(t, cond{e: less}, t.val)
	case expr.FnPow:
		b.pow(n, e, t)
	case expr.FnFMA:
		x.take(t, expr.MulOf(e.At, t.val, e.Args[1]))
		n.kids[1].take(t, expr.MulOf(e.At, t.val, e.Args[0]))
		n.kids[2].take(t, t.val)
	default:
		b.unary(x, e, t)
	}
}

// unary handles the functions of one operand. v is the value of the call, read
// where a tensor holds it.
func (b *builder) unary(x *node, e *expr.Call, t term) {
	at, g, arg := e.At, t.val, e.Args[0]
	v := b.known(e, t.path)
	switch e.Fn {
	case expr.FnExp:
		x.takeIf(t, vanishing(at, v), expr.MulOf(at, g, v))
	case expr.FnExpm1:
		d := expr.AddOf(at, v, expr.Num(at, 1))
		x.takeIf(t, vanishing(at, d), expr.MulOf(at, g, d))
	case expr.FnLog:
		x.take(t, expr.DivOf(at, g, arg))
	case expr.FnLog1p:
		x.take(t, expr.DivOf(at, g, expr.AddOf(at, expr.Num(at, 1), arg)))
	case expr.FnTanh:
		d := expr.SubOf(at, expr.Num(at, 1), expr.MulOf(at, v, v))
		x.takeIf(t, vanishing(at, d), expr.MulOf(at, g, d))
	case expr.FnSigmoid:
		d := expr.MulOf(at, v, expr.SubOf(at, expr.Num(at, 1), v))
		x.takeIf(t, vanishing(at, d), expr.MulOf(at, g, d))
	case expr.FnErf:
		d := expr.CallOf(at, expr.FnExp, expr.NegOf(at, expr.MulOf(at, arg, arg)))
		scale := expr.Num(at, 2/math.Sqrt(math.Pi))
		x.takeIf(t, vanishing(at, d), expr.MulOf(at, expr.MulOf(at, g, scale), d))
	case expr.FnSqrt:
		half := expr.DivOf(at, expr.MulOf(at, expr.Num(at, 0.5), g), v)
		x.takeIf(t, cond{e: isZero(at, v), neg: true}, half)
	case expr.FnRsqrt:
		cube := expr.MulOf(at, expr.MulOf(at, v, v), v)
		x.take(t, expr.MulOf(at, expr.MulOf(at, expr.Num(at, -0.5), g), cube))
	case expr.FnAbs:
		x.take(t, expr.MulOf(at, g, expr.CallOf(at, expr.FnSign, arg)))
	default:
		b.diags.Add(at, "%s: a function here has no derivative", b.p.Name)
	}
}

// pow handles v = pow(x, y): dx = g*y*pow(x, y-1), dy = g*v*log(x).
func (b *builder) pow(n *node, e *expr.Call, t term) {
	at, g := e.At, t.val
	x, y := e.Args[0], e.Args[1]
	if n.kids[0].active {
		less := expr.CallOf(at, expr.FnPow, x, expr.SubOf(at, y, expr.Num(at, 1)))
		val := expr.MulOf(at, expr.MulOf(at, g, y), less)
		if _, constant := y.(*expr.Const); constant && !expr.IsNum(y, 0) {
			n.kids[0].take(t, val)
		} else {
			n.kids[0].takeIf(t, cond{e: isZero(at, y), neg: true}, val)
		}
	}
	if n.kids[1].active {
		val := expr.MulOf(at, expr.MulOf(at, g, b.known(e, t.path)), expr.CallOf(at, expr.FnLog, x))
		flat := expr.AndOf(at, isZero(at, x), expr.CompareOf(at, expr.Ge, y, expr.Num(at, 0)))
		n.kids[1].takeIf(t, cond{e: flat, neg: true}, val)
	}
}

// vanishing is the soft condition that derivative d is not exactly zero.
func vanishing(at diag.Pos, d expr.Expr) cond {
	return cond{e: isZero(at, d), neg: true, soft: true, about: sortedKeys(factors(d).num)}
}

func isZero(at diag.Pos, e expr.Expr) expr.Expr {
	return expr.CompareOf(at, expr.Eq, e, expr.Num(at, 0))
}
