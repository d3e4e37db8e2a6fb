package testops

import (
	_ "embed" // kernels.cu, kernels.metal
	"unsafe"

	"github.com/kernelgen/kgen/runtime"
)

const tile = 1024

// Source is the CUDA C++ of the operations that are also for a card: all but those
// about instruction sets and guard bytes, which it does not have.
//
//go:embed kernels.cu
var Source string

// Metal is the same in the Metal Shading Language.
//
//go:embed kernels.metal
var Metal string

// blocks is the launch on a card of a kernel with a block for each tile of an axis.
func blocks(axis uint8, tile int64) runtime.GPULaunch {
	return runtime.GPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{axis}, Tile: tile}}, Threads: 128}
}

// elements returns buffer i of a reference call.
func elements[T any](c *runtime.RefCall, i int) []T {
	return unsafe.Slice((*T)(c.Buf[i]), c.Len[i])
}

func types(n int) []runtime.DType {
	t := make([]runtime.DType, n)
	for i := range t {
		t[i] = runtime.F32
	}
	return t
}

// group is the shape "P...", of axis 0.
func group(name string) runtime.Arg {
	return runtime.Arg{Name: name, Shape: []runtime.Dim{{0}}}
}

func groupAxis() []runtime.Axis { return []runtime.Axis{{Name: "P", Group: true}} }

func lr(name string) []runtime.Param { return []runtime.Param{{Name: name, Type: runtime.ParamF32}} }

// overTiles is a kernel whose items are tiles of the axes.
func overTiles(symbol string, block []runtime.Field, bytes int, bufs ...runtime.Buffer) runtime.Kernel {
	return runtime.Kernel{
		Symbol: symbol, Buffers: bufs, Block: block, BlockBytes: bytes, C: kernel(symbol),
		CPU: runtime.CPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{0}, Tile: tile}}, CostPer: 250 * tile},
		GPU: blocks(0, tile),
	}
}

func read(i uint8) runtime.Buffer  { return runtime.Buffer{Tensor: i} }
func write(i uint8) runtime.Buffer { return runtime.Buffer{Tensor: i, Write: true} }

// over writes a tensor that may be in the memory of the inputs in some slots.
func over(i uint8, slots ...uint8) runtime.Buffer {
	return runtime.Buffer{Tensor: i, Write: true, InPlace: slots}
}

func sizeBlock() []runtime.Field { return []runtime.Field{{Offset: 0, Size: []uint8{0}}} }

func scalarBlock() []runtime.Field {
	return []runtime.Field{{Offset: 0, Size: []uint8{0}}, {Offset: 8, Param: 0}}
}

// addOp is y = a + b; its gradient has a kernel for each output.
var addOp = &runtime.Op{
	Name: "add", Hash: 1, CUDA: &Source, Metal: &Metal, Axes: groupAxis(),
	Ins: []runtime.Arg{group("a"), group("b")}, Outs: []runtime.Arg{group("y")},
	Variants: []runtime.Variant{{
		Ins: types(2), Outs: types(1),
		Kernel: []runtime.Kernel{overTiles("kt_add", sizeBlock(), 8, read(0), read(1), over(2, 0, 1))},
		Ref: func(c *runtime.RefCall) {
			a, b, y := elements[float32](c, 0), elements[float32](c, 1), elements[float32](c, 2)
			for i := range y {
				y[i] = a[i] + b[i]
			}
		},
	}},
	Grad: &runtime.Grad{
		Op: addGrad, Ins: []runtime.GradIn{{From: runtime.FromCotangent}}, Outs: []uint8{0, 1},
	},
}

var addGrad = &runtime.Op{
	Name: "add_grad", Hash: 2, CUDA: &Source, Metal: &Metal, Axes: groupAxis(),
	Ins: []runtime.Arg{group("d_y")}, Outs: []runtime.Arg{group("d_a"), group("d_b")},
	Variants: []runtime.Variant{{
		Ins: types(1), Outs: types(2),
		Kernel: []runtime.Kernel{
			overTiles("kt_copy", sizeBlock(), 8, read(0), write(1)),
			overTiles("kt_copy", sizeBlock(), 8, read(0), write(2)),
		},
		Ref: func(c *runtime.RefCall) {
			copy(elements[float32](c, 1), elements[float32](c, 0))
			copy(elements[float32](c, 2), elements[float32](c, 0))
		},
	}},
}

