package grad

import (
	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// reduction passes t, the cotangent of the result of s, through the reduction
// of s: it returns the terms of the cotangent of s.Expr.
func (b *builder) reduction(s *expr.Step, t term) []term {
	switch s.Reduce {
	case expr.Mean:
		t.val = expr.DivOf(s.Pos, t.val, meanDivisor(s))
	case expr.Max, expr.Min:
		op := expr.Argmax
		if s.Reduce == expr.Min {
			op = expr.Argmin
		}
		won := expr.CompareOf(s.Pos, expr.Eq, position(s.Pos, s.Over), b.winner(s, op))
		t.path = append(t.path, cond{e: won})
	case expr.Prod:
		return b.prod(s, t)
	}
	return []term{t}
}

// meanDivisor is the number of elements that s takes the mean of, but 1 for none:
// the mean over nothing is 0, and so is its derivative.
func meanDivisor(s *expr.Step) expr.Expr {
	at := expr.Node{K: expr.Int, At: s.Pos}
	n := &expr.Call{Node: at, Fn: expr.FnMax, Args: []expr.Expr{expr.SizeProduct(s.Pos, s.Over), expr.Whole(s.Pos, 1)}}
	return expr.ToFloat(s.Pos, n)
}

// position is the row-major position over the given axes, as argmax counts it.
func position(at diag.Pos, over []*expr.Axis) expr.Expr {
	p := expr.IndexOf(at, over[0])
	for _, a := range over[1:] {
		p = expr.AddOf(at, expr.MulOf(at, p, expr.SizeOf(at, a)), expr.IndexOf(at, a))
	}
	return p
}

// winner reads the position of the extreme element: the forward program's own,
// if it has one, else a new step.
func (b *builder) winner(s *expr.Step, op expr.ReduceOp) expr.Expr {
	for _, o := range b.p.Steps {
		if o.Reduce == op && expr.Key(o.Expr) == expr.Key(s.Expr) && within(o.Over, s.Over) && within(s.Over, o.Over) {
			return expr.ReadOf(s.Pos, o.Result)
		}
	}
	name := "argmax_" + s.Result.Name
	if op == expr.Argmin {
		name = "argmin_" + s.Result.Name
	}
	return expr.ReadOf(s.Pos, b.let(name, op, s.Over, s.Expr))
}

// prod handles y = the product of e. Without a zero the derivative by an
// element is y/e; with one zero it is the product of the others, at that zero
// alone; with more it is zero.
func (b *builder) prod(s *expr.Step, t term) []term {
	at, e := s.Pos, s.Expr
	zero := isZero(at, e)
	count := expr.WhereOf(at, zero, expr.Num(at, 1), expr.Num(at, 0))
	zeros := expr.ReadOf(at, b.let("zeros_"+s.Result.Name, expr.Sum, s.Over, count))
	others := expr.WhereOf(at, zero, expr.Num(at, 1), e)
	rest := expr.ReadOf(at, b.let("nonzero_"+s.Result.Name, expr.Prod, s.Over, others))
	none := cond{e: isZero(at, zeros)}
	single := cond{e: expr.AndOf(at, expr.CompareOf(at, expr.Eq, zeros, expr.Num(at, 1)), zero)}
	val := expr.MulOf(at, t.val, rest)
	base := t.path
	at1 := term{path: append(base[:len(base):len(base)], none), val: expr.DivOf(at, val, e), space: t.space}
	none.neg = true
	at2 := term{path: append(base[:len(base):len(base)], none, single), val: val, space: t.space}
	return []term{at1, at2}
}
