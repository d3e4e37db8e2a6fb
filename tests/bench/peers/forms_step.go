//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// stepForms are operations together with their gradients.
func stepForms[T float]() []form {
	return []form{
		inHalf(withGradient("gelu and gradient", ops.GELUDeferred[T], func(b *runtime.Batch, x, _, dy runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.GELUGradDeferred(b, x, dy)
		})),
		withGradient("tanh and gradient", ops.TanhDeferred[T], func(b *runtime.Batch, x, _, dy runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.TanhGradDeferred(b, x, dy)
		}),
		inHalf(withGradient("softmax and gradient", ops.SoftmaxDeferred[T], func(b *runtime.Batch, _, y, dy runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.SoftmaxGradDeferred(b, y, dy)
		})),
		{name: "swiglu and gradient", sizes: matrix, build: func(in *inputs, d []int) step {
			x, y, dz := values[T](in, d...), positive[T](in, d...), values[T](in, d...)
			return func(b *runtime.Batch) []runtime.Operand {
				z := ops.SwiGLUDeferred(b, x, y)
				dx, dy := ops.SwiGLUGradDeferred(b, x, y, dz)
				return []runtime.Operand{z, dx, dy}
			}
		}},
		{name: "layernorm and gradient", sizes: matrix, half: true, build: func(in *inputs, d []int) step {
			x, gamma, beta, dy := values[T](in, d...), values[T](in, d[1]), values[T](in, d[1]), values[T](in, d...)
			rest := meanFromFirst(in, x)
			return func(b *runtime.Batch) []runtime.Operand {
				y, _, rstd := ops.LayerNormDeferred(b, x, gamma, beta, ops.LayerNormEps)
				dx, dgamma, dbeta := ops.LayerNormGradDeferred(b, x, gamma, rstd, rest, dy)
				return []runtime.Operand{y, dx, dgamma, dbeta}
			}
		}},
		{name: "rmsnorm and gradient", sizes: matrix, build: func(in *inputs, d []int) step {
			x, gamma, dy := values[T](in, d...), values[T](in, d[1]), values[T](in, d...)
			return func(b *runtime.Batch) []runtime.Operand {
				y, rstd := ops.RMSNormDeferred(b, x, gamma, ops.RMSNormEps)
				dx, dgamma := ops.RMSNormGradDeferred(b, x, gamma, rstd, dy)
				return []runtime.Operand{y, dx, dgamma}
			}
		}},
		{name: "cross_entropy and gradient", sizes: classes, build: func(in *inputs, d []int) step {
			x, target, dloss := values[T](in, d...), in.ids(d[1], d[0]), values[float32](in, d[0])
			return func(b *runtime.Batch) []runtime.Operand {
				loss, lse := ops.CrossEntropyDeferred(b, x, target, ops.CrossEntropyIgnoreIndex, 0)
				dx := ops.CrossEntropyGradDeferred(b, x, target, lse, dloss, ops.CrossEntropyIgnoreIndex, 0)
				return []runtime.Operand{loss, dx}
			}
		}},
		{name: "linear and gradient", sizes: layers, half: true, build: func(in *inputs, d []int) step {
			m, n, k := d[0], d[1], d[2]
			x, w, bias, dy := values[T](in, m, k), values[T](in, n, k), values[T](in, n), values[T](in, m, n)
			return func(b *runtime.Batch) []runtime.Operand {
				y := ops.LinearDeferred(b, x, w, bias)
				dx, dw, db := ops.LinearGradDeferred(b, x, w, dy)
				return []runtime.Operand{y, dx, dw, db}
			}
		}},
	}
}

// withGradient is an operation on a matrix and its gradient, which is given
// argument, result and cotangent.
func withGradient[T float](name string, forward unaryFunc[T], backward func(b *runtime.Batch, x, y, dy runtime.Tensor[T]) runtime.Tensor[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x, dy := values[T](in, d...), values[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand {
			y := forward(b, x)
			return []runtime.Operand{y, backward(b, x, y, dy)}
		}
	}}
}
