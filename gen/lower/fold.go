package lower

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/plan"
)

// NoIndex is the index of an argmax or argmin that has met nothing yet.
const NoIndex = math.MaxInt32

// Lit32 is an I32 constant, for all lanes if vec.
func Lit32(n int64, vec bool) ir.Expr {
	var x ir.Expr = &ir.Lit{T: ir.Scalar(ir.I32), I: n}
	if vec {
		x = Splat(x)
	}
	return x
}

// AccType is the type of the accumulator of s: F32, or I32, or Bool.
func AccType(s *plan.Stage, vec bool) ir.Type {
	e := ir.F32
	switch s.Expr.Kind() {
	case expr.Int:
		e = ir.I32
	case expr.Bool:
		e = ir.Bool
	}
	return ir.Type{Elem: e, Vec: vec}
}

// IsArg reports whether op gives an index.
func IsArg(op expr.ReduceOp) bool { return op == expr.Argmax || op == expr.Argmin }

// Identity is what a reduction over nothing gives.
func Identity(op expr.ReduceOp, t ir.Type) ir.Expr {
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

// Combine joins two partial results.
func Combine(op expr.ReduceOp, x, y ir.Expr) ir.Expr {
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

var folds = [...]ir.Fold{
	expr.Sum: ir.FoldSum, expr.Prod: ir.FoldProd, expr.Max: ir.FoldMax,
	expr.Min: ir.FoldMin, expr.Any: ir.FoldAny, expr.All: ir.FoldAll,
}

// Across is what the lanes, or the threads of a SIMD group, come to together.
func Across(op expr.ReduceOp, x ir.Expr) ir.Expr { return &ir.Horizontal{Fold: folds[op], X: x} }

// Conditional returns the condition and the value of a float sum's term that is
// zero where the condition does not hold.
func Conditional(s *plan.Stage) (w *expr.Where, ok bool) {
	w, ok = s.Expr.(*expr.Where)
	return w, ok && s.Reduce == expr.Sum && isZero(w.B)
}

func isZero(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.K == expr.Float && c.F == 0
}

// Narrow makes an index value an I32, as accumulators are.
func Narrow(x ir.Expr, t ir.Type) ir.Expr {
	if x.Type().Elem == ir.I64 && t.Elem == ir.I32 {
		return &ir.Conv{T: ir.Scalar(ir.I32), X: x}
	}
	return x
}
