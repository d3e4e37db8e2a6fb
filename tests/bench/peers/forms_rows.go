//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// The sizes of losses over classes: rows, classes.
var classes = [][]int{{256, 1024}, {512, 32000}}

func rowForms[T float]() []form {
	return []form{
		inHalf(unary("softmax", ops.SoftmaxDeferred[T])),
		inHalf(unary("log_softmax", ops.LogSoftmaxDeferred[T])),
		{name: "layernorm", sizes: matrix, half: true, build: func(in *inputs, d []int) step {
			x, gamma, beta := values[T](in, d...), values[T](in, d[1]), values[T](in, d[1])
			return func(b *runtime.Batch) []runtime.Operand {
				y, _, _ := ops.LayerNormDeferred(b, x, gamma, beta, ops.LayerNormEps)
				return []runtime.Operand{y}
			}
		}},
		{name: "rmsnorm", sizes: matrix, half: true, build: func(in *inputs, d []int) step {
			x, gamma := values[T](in, d...), values[T](in, d[1])
			return func(b *runtime.Batch) []runtime.Operand {
				y, _ := ops.RMSNormDeferred(b, x, gamma, ops.RMSNormEps)
				return []runtime.Operand{y}
			}
		}},
		unary("l2_normalize", withScalar(ops.L2NormalizeDeferred[T], 1e-12)),
		inHalf(unary("row_sum", ops.RowSumDeferred[T])),
		unary("row_mean", ops.RowMeanDeferred[T]),
		unary("row_max", ops.RowMaxDeferred[T]),
		{name: "argmax", sizes: matrix, build: func(in *inputs, d []int) step {
			x := values[T](in, d...)
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.ArgmaxDeferred(b, x)} }
		}},
		binary("cosine_similarity", ops.CosineSimilarityDeferred[T]),
		{name: "cross_entropy", sizes: classes, half: true, build: func(in *inputs, d []int) step {
			x, target := values[T](in, d...), in.ids(d[1], d[0])
			return func(b *runtime.Batch) []runtime.Operand {
				loss, _ := ops.CrossEntropyDeferred(b, x, target, ops.CrossEntropyIgnoreIndex, 0)
				return []runtime.Operand{loss}
			}
		}},
		{name: "kl_distill", sizes: matrix, build: func(in *inputs, d []int) step {
			s, t := values[T](in, d...), values[T](in, d...)
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.KLDistillDeferred(b, s, t, 2)} }
		}},
		{name: "kd_loss", sizes: matrix, build: func(in *inputs, d []int) step {
			s, t := values[T](in, d...), values[T](in, d...)
			return func(b *runtime.Batch) []runtime.Operand {
				_, _, loss := ops.KDLossDeferred(b, s, t, 0.5, 0.25)
				return []runtime.Operand{loss}
			}
		}},
	}
}
