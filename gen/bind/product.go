package bind

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/plan"
)

// MatrixProduct says what a kernel does that is a matrix product a library has, too:
// C[Batch, M, N] = E(sum over K of A[Batch, M, K] · B[Batch, K, N]), where E adds a
// bias[N], applies the tanh form of GELU, or does both in this order. Its operands,
// the bias and C are of type Type. A lazy output, which the library does not compute,
// may stand beside C.
type MatrixProduct struct {
	Type           expr.DType
	A, B, C        uint8 // slots
	Bias           uint8 // its slot plus one, 0 without a bias
	Batch, M, N, K []uint8
	TransA, TransB bool // A is [Batch, K, M], B is [Batch, N, K]
	GELU           bool
}

// product returns the product that kernel k is, whose slots hold these tensors; nil
// if it is more than one, or another kernel.
func product(x *index, k *plan.Kernel, slots []*expr.Tensor) *MatrixProduct {
	if k.Prod == nil {
		return nil
	}
	p := k.Prod
	a, b := operand(p.A), operand(p.B)
	var c *plan.Store
	for _, s := range k.Stores {
		switch {
		case s.Lazy:
		case c != nil:
			return nil
		default:
			c = s
		}
	}
	if a == nil || b == nil || c == nil || c.T.Role == expr.InOut || a.Type != b.Type || a.Type != c.T.Type {
		return nil
	}
	transA, okA := transposed(a, p.Batch, p.M, k.Red)
	transB, okB := transposed(b, p.Batch, k.Red, p.N)
	if !okA || !okB || !slices.Equal(c.T.Axes, slices.Concat(p.Batch, p.M, p.N)) {
		return nil
	}
	bias, gelu, ok := epilogue(p, c.Expr)
	if !ok || bias != nil && bias.Type != a.Type {
		return nil
	}
	slot := func(t *expr.Tensor) uint8 { return uint8(slices.Index(slots, t)) }
	out := &MatrixProduct{
		Type: a.Type, A: slot(a), B: slot(b), C: slot(c.T), TransA: transA, TransB: transB, GELU: gelu,
		Batch: x.of(p.Batch), M: x.of(p.M), N: x.of(p.N), K: x.of(k.Red),
	}
	if bias != nil {
		out.Bias = slot(bias) + 1
	}
	return out
}

// operand returns the float tensor that e reads at its own place, nil for anything
// else.
func operand(e expr.Expr) *expr.Tensor {
	r, ok := e.(*expr.Read)
	if !ok || r.Idx != nil || r.T.Bounds != nil || !slices.Contains([]expr.DType{expr.F32, expr.F16, expr.BF16}, r.T.Type) {
		return nil
	}
	return r.T
}

// transposed reports whether t is [batch, columns, rows], and whether it is that or
// [batch, rows, columns].
func transposed(t *expr.Tensor, batch, rows, columns []*expr.Axis) (transposed, ok bool) {
	switch {
	case slices.Equal(t.Axes, slices.Concat(batch, rows, columns)):
		return false, true
	case slices.Equal(t.Axes, slices.Concat(batch, columns, rows)):
		return true, true
	}
	return false, false
}

// epilogue reads e as one of a MatrixProduct.
func epilogue(p *plan.Product, e expr.Expr) (bias *expr.Tensor, gelu, ok bool) {
	acc := &expr.Read{T: p.Acc}
	sums := []expr.Expr{acc}
	for _, t := range expr.Reads(e) {
		if r := (&expr.Read{T: t}); t != p.Acc && slices.Equal(t.Axes, p.N) && operand(r) != nil {
			sums = append(sums, op2(expr.Add, acc, r), op2(expr.Add, r, acc))
		}
	}
	key := expr.Key(e)
	for _, sum := range sums {
		bare := key == expr.Key(sum)
		if !bare && key != expr.Key(geluOf(sum)) {
			continue
		}
		for _, t := range expr.Reads(sum) {
			if t != p.Acc {
				bias = t
			}
		}
		return bias, !bare, true
	}
	return nil, false, false
}

// geluOf is GELU as the catalogue has it.
func geluOf(x expr.Expr) expr.Expr {
	cube := op2(expr.Mul, op2(expr.Mul, op2(expr.Mul, float(0.044715), x), x), x)
	inner := op2(expr.Mul, float(1.5957691216057308), op2(expr.Add, x, cube))
	middle := op2(expr.Mul, x, &expr.Call{Fn: expr.FnSigmoid, Args: []expr.Expr{inner}})
	low := &expr.Where{C: op2(expr.Lt, x, float(-20)), A: float(0), B: middle}
	return &expr.Where{C: op2(expr.Gt, x, float(20)), A: x, B: low}
}

func op2(op expr.BinaryOp, x, y expr.Expr) expr.Expr { return &expr.Binary{Op: op, X: x, Y: y} }

func float(v float64) expr.Expr { return &expr.Const{Node: expr.Node{K: expr.Float}, F: v} }
