//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// The sizes of what works on sequences: batch, length, width.
var sequences = [][]int{{8, 128, 256}, {32, 512, 1024}}

// The sizes of embeddings: ids, rows of the table, width.
var tables = [][]int{{1024, 4096, 256}, {32768, 32000, 512}}

// kernelWidth is the width of the window of im2col.
const kernelWidth = 3

func layoutForms[T float]() []form {
	return []form{
		inHalf(unary("copy", ops.CopyDeferred[T])),
		{name: "cast_to_bf16", sizes: matrix, build: castForm[T]},
		{name: "fill", sizes: matrix, build: func(_ *inputs, d []int) step {
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.FillDeferred[T](b, 1.5, d...)}
			}
		}},
		inHalf(unary("transpose", ops.TransposeDeferred[T])),
		{name: "concat", sizes: matrix, half: true, build: func(in *inputs, d []int) step {
			x := []runtime.Tensor[T]{values[T](in, d[0], d[1]/2), values[T](in, d[0], d[1]/2)}
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.ConcatDeferred(b, x)} }
		}},
		sized(unary("slice", func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.SliceDeferred(b, x, 3, int32(x.Dim(1)-8))
		}), sequences...),
		inHalf(sized(unary("pad", func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.PadDeferred(b, x, 3, 5, 0)
		}), sequences...)),
		{name: "add_broadcast_2d_3d", sizes: sequences, build: func(in *inputs, d []int) step {
			y, a := values[T](in, d...), values[T](in, d[0], d[2])
			return func(b *runtime.Batch) []runtime.Operand {
				return []runtime.Operand{ops.AddBroadcast2D3DDeferred(b, y, a)}
			}
		}},
		{name: "mask_zero", sizes: sequences, build: func(in *inputs, d []int) step {
			y, m := values[T](in, d...), in.mask(d[:2]...)
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.MaskZeroDeferred(b, y, m)} }
		}},
		sized(unary("im2col", func(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
			return ops.Im2ColDeferred(b, x, 1, 1, kernelWidth-1, 0, kernelWidth)
		}), sequences...),
		{name: "embedding", sizes: tables, half: true, build: func(in *inputs, d []int) step {
			ids, w := in.ids(d[1], d[0]), values[T](in, d[1], d[2])
			return func(b *runtime.Batch) []runtime.Operand { return []runtime.Operand{ops.EmbeddingDeferred(b, ids, w)} }
		}},
	}
}

func castForm[T float](in *inputs, d []int) step {
	x := values[T](in, d...)
	return func(b *runtime.Batch) []runtime.Operand {
		return []runtime.Operand{ops.CastDeferred[runtime.BFloat16](b, x)}
	}
}
