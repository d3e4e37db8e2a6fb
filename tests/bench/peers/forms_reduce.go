//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// full is a reduction of a matrix to a scalar.
func full[T float, R runtime.Element](name string, f func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[R]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x := positive[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x)} }
	}}
}

func reduceForms[T float]() []form {
	return []form{
		inHalf(full("sum", ops.SumDeferred[T])),
		full("mean", ops.MeanDeferred[T]),
		full("max", ops.MaxDeferred[T]),
		full("sum_sq", ops.SumSqDeferred[T]),
		full("count_nonfinite", ops.CountNonfiniteDeferred[T]),
		{name: "dot", sizes: matrix, build: func(in *inputs, d []int) step {
			x, y := positive[T](in, d...), positive[T](in, d...)
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.DotDeferred(b, x, y)} }
		}},
		inHalf(unary("bias_grad", ops.BiasGradDeferred[T])),
		{name: "masked_mean", sizes: sequences, half: true, build: func(in *inputs, d []int) step {
			x, mask := values[T](in, d...), in.mask(d[:2]...)
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.MaskedMeanDeferred(b, x, mask)}
			}
		}},
	}
}
