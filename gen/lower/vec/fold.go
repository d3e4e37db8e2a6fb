package vec

import (
	"math"

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

// identity is what a reduction over nothing gives.
func identity(op expr.ReduceOp, t ir.Type) ir.Expr {
	l := &ir.Lit{T: ir.Scalar(t.Elem)}
	switch op {
	case expr.Prod:
		l.F, l.I = 1, 1
	case expr.Max, expr.Argmax:
		l.F, l.I = math.Inf(-1), math.MinInt32
	case expr.Min, expr.Argmin:
		l.F, l.I = math.Inf(1), math.MaxInt32
	case expr.All:
		l.I = 1
	}
	if t.Vec {
		return &ir.Conv{T: t, X: l}
	}
	return l
}

// accType is the type of an accumulator: F32, or I32, or Bool.
func accType(s *plan.Stage, vec bool) ir.Type {
	e := ir.F32
	switch s.Expr.Kind() {
	case expr.Int:
		e = ir.I32
	case expr.Bool:
		e = ir.Bool
	}
	return ir.Type{Elem: e, Vec: vec}
}

// newAcc declares the accumulator of a stage.
func (l *lowering) newAcc(s *plan.Stage, vec bool) *acc {
	t := accType(s, vec)
	a := &acc{stage: s, v: l.Mut(s.Let.Name, t)}
	l.Emit(&ir.Decl{V: a.v, X: identity(s.Reduce, t)})
	if s.Reduce == expr.Argmax || s.Reduce == expr.Argmin {
		it := ir.Type{Elem: ir.I32, Vec: vec}
		a.index = l.Mut(s.Let.Name+"_at", it)
		var none ir.Expr = &ir.Lit{T: ir.Scalar(ir.I32), I: math.MaxInt32}
		if vec {
			none = lower.Splat(none)
		}
		l.Emit(&ir.Decl{V: a.index, X: none})
	}
	return a
}

// combine is the operation that joins two partial results.
func combine(op expr.ReduceOp, x, y ir.Expr) ir.Expr {
	switch op {
	case expr.Sum:
		return &ir.Bin{Op: ir.Add, X: x, Y: y}
	case expr.Prod:
		return &ir.Bin{Op: ir.Mul, X: x, Y: y}
	case expr.Max:
		return &ir.Call{Fn: expr.FnMax, Args: []ir.Expr{x, y}, T: x.Type()}
	case expr.Min:
		return &ir.Call{Fn: expr.FnMin, Args: []ir.Expr{x, y}, T: x.Type()}
	case expr.Any:
		return &ir.Bin{Op: ir.Or, X: x, Y: y}
	}
	return &ir.Bin{Op: ir.And, X: x, Y: y}
}

// take adds the stage's value at the current position to a; n limits it to the
// first lanes. A sum's term under a condition of its own is computed only where
// the condition holds.
func (l *lowering) take(a *acc, n ir.Expr) {
	if w, ok := a.stage.Expr.(*expr.Where); ok && a.stage.Reduce == expr.Sum && isZero(w.B) {
		if c := l.Value(w.C); !c.Type().Vec {
			var then []ir.Stmt
			l.Guarded(&then, func() { l.add(a, l.Value(w.A), n) })
			l.Emit(&ir.If{C: c, Then: then})
			return
		}
	}
	l.add(a, l.Value(a.stage.Expr), n)
}

func isZero(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.K == expr.Float && c.F == 0
}

func (l *lowering) add(a *acc, x, n ir.Expr) {
	if a.v.Type.Vec {
		x = lower.Splat(x)
	}
	x = narrow(x, a.v.Type)
	if a.index != nil {
		l.addIndex(a, x, n)
		return
	}
	if n != nil {
		x = &ir.Select{C: &ir.First{N: n}, A: x, B: identity(a.stage.Reduce, a.v.Type)}
	}
	l.Emit(&ir.Assign{V: a.v, X: combine(a.stage.Reduce, lower.RefTo(a.v), x)})
}

// narrow makes an index value an I32, as accumulators are.
func narrow(x ir.Expr, t ir.Type) ir.Expr {
	if x.Type().Elem == ir.I64 && t.Elem == ir.I32 {
		return &ir.Conv{T: ir.Scalar(ir.I32), X: x}
	}
	return x
}

// addIndex keeps the better of a and x and its row-major position along the
// reduced axes.
func (l *lowering) addIndex(a *acc, x, n ir.Expr) {
	x = l.Name("x", x)
	at := narrow(l.Value(position(l.k.Red)), a.index.Type)
	if a.index.Type.Vec {
		at = lower.Splat(at)
	}
	if a.index.Type.Vec {
		at = lower.Splat(at) // the lanes are columns, which share the position
	}
	better := a.beatenBy(x)
	none := &ir.Bin{Op: ir.Eq, X: lower.RefTo(a.index), Y: lit32(math.MaxInt32, a.index.Type.Vec)}
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
	at := &ir.Select{C: won, A: lower.RefTo(a.index), B: lit32(math.MaxInt32, true)}
	return &ir.Horizontal{Fold: ir.FoldMin, X: at}
}

func lit32(n int64, vec bool) ir.Expr {
	var x ir.Expr = &ir.Lit{T: ir.Scalar(ir.I32), I: n}
	if vec {
		x = lower.Splat(x)
	}
	return x
}

// result is the scalar that a comes to.
func (l *lowering) result(a *acc) ir.Expr {
	if a.index != nil {
		var at ir.Expr = lower.RefTo(a.index)
		if a.v.Type.Vec {
			at = l.winner(a)
		}
		at = l.Name(a.stage.Let.Name, at)
		none := &ir.Bin{Op: ir.Eq, X: at, Y: lit32(math.MaxInt32, false)}
		return l.Name(a.stage.Let.Name, &ir.Select{C: none, A: lit32(0, false), B: at})
	}
	x := lower.RefTo(a.v)
	if a.v.Type.Vec {
		x = &ir.Horizontal{Fold: folds[a.stage.Reduce], X: x}
	}
	return l.Name(a.stage.Let.Name, x)
}

var folds = [...]ir.Fold{
	expr.Sum: ir.FoldSum, expr.Prod: ir.FoldProd, expr.Max: ir.FoldMax,
	expr.Min: ir.FoldMin, expr.Any: ir.FoldAny, expr.All: ir.FoldAll,
}
