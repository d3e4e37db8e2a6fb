package testops

import "github.com/kernelgen/kgen/runtime"

// The axes of Embedding: N..., V, D.
func embeddingAxes(freeV bool) []runtime.Axis {
	return []runtime.Axis{{Name: "N", Group: true}, {Name: "V", Free: freeV}, {Name: "D"}}
}

func embeddingBlock() []runtime.Field {
	return []runtime.Field{{Offset: 0, Size: []uint8{0}}, {Offset: 8, Size: []uint8{2}}, {Offset: 16, Size: []uint8{1}}}
}

var (
	ids   = runtime.Arg{Name: "ids", Shape: []runtime.Dim{{0}}}
	table = []runtime.Dim{{1}, {2}}
	rows  = []runtime.Dim{{0}, {2}}
)

// embeddingOp looks rows of a table up; an id that is not a row is a fault.
var embeddingOp = &runtime.Op{
	Name: "embedding", Hash: 11, CUDA: &Source, Metal: &Metal, Axes: embeddingAxes(false),
	Ins: []runtime.Arg{ids, {Name: "W", Shape: table}}, Outs: []runtime.Arg{{Name: "y", Shape: rows}},
	Variants: []runtime.Variant{{
		Ins: []runtime.DType{runtime.I32, runtime.F32}, Outs: types(1),
		Kernel: []runtime.Kernel{func() runtime.Kernel {
			k := overTiles("kt_embedding", embeddingBlock(), 24, read(0), read(1), write(2))
			k.Faults = true
			return k
		}()},
		Ref: func(c *runtime.RefCall) {
			ids, w, y := elements[int32](c, 0), elements[float32](c, 1), elements[float32](c, 2)
			d := int(c.Size[2])
			for i, id := range ids {
				if !inTable(c, i, id) {
					return
				}
				copy(y[i*d:(i+1)*d], w[int(id)*d:])
			}
		},
	}},
	Grad: &runtime.Grad{
		Op: embeddingGrad, Ins: []runtime.GradIn{{From: runtime.FromIn, Index: 0}, {From: runtime.FromCotangent}}, Outs: []uint8{1},
	},
}

func inTable(c *runtime.RefCall, i int, id int32) bool {
	if id < 0 || int64(id) >= c.Size[1] {
		c.Fault = runtime.Fault{Set: true, Pos: int64(i), Value: int64(id), Bound: c.Size[1]}
		return false
	}
	return true
}

var embeddingGrad = &runtime.Op{
	Name: "embedding_backward", Hash: 12, CUDA: &Source, Metal: &Metal, Axes: embeddingAxes(true), Accumulate: sum2,
	Ins: []runtime.Arg{ids, {Name: "d_y", Shape: rows}}, Outs: []runtime.Arg{{Name: "d_W", Shape: table}},
	Variants: []runtime.Variant{{
		Ins: []runtime.DType{runtime.I32, runtime.F32}, Outs: types(1),
		Kernel: []runtime.Kernel{{
			Symbol: "kt_embedding_grad", C: kernel("kt_embedding_grad"), Buffers: []runtime.Buffer{read(0), read(1), write(2)},
			Block: embeddingBlock(), BlockBytes: 24, Faults: true,
			CPU: runtime.CPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{1}, Tile: 1}}, Cost: []uint8{0}, CostPer: 1000},
			GPU: blocks(1, 1),
		}},
		Ref: func(c *runtime.RefCall) {
			ids, dy, dw := elements[int32](c, 0), elements[float32](c, 1), elements[float32](c, 2)
			d := int(c.Size[2])
			clear(dw)
			for i, id := range ids {
				if !inTable(c, i, id) {
					return
				}
				for j := range d {
					dw[int(id)*d+j] += dy[i*d+j]
				}
			}
		},
	}},
}
