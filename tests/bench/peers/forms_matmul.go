//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// The sizes of matrix products: M, N, K.
var (
	products = [][]int{{1, 4096, 1024}, {8, 4096, 1024}, {32, 1024, 1024}, {128, 128, 128}, {256, 1024, 1024}, {1000, 1000, 1000}, {2048, 1024, 1024}}
	layers   = [][]int{{256, 1024, 1024}, {512, 4096, 1024}}
)

// rank is the rank of the update of lora.
const rank = 16

// product is a product of A[M, K] with B[K, N], or B[N, K] where transposed, and
// a bias where the function takes one.
func product[T float](name string, sizes [][]int, transposed bool, f func(b *runtime.Batch, x, w, bias runtime.Tensor[T]) runtime.Tensor[T]) form {
	return form{name: name, sizes: sizes, half: true, build: func(in *inputs, d []int) step {
		m, n, k := d[0], d[1], d[2]
		x := values[T](in, m, k)
		w := values[T](in, k, n)
		if transposed {
			w = values[T](in, n, k)
		}
		bias := values[T](in, n)
		return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{f(b, x, w, bias)} }
	}}
}

func withoutBias[T float](f binaryFunc[T]) func(b *runtime.Batch, x, w, bias runtime.Tensor[T]) runtime.Tensor[T] {
	return func(b *runtime.Batch, x, w, _ runtime.Tensor[T]) runtime.Tensor[T] { return f(b, x, w) }
}

func matmulForms[T float]() []form {
	return []form{
		product("matmul_nn", products, false, withoutBias(ops.MatMulNNDeferred[T])),
		product("matmul_nt", products, true, withoutBias(ops.MatMulNTDeferred[T])),
		{name: "matmul_tn", sizes: layers, build: func(in *inputs, d []int) step {
			x, w := values[T](in, d[2], d[0]), values[T](in, d[2], d[1])
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.MatMulTNDeferred(b, x, w)} }
		}},
		product("matmul_bias", layers, false, ops.MatMulBiasNNDeferred[T]),
		product("linear", layers, true, ops.LinearDeferred[T]),
		product("matmul_bias_gelu", layers, false, ops.MatMulBiasGELUNNDeferred[T]),
		product("gelu_matmul_bias", layers, false, ops.GELUMatMulBiasNDeferred[T]),
		{name: "lora", sizes: layers, build: func(in *inputs, d []int) step {
			m, n, k := d[0], d[1], d[2]
			x, w := values[T](in, m, k), values[T](in, k, n)
			down, up := values[T](in, k, rank), values[T](in, rank, n)
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.LoRADeferred(b, x, w, down, up, rank/2)}
			}
		}},
	}
}
