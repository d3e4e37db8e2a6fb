package vec

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// acc accumulates one stage: a value, and for argmax and argmin the index that
// goes with it.
type acc struct {
	stage *plan.Stage
	v     *ir.Var
	index *ir.Var
}

// newAcc declares the accumulator of a stage.
func (l *lowering) newAcc(s *plan.Stage, vec bool) *acc {
	t := lower.AccType(s, vec)
	a := &acc{stage: s, v: l.Mut(s.Let.Name, t)}
	l.Emit(&ir.Decl{V: a.v, X: lower.Identity(s.Reduce, t)})
	if lower.IsArg(s.Reduce) {
		a.index = l.Mut(s.Let.Name+"_at", ir.Type{Elem: ir.I32, Vec: vec})
		l.Emit(&ir.Decl{V: a.index, X: lower.Lit32(lower.NoIndex, vec)})
	}
	return a
}

// take adds the stage's value at the current position to a; n limits it to the
// first lanes. A sum's term under a condition of its own is computed only where
// the condition holds.
func (l *lowering) take(a *acc, n ir.Expr) {
	if w, ok := lower.Conditional(a.stage); ok {
		if c := l.Value(w.C); !c.Type().Vec {
			var then []ir.Stmt
			l.Guarded(&then, func() { l.add(a, l.Value(w.A), n) })
			l.Emit(&ir.If{C: c, Then: then})
			return
		}
	}
	l.add(a, l.Value(a.stage.Expr), n)
}

func (l *lowering) add(a *acc, x, n ir.Expr) {
	if a.v.Type.Vec {
		x = lower.Splat(x)
	}
	x = lower.Narrow(x, a.v.Type)
	if a.index != nil {
		l.addIndex(a, x, n)
		return
	}
	if n != nil {
		x = &ir.Select{C: &ir.First{N: n}, A: x, B: lower.Identity(a.stage.Reduce, a.v.Type)}
	}
	l.Emit(&ir.Assign{V: a.v, X: lower.Combine(a.stage.Reduce, lower.RefTo(a.v), x)})
}

// addIndex keeps the better of a and x and its row-major position along the
// reduced axes.
func (l *lowering) addIndex(a *acc, x, n ir.Expr) {
	x = l.Name("x", x)
	at := lower.Narrow(l.Value(position(l.k.Red)), a.index.Type)
	if a.index.Type.Vec {
		at = lower.Splat(at) // the lanes are columns, which share the position
	}
	better := a.beatenBy(x)
	none := &ir.Bin{Op: ir.Eq, X: lower.RefTo(a.index), Y: lower.Lit32(lower.NoIndex, a.index.Type.Vec)}
	better = &ir.Bin{Op: ir.Or, X: better, Y: none}
	if n != nil {
		better = &ir.Bin{Op: ir.And, X: &ir.First{N: n}, Y: better}
	}
	better = l.Name("better", better)
	l.Emit(
		&ir.Assign{V: a.v, X: &ir.Select{C: better, A: x, B: lower.RefTo(a.v)}},
		&ir.Assign{V: a.index, X: &ir.Select{C: better, A: at, B: lower.RefTo(a.index)}},
	)
}

// position is the row-major position along the axes.
func position(axes []*expr.Axis) expr.Expr {
	at := expr.Node{K: expr.Int}
	var p expr.Expr = &expr.Index{Node: at, A: axes[0]}
	for _, a := range axes[1:] {
		p = &expr.Binary{Node: at, Op: expr.Mul, X: p, Y: &expr.Size{Node: at, A: a}}
		p = &expr.Binary{Node: at, Op: expr.Add, X: p, Y: &expr.Index{Node: at, A: a}}
	}
	return p
}

// beatenBy is whether x is better than what a has. Ints have no NaN that wins.
func (a *acc) beatenBy(x ir.Expr) ir.Expr {
	least := a.stage.Reduce == expr.Argmin
	switch {
	case a.v.Type.Elem == ir.F32:
		return &ir.Better{X: x, Best: lower.RefTo(a.v), Min: least}
	case least:
		return &ir.Bin{Op: ir.Lt, X: x, Y: lower.RefTo(a.v)}
	}
	return &ir.Bin{Op: ir.Gt, X: x, Y: lower.RefTo(a.v)}
}

// winner is the index of the best lane, of equal ones the lowest index.
func (l *lowering) winner(a *acc) ir.Expr {
	least := a.stage.Reduce == expr.Argmin
	if a.v.Type.Elem == ir.F32 {
		return &ir.Winner{Best: lower.RefTo(a.v), Index: lower.RefTo(a.index), Min: least}
	}
	fold := ir.FoldMax
	if least {
		fold = ir.FoldMin
	}
	best := l.Name("best", &ir.Horizontal{Fold: fold, X: lower.RefTo(a.v)})
	won := &ir.Bin{Op: ir.Eq, X: lower.RefTo(a.v), Y: lower.Splat(best)}
	at := &ir.Select{C: won, A: lower.RefTo(a.index), B: lower.Lit32(lower.NoIndex, true)}
	return &ir.Horizontal{Fold: ir.FoldMin, X: at}
}

// result is the scalar that a comes to.
func (l *lowering) result(a *acc) ir.Expr {
	if a.index != nil {
		var at ir.Expr = lower.RefTo(a.index)
		if a.v.Type.Vec {
			at = l.winner(a)
		}
		at = l.Name(a.stage.Let.Name, at)
		none := &ir.Bin{Op: ir.Eq, X: at, Y: lower.Lit32(lower.NoIndex, false)}
		return l.Name(a.stage.Let.Name, &ir.Select{C: none, A: lower.Lit32(0, false), B: at})
	}
	x := lower.RefTo(a.v)
	if a.v.Type.Vec {
		x = lower.Across(a.stage.Reduce, x)
	}
	return l.Name(a.stage.Let.Name, x)
}
