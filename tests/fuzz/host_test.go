//go:build proof

package fuzz

import (
	"encoding/binary"
	"slices"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// setup is a call laid out for a device: memory, and what each kernel of the
// op's one variant gets.
type setup struct {
	op      *bind.Op
	variant *bind.Variant
	params  []uint64 // bits
	extent  []int64  // of the op's axes
	tensors [][]byte // inputs, outputs, workspaces
	writes  []bool   // by tensor: whether any kernel writes it
}

// faultBytes is the size of the fault word: lock, set, op and tensor as int32,
// then position, value and bound as int64.
const faultBytes = 40

func newSetup(op *bind.Op, call oracle.Call, sizes *oracle.Sizes) *setup {
	v := &op.Variants[0]
	s := &setup{op: op, variant: v, params: oracle.Bits(v.Program.Params, call.Params), extent: slices.Clone(sizes.Extent)}
	for _, a := range op.Axes[len(s.extent):] {
		s.extent = append(s.extent, ceilDiv(bind.Product(s.extent, a.ChunkOf), a.Chunk))
	}
	for i, t := range v.Program.Ins {
		s.tensors = append(s.tensors, oracle.Encode(t.Type, call.Ins[i].Data))
	}
	for _, t := range v.Program.Outs {
		n := 1
		for _, d := range sizes.Shape(t) {
			n *= d
		}
		s.tensors = append(s.tensors, unset(t.Type, n))
	}
	for _, t := range v.Temps {
		s.tensors = append(s.tensors, unset(t.Type, int(bind.Product(s.extent, t.Axes))))
	}
	s.writes = make([]bool, len(s.tensors))
	for _, k := range v.Kernels {
		for _, b := range k.Buffers {
			s.writes[b.Tensor] = s.writes[b.Tensor] || b.Write
		}
	}
	return s
}

// unset is memory that nothing has written to: NaN as floats, -1 as integers.
func unset(t expr.DType, n int) []byte { return slices.Repeat([]byte{0xFF}, n*t.Bytes()) }

func ceilDiv(n, by int64) int64 { return (n + by - 1) / by }

// tiles is the number of tiles along a dimension of a grid.
func (s *setup) tiles(d bind.GridDim) int64 { return ceilDiv(bind.Product(s.extent, d.Axes), d.Tile) }

// items is the number of work items that k has on the CPU.
func (s *setup) items(k *bind.Kernel) int64 {
	n := int64(1)
	for _, d := range k.CPU.Grid {
		n *= s.tiles(d)
	}
	return n
}

// outcome is what a device left.
type outcome struct {
	tensors [][]byte
	fault   fault
	broken  string // what the run itself did wrong, if anything
}

// values are the results of p: outputs, then inouts.
func (o *outcome) values(p *expr.Program) [][]float64 {
	var list [][]float64
	for i, t := range p.Outs {
		list = append(list, oracle.Decode(t.Type, o.tensors[len(p.Ins)+i]))
	}
	for i, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, oracle.Decode(t.Type, o.tensors[i]))
		}
	}
	return list
}

// fault is a fault word as the host reads it.
type fault struct {
	set               bool
	tensor            int32
	pos, value, bound int64
}

func readFault(b []byte) fault {
	i32 := func(at int) int32 { return int32(binary.LittleEndian.Uint32(b[at:])) }
	i64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }
	return fault{i32(4) != 0, i32(12), i64(16), i64(24), i64(32)}
}
