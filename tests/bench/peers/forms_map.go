//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type (
	unaryFunc[T float]  func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T]
	binaryFunc[T float] func(b *runtime.Batch, x, y runtime.Tensor[T]) runtime.Tensor[T]
)

// unary is an operation on a matrix.
func unary[T float](name string, f unaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x := values[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x)} }
	}}
}

// unaryPositive is an operation on a matrix of positive numbers.
func unaryPositive[T float](name string, f unaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x := positive[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x)} }
	}}
}

// binary is an operation on two equal matrices.
func binary[T float](name string, f binaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x, y := values[T](in, d...), positive[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x, y)} }
	}}
}

// byColumn is an operation on a matrix and a vector with an element for each
// column.
func byColumn[T float](name string, f binaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x, y := values[T](in, d...), values[T](in, d[1])
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x, y)} }
	}}
}

// withScalar is an operation that takes a scalar.
func withScalar[T float](f func(b *runtime.Batch, x runtime.Tensor[T], s float32) runtime.Tensor[T], s float32) unaryFunc[T] {
	return func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] { return f(b, x, s) }
}

// dropoutRate is what dropout drops, as in torch_ops.py and mlx_ops.py.
const dropoutRate = 0.1

func mapForms[T float]() []form {
	return []form{
		inHalf(binary("add", ops.AddDeferred[T])),
		binary("sub", ops.SubDeferred[T]),
		inHalf(binary("mul", ops.MulDeferred[T])),
		binary("div", ops.DivDeferred[T]),
		binary("maximum", ops.MaximumDeferred[T]),
		binary("minimum", ops.MinimumDeferred[T]),
		unary("scale", withScalar(ops.ScaleDeferred[T], 1.5)),
		unary("add_scalar", withScalar(ops.AddScalarDeferred[T], 1.5)),
		unary("neg", ops.NegDeferred[T]),
		unary("abs", ops.AbsDeferred[T]),
		inHalf(unary("exp", ops.ExpDeferred[T])),
		unaryPositive("log", ops.LogDeferred[T]),
		unaryPositive("sqrt", ops.SqrtDeferred[T]),
		unaryPositive("rsqrt", ops.RsqrtDeferred[T]),
		unary("square", ops.SquareDeferred[T]),
		unary("tanh", ops.TanhDeferred[T]),
		unary("sigmoid", ops.SigmoidDeferred[T]),
		inHalf(unary("silu", ops.SiLUDeferred[T])),
		unary("relu", ops.ReLUDeferred[T]),
		unary("erf", ops.ErfDeferred[T]),
		unaryPositive("pow", withScalar(ops.PowDeferred[T], 1.7)),
		unary("clamp", func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.ClampDeferred(b, x, -1, 1)
		}),
		inHalf(unary("gelu", ops.GELUDeferred[T])),
		unary("gelu_erf", ops.GELUErfDeferred[T]),
		inHalf(binary("swiglu", ops.SwiGLUDeferred[T])),
		binary("residual_add", ops.ResidualAddDeferred[T]),
		inHalf(byColumn("bias_add", ops.BiasAddDeferred[T])),
		inHalf(unary("dropout", func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.DropoutDeferred(b, x, dropoutRate, 7, 0)
		})),
	}
}