// sum2 is add as it comes with gradients: an op of its own, since an op cannot
// refer to itself in its own initialiser.
var sum2 = &runtime.Op{
	Name: "add", Hash: 1, CUDA: &Source, Metal: &Metal, Axes: groupAxis(),
	Ins: []runtime.Arg{group("a"), group("b")}, Outs: []runtime.Arg{group("y")},
	Variants: []runtime.Variant{{
		Ins: types(2), Outs: types(1),
		Kernel: []runtime.Kernel{overTiles("kt_add", sizeBlock(), 8, read(0), read(1), over(2, 0, 1))},
		Ref: func(c *runtime.RefCall) {
			a, b, y := elements[float32](c, 0), elements[float32](c, 1), elements[float32](c, 2)
			for i := range y {
				y[i] = a[i] + b[i]
			}
		},
	}},
}

// mulOp is y = a * b.
var mulOp = &runtime.Op{
	Name: "mul", Hash: 3, CUDA: &Source, Metal: &Metal, Axes: groupAxis(),
	Ins: []runtime.Arg{group("a"), group("b")}, Outs: []runtime.Arg{group("y")},
	Variants: []runtime.Variant{{
		Ins: types(2), Outs: types(1),
		Kernel: []runtime.Kernel{overTiles("kt_mul", sizeBlock(), 8, read(0), read(1), over(2, 0, 1))},
		Ref: func(c *runtime.RefCall) {
			a, b, y := elements[float32](c, 0), elements[float32](c, 1), elements[float32](c, 2)
			for i := range y {
				y[i] = a[i] * b[i]
			}
		},
	}},
	Grad: &runtime.Grad{
		Op:   mulGrad,
		Ins:  []runtime.GradIn{{From: runtime.FromIn, Index: 0}, {From: runtime.FromIn, Index: 1}, {From: runtime.FromCotangent}},
		Outs: []uint8{0, 1},
	},
}

var mulGrad = &runtime.Op{
	Name: "mul_grad", Hash: 4, CUDA: &Source, Metal: &Metal, Axes: groupAxis(), Accumulate: sum2,
	Ins: []runtime.Arg{group("a"), group("b"), group("d_y")}, Outs: []runtime.Arg{group("d_a"), group("d_b")},
	Variants: []runtime.Variant{{
		Ins: types(3), Outs: types(2),
		Kernel: []runtime.Kernel{
			overTiles("kt_mul", sizeBlock(), 8, read(1), read(2), over(3, 0, 1)),
			overTiles("kt_mul", sizeBlock(), 8, read(0), read(2), over(4, 0, 1)),
		},
		Ref: func(c *runtime.RefCall) {
			a, b, dy := elements[float32](c, 0), elements[float32](c, 1), elements[float32](c, 2)
			da, db := elements[float32](c, 3), elements[float32](c, 4)
			for i := range dy {
				da[i], db[i] = b[i]*dy[i], a[i]*dy[i]
			}
		},
	}},
}

func scale(name string, hash uint64, in, out string, g *runtime.Grad) *runtime.Op {
	return &runtime.Op{
		Name: name, Hash: hash, CUDA: &Source, Metal: &Metal, Axes: groupAxis(), Grad: g, Params: lr("s"),
		Ins: []runtime.Arg{group(in)}, Outs: []runtime.Arg{group(out)},
		Variants: []runtime.Variant{{
			Ins: types(1), Outs: types(1),
			Kernel: []runtime.Kernel{overTiles("kt_scale", scalarBlock(), 16, read(0), over(1, 0))},
			Ref: func(c *runtime.RefCall) {
				x, y := elements[float32](c, 0), elements[float32](c, 1)
				for i := range y {
					y[i] = x[i] * c.Param[0].F32()
				}
			},
		}},
	}
}

// scaleOp is y = s * x.
var scaleOp = scale("scale", 5, "x", "y", &runtime.Grad{
	Op: scale("scale_grad", 6, "d_y", "d_x", nil), Ins: []runtime.GradIn{{From: runtime.FromCotangent}}, Params: []uint8{0}, Outs: []uint8{0},
})

// copyOp is scaleOp by 1, and known to be its operand.
var copyOp = func() *runtime.Op {
	op := scale("copy", 15, "x", "y", nil)
	op.Variants[0].Reshape = 1
	return op
}()

// fillOp makes a tensor of one value, whose shape the caller gives.
var fillOp = &runtime.Op{
	Name: "fill", Hash: 7, CUDA: &Source, Metal: &Metal, Axes: []runtime.Axis{{Name: "P", Group: true, Free: true}}, Params: lr("value"),
	Outs: []runtime.Arg{group("y")},
	Variants: []runtime.Variant{{
		Outs:   types(1),
		Kernel: []runtime.Kernel{overTiles("kt_fill", scalarBlock(), 16, write(0))},
		Ref: func(c *runtime.RefCall) {
			y := elements[float32](c, 0)
			for i := range y {
				y[i] = c.Param[0].F32()
			}
		},
	}},
}

