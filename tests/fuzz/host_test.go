//go:build proof

package fuzz

import (
	"encoding/binary"
	"math"
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
	params  []oracle.Value
	extent  []int64  // of the op's axes
	tensors [][]byte // inputs, outputs, workspaces
	writes  []bool   // by tensor: whether any kernel writes it
}

// faultBytes is the size of the fault word: lock, set, op and tensor as int32,
// then position, value and bound as int64.
const faultBytes = 40

func newSetup(op *bind.Op, call oracle.Call, sizes *oracle.Sizes) *setup {
	v := &op.Variants[0]
	s := &setup{op: op, variant: v, params: call.Params, extent: slices.Clone(sizes.Extent)}
	for _, a := range op.Axes[len(s.extent):] {
		s.extent = append(s.extent, ceilDiv(s.product(a.ChunkOf), a.Chunk))
	}
	for i, t := range v.Program.Ins {
		s.tensors = append(s.tensors, encode(t.Type, call.Ins[i].Data))
	}
	for _, t := range v.Program.Outs {
		n := 1
		for _, d := range sizes.Shape(t) {
			n *= d
		}
		s.tensors = append(s.tensors, unset(t.Type, n))
	}
	for _, t := range v.Temps {
		s.tensors = append(s.tensors, unset(t.Type, int(s.product(t.Axes))))
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
func unset(t expr.DType, n int) []byte { return slices.Repeat([]byte{0xFF}, n*width(t)) }

func (s *setup) product(axes []uint8) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= s.extent[a]
	}
	return n
}

func ceilDiv(n, by int64) int64 { return (n + by - 1) / by }

// tiles is the number of tiles along a dimension of a grid.
func (s *setup) tiles(d bind.GridDim) int64 { return ceilDiv(s.product(d.Axes), d.Tile) }

// items is the number of work items that k has on the CPU.
func (s *setup) items(k *bind.Kernel) int64 {
	n := int64(1)
	for _, d := range k.CPU.Grid {
		n *= s.tiles(d)
	}
	return n
}

// block fills in the parameter block of k.
func (s *setup) block(k *bind.Kernel) []byte {
	b := make([]byte, k.BlockBytes)
	for _, f := range k.Block {
		at := b[f.Offset:]
		if f.Size != nil {
			binary.LittleEndian.PutUint64(at, uint64(s.product(f.Size)))
			continue
		}
		v := s.params[f.Param]
		switch s.op.Params[f.Param].Type {
		case expr.ParamF32:
			binary.LittleEndian.PutUint32(at, math.Float32bits(float32(v.F)))
		case expr.ParamU32:
			binary.LittleEndian.PutUint32(at, uint32(v.U))
		case expr.ParamU64:
			binary.LittleEndian.PutUint64(at, v.U)
		default:
			binary.LittleEndian.PutUint32(at, uint32(v.I))
		}
	}
	return b
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
		list = append(list, decode(t.Type, o.tensors[len(p.Ins)+i]))
	}
	for i, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, decode(t.Type, o.tensors[i]))
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

func width(t expr.DType) int {
	switch t {
	case expr.U8:
		return 1
	case expr.F16, expr.BF16:
		return 2
	}
	return 4
}

// encode lays values out as a device stores them.
func encode(t expr.DType, data []float64) []byte {
	b := make([]byte, 0, len(data)*width(t))
	for _, v := range data {
		switch t {
		case expr.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case expr.F16:
			b = binary.LittleEndian.AppendUint16(b, toHalf(v))
		case expr.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(oracle.Round(v, t)))>>16))
		case expr.I32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		case expr.U8:
			b = append(b, byte(v))
		}
	}
	return b
}

// decode reads what encode has laid out.
func decode(t expr.DType, b []byte) []float64 {
	data := make([]float64, len(b)/width(t))
	for i := range data {
		at := b[i*width(t):]
		switch t {
		case expr.F32:
			data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
		case expr.F16:
			data[i] = fromHalf(binary.LittleEndian.Uint16(at))
		case expr.BF16:
			data[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(at)) << 16))
		case expr.I32:
			data[i] = float64(int32(binary.LittleEndian.Uint32(at)))
		case expr.U8:
			data[i] = float64(at[0])
		}
	}
	return data
}

// toHalf is the f16 nearest to v.
func toHalf(v float64) uint16 {
	v = oracle.Round(v, expr.F16)
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	switch {
	case math.IsNaN(v):
		return 0x7E00
	case math.IsInf(v, 0):
		return sign | 0x7C00
	case v < 0x1p-14:
		return sign | uint16(v*0x1p24)
	}
	frac, exp := math.Frexp(v)
	return sign | uint16((exp+14)<<10) + uint16((frac*2-1)*1024)
}

func fromHalf(h uint16) float64 {
	sign, exp, frac := 1.0, int(h>>10&31), float64(h&1023)
	if h&0x8000 != 0 {
		sign = -1
	}
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		return math.Inf(int(sign))
	case exp == 0:
		return sign * frac * 0x1p-24
	}
	return sign * math.Ldexp(1+frac/1024, exp-15)
}
