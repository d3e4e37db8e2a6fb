package simt

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// acc accumulates one stage: a value, and for argmax and argmin the index that
// goes with it, noIndex as long as there is none.
type acc struct {
	stage    *plan.Stage
	v, index *ir.Var
}

const noIndex = math.MaxInt32

func lit32(n int64) ir.Expr { return &ir.Lit{T: ir.Scalar(ir.I32), I: n} }

// identity is what a reduction over nothing gives.
func identity(op expr.ReduceOp, t ir.Elem) ir.Expr {
	l := &ir.Lit{T: ir.Scalar(t)}
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
	return l
}

// accElem is the type of a stage's accumulator.
func accElem(s *plan.Stage) ir.Elem {
	switch s.Expr.Kind() {
	case expr.Int:
		return ir.I32
	case expr.Bool:
		return ir.Bool
	}
	return ir.F32
}

// newAcc declares an accumulator of s, with the stage's name and the suffix.
func (l *lowering) newAcc(s *plan.Stage, suffix string) *acc {
	t := accElem(s)
	a := &acc{stage: s, v: l.Mut(s.Let.Name+suffix, ir.Scalar(t))}
	l.Emit(&ir.Decl{V: a.v, X: identity(s.Reduce, t)})
	if s.Reduce == expr.Argmax || s.Reduce == expr.Argmin {
		a.index = l.Mut(s.Let.Name+suffix+"_at", ir.Scalar(ir.I32))
		l.Emit(&ir.Decl{V: a.index, X: lit32(noIndex)})
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

// combine is the operation that joins two partial results.
func combine(op expr.ReduceOp, x, y ir.Expr) ir.Expr {
	switch op {
	case expr.Sum:
		return bin(ir.Add, x, y)
	case expr.Prod:
		return bin(ir.Mul, x, y)
	case expr.Max:
		return &ir.Call{Fn: expr.FnMax, Args: []ir.Expr{x, y}, T: x.Type()}
	case expr.Min:
		return &ir.Call{Fn: expr.FnMin, Args: []ir.Expr{x, y}, T: x.Type()}
	case expr.Any:
		return bin(ir.Or, x, y)
	}
	return and(x, y)
}

// take adds the stage's value at the current position, which is at along the
// reduced axes. A sum's term under a condition of its own is computed only where
// the condition holds.
func (l *lowering) take(a *acc, at ir.Expr) {
	if w, ok := a.stage.Expr.(*expr.Where); ok && a.isSum() && isZero(w.B) {
		l.when(l.Value(w.C), func() { l.add(a, l.Value(w.A), at) })
		return
	}
	l.add(a, l.Value(a.stage.Expr), at)
}

func isZero(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.K == expr.Float && c.F == 0
}

// add joins the value x, found at the given index, to a.
func (l *lowering) add(a *acc, x, at ir.Expr) {
	x = narrow(x, a.v.Type.Elem)
	if a.index == nil {
		l.Emit(&ir.Assign{V: a.v, X: combine(a.stage.Reduce, lower.RefTo(a.v), x)})
		return
	}
	x = l.Name(a.stage.Let.Name+"_value", x)
	at = narrow(at, ir.I32)
	s := &ir.If{C: a.better(x, at)}
	s.Then = []ir.Stmt{&ir.Assign{V: a.v, X: x}, &ir.Assign{V: a.index, X: at}}
	l.Emit(s)
}

// better reports whether x at the given index is the winner over what a holds:
// it is better, or no worse with a lower index, or the first.
func (a *acc) better(x, at ir.Expr) ir.Expr {
	best, index := lower.RefTo(a.v), lower.RefTo(a.index)
	wins := &ir.Better{X: x, Best: best, Min: a.isMin()}
	loses := &ir.Better{X: best, Best: x, Min: a.isMin()}
	return bin(ir.Or, wins, and(&ir.Un{Op: ir.Not, X: loses}, less(at, index)))
}

// narrow makes an index value an I32, as accumulators are.
func narrow(x ir.Expr, t ir.Elem) ir.Expr {
	if x.Type().Elem == ir.I64 && t == ir.I32 {
		return &ir.Conv{T: ir.Scalar(ir.I32), X: x}
	}
	return x
}

// result is what a comes to; argmax and argmin over nothing are 0.
func (a *acc) result() ir.Expr {
	if a.index == nil {
		return lower.RefTo(a.v)
	}
	at := lower.RefTo(a.index)
	return &ir.Select{C: bin(ir.Eq, at, lit32(noIndex)), A: lit32(0), B: at}
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

var folds = [...]ir.Fold{
	expr.Sum: ir.FoldSum, expr.Prod: ir.FoldProd, expr.Max: ir.FoldMax,
	expr.Min: ir.FoldMin, expr.Any: ir.FoldAny, expr.All: ir.FoldAll,
}