// sgdOp is w -= lr * g, in place.
var sgdOp = &runtime.Op{
	Name: "sgd", Hash: 8, CUDA: &Source, Metal: &Metal, Axes: groupAxis(), Params: lr("lr"),
	Ins: []runtime.Arg{{Name: "w", Shape: []runtime.Dim{{0}}, InOut: true}, group("g")},
	Variants: []runtime.Variant{{
		Ins: types(2),
		Kernel: []runtime.Kernel{func() runtime.Kernel {
			k := overTiles("kt_sgd", scalarBlock(), 16, write(0), read(1))
			k.Guarded = true
			return k
		}()},
		Ref: func(c *runtime.RefCall) {
			w, g := elements[float32](c, 0), elements[float32](c, 1)
			for i := range w {
				w[i] -= c.Param[0].F32() * g[i]
			}
		},
	}},
}

// sumOp is the sum of all elements, in two kernels with a workspace of one number
// for each tile.
var sumOp = &runtime.Op{
	Name: "sum", Hash: 9, CUDA: &Source, Metal: &Metal, Axes: []runtime.Axis{{Name: "P", Group: true}, {Name: "C", ChunkOf: []uint8{0}, Chunk: tile}},
	Ins: []runtime.Arg{group("x")}, Outs: []runtime.Arg{{Name: "y"}},
	Variants: []runtime.Variant{{
		Ins: types(1), Outs: types(1), Temps: []runtime.Temp{{Type: runtime.F32, Axes: []uint8{1}}},
		Kernel: []runtime.Kernel{func() runtime.Kernel {
			k := overTiles("kt_partial_sum", sizeBlock(), 8, read(0), write(2))
			k.CPU.Scratch = 64
			return k
		}(), {
			Symbol: "kt_final_sum", C: kernel("kt_final_sum"), Buffers: []runtime.Buffer{read(2), write(1)},
			Block: []runtime.Field{{Offset: 0, Size: []uint8{1}}}, BlockBytes: 8,
			CPU: runtime.CPULaunch{Cost: []uint8{1}, CostPer: 250}, GPU: runtime.GPULaunch{Threads: 32},
		}},
		Ref: func(c *runtime.RefCall) {
			sum := 0.0
			for _, x := range elements[float32](c, 0) {
				sum += float64(x)
			}
			elements[float32](c, 1)[0] = float32(sum)
		},
	}},
	Grad: &runtime.Grad{Op: sumGrad, Ins: []runtime.GradIn{{From: runtime.FromCotangent}}, Outs: []uint8{0}},
}

var sumGrad = &runtime.Op{
	Name: "sum_grad", Hash: 10, CUDA: &Source, Metal: &Metal, Axes: []runtime.Axis{{Name: "P", Group: true, Free: true}},
	Ins: []runtime.Arg{{Name: "d_y"}}, Outs: []runtime.Arg{group("d_x")},
	Variants: []runtime.Variant{{
		Ins: types(1), Outs: types(1),
		Kernel: []runtime.Kernel{overTiles("kt_spread", sizeBlock(), 8, read(0), write(1))},
		Ref: func(c *runtime.RefCall) {
			x := elements[float32](c, 1)
			for i := range x {
				x[i] = elements[float32](c, 0)[0]
			}
		},
	}},
}

// isaOp gives the number of the instruction set that kernels run with.
var isaOp = &runtime.Op{
	Name: "isa", Hash: 13, Outs: []runtime.Arg{{Name: "y"}},
	Variants: []runtime.Variant{{
		Outs:   []runtime.DType{runtime.I32},
		Kernel: []runtime.Kernel{{Symbol: "kt_where", C: kernel("kt_where"), Buffers: []runtime.Buffer{write(0)}}},
		Ref:    func(c *runtime.RefCall) { elements[int32](c, 0)[0] = -1 },
	}},
}

// overrunOp writes one element more than its output has.
var overrunOp = &runtime.Op{
	Name: "overrun", Hash: 14, Axes: groupAxis(),
	Ins: []runtime.Arg{group("x")}, Outs: []runtime.Arg{group("y")},
	Variants: []runtime.Variant{{
		Ins: types(1), Outs: types(1),
		Kernel: []runtime.Kernel{overTiles("kt_overrun", sizeBlock(), 8, read(0), write(1))},
		Ref: func(c *runtime.RefCall) {
			copy(unsafe.Slice((*float32)(c.Buf[1]), c.Len[1]+1), append(elements[float32](c, 0), 7))
		},
	}},
}
