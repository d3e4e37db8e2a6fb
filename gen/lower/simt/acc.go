package simt

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// acc accumulates one stage: a value, and for argmax and argmin the index that
// goes with it, lower.NoIndex as long as there is none.
type acc struct {
	stage    *plan.Stage
	v, index *ir.Var
	met      bool // the condition of the stage's terms is known to hold
}

func lit32(n int64) ir.Expr { return lower.Lit32(n, false) }

// newAcc declares an accumulator of s, with the stage's name and the suffix.
func (l *lowering) newAcc(s *plan.Stage, suffix string) *acc {
	t := lower.AccType(s, false)
	a := &acc{stage: s, v: l.Mut(s.Let.Name+suffix, t)}
	l.Emit(&ir.Decl{V: a.v, X: lower.Identity(s.Reduce, t)})
	if lower.IsArg(s.Reduce) {
		a.index = l.Mut(s.Let.Name+suffix+"_at", ir.Scalar(ir.I32))
		l.Emit(&ir.Decl{V: a.index, X: lit32(lower.NoIndex)})
	}
	return a
}

func (l *lowering) newAccs(stages []*plan.Stage, suffix string) []*acc {
	var accs []*acc
	for _, s := range stages {
		accs = append(accs, l.newAcc(s, suffix))
	}
	return accs
}

// isSum reports whether a is a float sum, whose error grows with its length.
func (a *acc) isSum() bool { return a.stage.Reduce == expr.Sum && a.v.Type.Elem == ir.F32 }

// isMin reports whether a searches for the least value.
func (a *acc) isMin() bool { return a.stage.Reduce == expr.Argmin }

// take adds the stage's value at the current position, which is at along the
// reduced axes. A sum's term under a condition of its own is computed only where
// the condition holds.
func (l *lowering) take(a *acc, at ir.Expr) {
	w, ok := lower.Conditional(a.stage)
	switch {
	case ok && a.met:
		l.add(a, l.Given(w.A, w.C), at)
	case ok:
		l.when(l.Value(w.C), func() { l.add(a, l.Given(w.A, w.C), at) })
	default:
		l.add(a, l.Value(a.stage.Expr), at)
	}
}

// add joins the value x, found at the given index, to a.
func (l *lowering) add(a *acc, x, at ir.Expr) {
	x = lower.Narrow(x, a.v.Type)
	if a.index == nil {
		joined := lower.Combine(a.stage.Reduce, lower.RefTo(a.v), x)
		if a.isSum() {
			joined = plus(lower.RefTo(a.v), x)
		}
		l.Emit(&ir.Assign{V: a.v, X: joined})
		return
	}
	x = l.Name(a.stage.Let.Name+"_value", x)
	at = lower.Narrow(at, a.index.Type)
	s := &ir.If{C: a.better(x, at)}
	s.Then = []ir.Stmt{&ir.Assign{V: a.v, X: x}, &ir.Assign{V: a.index, X: at}}
	l.Emit(s)
}

// plus is a float sum with one term more, of a product without rounding that first.
func plus(sum, x ir.Expr) ir.Expr {
	if p, ok := x.(*ir.Bin); ok && p.Op == ir.Mul {
		return &ir.Call{Fn: expr.FnFMA, Args: []ir.Expr{p.X, p.Y, sum}, T: x.Type()}
	}
	return bin(ir.Add, sum, x)
}

// better reports whether x at the given index is the winner over what a holds:
// it is better, or no worse with a lower index, or the first.
func (a *acc) better(x, at ir.Expr) ir.Expr {
	best, index := lower.RefTo(a.v), lower.RefTo(a.index)
	wins := &ir.Better{X: x, Best: best, Min: a.isMin()}
	loses := &ir.Better{X: best, Best: x, Min: a.isMin()}
	return bin(ir.Or, wins, and(&ir.Un{Op: ir.Not, X: loses}, less(at, index)))
}

// result is what a comes to; argmax and argmin over nothing are 0.
func (a *acc) result() ir.Expr {
	if a.index == nil {
		return lower.RefTo(a.v)
	}
	at := lower.RefTo(a.index)
	return &ir.Select{C: bin(ir.Eq, at, lit32(lower.NoIndex)), A: lit32(0), B: at}
}

// publish binds the results of accs for the stages and stores that follow.
func (l *lowering) publish(accs []*acc) {
	for _, a := range accs {
		x := a.result()
		if a.index != nil {
			x = l.Name(a.stage.Let.Name, x)
		}
		l.Local(a.stage.Let, x)
	}
}
