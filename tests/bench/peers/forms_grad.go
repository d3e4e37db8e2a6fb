//go:build cgo

package peers

import (
	"errors"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type ternaryFunc[T float] func(b *runtime.Batch, x, y, z runtime.Tensor[T]) (dx, dy runtime.Tensor[T])

// unaryGrad is the gradient of an operation on a matrix, from its argument and
// its cotangent.
func unaryGrad[T float](name string, f binaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x, dy := values[T](in, d...), values[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x, dy)} }
	}}
}

// savedGrad is unaryGrad for a gradient that reads the result of the operation.
func savedGrad[T float](name string, forward unaryFunc[T], f binaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x, dy := values[T](in, d...), values[T](in, d...)
		y := result(in, func(b *runtime.Batch) runtime.Tensor[T] { return forward(b, x) })
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, y, dy)} }
	}}
}

// binaryGrad is the gradient of an operation on two equal matrices.
func binaryGrad[T float](name string, f ternaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		x, y, dy := values[T](in, d...), positive[T](in, d...), values[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand {
			dx, dy := f(b, x, y, dy)
			return []runtime.Operand{dx, dy}
		}
	}}
}

// constantGrad is the gradient of an operation on a matrix that depends on the
// cotangent alone.
func constantGrad[T float](name string, f unaryFunc[T]) form {
	return form{name: name, sizes: matrix, build: func(in *inputs, d []int) step {
		values[T](in, d...) // the argument, which the gradient does not read
		dy := values[T](in, d...)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, dy)} }
	}}
}

func gradForms[T float]() []form {
	return []form{
		inHalf(unaryGrad("gelu_grad", ops.GELUGradDeferred[T])),
		unaryGrad("gelu_erf_grad", ops.GELUErfGradDeferred[T]),
		unaryGrad("silu_grad", ops.SiLUGradDeferred[T]),
		unaryGrad("relu_grad", ops.ReLUGradDeferred[T]),
		unaryGrad("tanh_grad", ops.TanhGradDeferred[T]),
		unaryGrad("sigmoid_grad", ops.SigmoidGradDeferred[T]),
		binaryGrad("mul_grad", ops.MulGradDeferred[T]),
		binaryGrad("swiglu_grad", ops.SwiGLUGradDeferred[T]),
		constantGrad("scale_grad", func(b *runtime.Batch, dy runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.ScaleGradDeferred(b, dy, 1.5)
		}),
		inHalf(savedGrad("softmax_grad", ops.SoftmaxDeferred[T], ops.SoftmaxGradDeferred[T])),
		{name: "log_softmax_grad", sizes: matrix, build: func(in *inputs, d []int) step {
			x, dy := values[T](in, d...), values[T](in, d...)
			top := result(in, func(b *runtime.Batch) runtime.Tensor[float32] { // any number near the logits serves
				return ops.FillDeferred[float32](b, 0, d[0])
			})
			total := result(in, func(b *runtime.Batch) runtime.Tensor[float32] {
				return ops.RowSumDeferred(b, ops.ExpDeferred(b, ops.CastDeferred[float32](b, x)))
			})
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.LogSoftmaxGradDeferred(b, x, top, total, dy)}
			}
		}},
		{name: "layernorm_grad", sizes: matrix, half: true, build: layerNormGrad[T]},
		{name: "rmsnorm_grad", sizes: matrix, half: true, build: rmsNormGrad[T]},
		{name: "cross_entropy_grad", sizes: classes, half: true, build: crossEntropyGrad[T]},
		{name: "masked_mean_grad", sizes: sequences, build: func(in *inputs, d []int) step {
			values[T](in, d...) // the argument, which the gradient does not read
			mask, dy := in.mask(d[:2]...), values[T](in, d[0], d[2])
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.MaskedMeanGradDeferred(b, mask, dy)}
			}
		}},
		{name: "embedding_backward", sizes: tables, half: true, build: func(in *inputs, d []int) step {
			ids, w, dy := in.ids(d[1], d[0]), values[T](in, d[1], d[2]), values[T](in, d[0], d[2])
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.EmbeddingBackwardDeferred(b, ids, w, dy)}
			}
		}},
		{name: "col2im", sizes: sequences, build: func(in *inputs, d []int) step {
			x, dy := values[T](in, d...), values[T](in, d[0], d[1], d[2]*kernelWidth)
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.Col2ImDeferred(b, x, dy, 1, 1, kernelWidth-1, 0, kernelWidth)}
			}
		}},
		{name: "matmul_grad", sizes: layers, half: true, build: func(in *inputs, d []int) step {
			m, n, k := d[0], d[1], d[2]
			x, w, dy := values[T](in, m, k), values[T](in, k, n), values[T](in, m, n)
			return func(b *runtime.Batch) []runtime.Operand {
				dx, dw := ops.MatMulGradNNDeferred(b, x, w, dy)
				return []runtime.Operand{dx, dw}
			}
		}},
		{name: "linear_grad", sizes: layers, build: func(in *inputs, d []int) step {
			m, n, k := d[0], d[1], d[2]
			x, w := values[T](in, m, k), values[T](in, n, k)
			values[T](in, n) // the bias, which the gradient does not read
			dy := values[T](in, m, n)
			return func(b *runtime.Batch) []runtime.Operand {
				dx, dw, db := ops.LinearGradDeferred(b, x, w, dy)
				return []runtime.Operand{dx, dw, db}
			}
		}},
		{name: "matmul_bias_gelu_grad", sizes: layers, build: func(in *inputs, d []int) step {
			m, n, k := d[0], d[1], d[2]
			x, w, bias, dy := values[T](in, m, k), values[T](in, k, n), values[T](in, n), values[T](in, m, n)
			pre := result(in, func(b *runtime.Batch) runtime.Tensor[float32] {
				return ops.CastDeferred[float32](b, ops.MatMulBiasNNDeferred(b, x, w, bias))
			})
			return func(b *runtime.Batch) []runtime.Operand {
				dx, dw, db := ops.MatMulBiasGELUGradNNDeferred(b, x, w, pre, dy)
				return []runtime.Operand{dx, dw, db}
			}
		}},
	}
}

func layerNormGrad[T float](in *inputs, d []int) step {
	x, gamma, beta, dy := values[T](in, d...), values[T](in, d[1]), values[T](in, d[1]), values[T](in, d...)
	rest := meanFromFirst(in, x)
	rstd := result(in, func(b *runtime.Batch) runtime.Tensor[float32] {
		_, _, rstd := ops.LayerNormDeferred(b, x, gamma, beta, ops.LayerNormEps)
		return rstd
	})
	return func(b *runtime.Batch) []runtime.Operand {
		dx, dgamma, dbeta := ops.LayerNormGradDeferred(b, x, gamma, rstd, rest, dy)
		return []runtime.Operand{dx, dgamma, dbeta}
	}
}

// meanFromFirst is what a layer normalisation of x keeps for its gradient: the distance of
// each row's mean from the row's first element.
func meanFromFirst[T float](in *inputs, x runtime.Tensor[T]) runtime.Tensor[float32] {
	column, err := x.View(0, x.Dim(0), x.Dim(1), 1)
	in.err = errors.Join(in.err, err)
	return result(in, func(b *runtime.Batch) runtime.Tensor[float32] {
		first := ops.CastDeferred[float32](b, ops.SliceDeferred(b, column, 0, 1))
		mean := ops.RowMeanDeferred(b, ops.CastDeferred[float32](b, x))
		return ops.SubDeferred(b, mean, ops.RowMeanDeferred(b, ops.RowMeanDeferred(b, first)))
	})
}

func rmsNormGrad[T float](in *inputs, d []int) step {
	x, gamma, dy := values[T](in, d...), values[T](in, d[1]), values[T](in, d...)
	rstd := result(in, func(b *runtime.Batch) runtime.Tensor[float32] {
		_, rstd := ops.RMSNormDeferred(b, x, gamma, ops.RMSNormEps)
		return rstd
	})
	return func(b *runtime.Batch) []runtime.Operand {
		dx, dgamma := ops.RMSNormGradDeferred(b, x, gamma, rstd, dy)
		return []runtime.Operand{dx, dgamma}
	}
}

func crossEntropyGrad[T float](in *inputs, d []int) step {
	x, target, dloss := values[T](in, d...), in.ids(d[1], d[0]), values[float32](in, d[0])
	lse := result(in, func(b *runtime.Batch) runtime.Tensor[float32] {
		_, lse := ops.CrossEntropyDeferred(b, x, target, ops.CrossEntropyIgnoreIndex, 0)
		return lse
	})
	return func(b *runtime.Batch) []runtime.Operand {
		return []runtime.Operand{ops.CrossEntropyGradDeferred(b, x, target, lse, dloss, ops.CrossEntropyIgnoreIndex, 0)}
	}
}
