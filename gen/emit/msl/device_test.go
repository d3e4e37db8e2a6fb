package msl_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// simDir is where built shaders are kept from one test run to the next.
func simDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("kgen-sim-%d", os.Getuid()))
}

// bound lowers a program.
func bound(t testing.TB, p *expr.Program) *bind.Result {
	t.Helper()
	r, err := bind.Bind(bind.Input{ImportPath: "example.com/ops", Programs: []*expr.Program{p}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Unlowered[bind.MSL]; err != nil {
		t.Fatal(err)
	}
	return r
}

// emit renders kernels as one file.
func emit(t testing.TB, spec string, kernels []*ir.Func) []byte {
	t.Helper()
	text, err := msl.Emit(&msl.File{Spec: spec, Hash: 1, Kernels: kernels})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// build compiles a shader to be run.
func build(t testing.TB, name string, text []byte, san sim.Sanitizer) *sim.Program {
	t.Helper()
	p, err := sim.Build(context.Background(), simDir(), name, text, san)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// device runs the kernels of one program, as a runtime would.
type device struct {
	program *sim.Program
	bound   *bind.Result
	symbol  func(string) string // what a kernel is called in the program
	fault   []byte              // the fault word
	reports []sim.Report
	limit   time.Duration // of a launch; 0 means none
	late    bool          // a launch took longer
}

const faultBytes = 40

func newDevice(p *sim.Program, b *bind.Result) *device {
	return &device{program: p, bound: b, symbol: func(s string) string { return s }, fault: make([]byte, faultBytes)}
}

// run gives the outputs and the new values of inouts by name.
func (d *device) run(t testing.TB, p *expr.Program, call oracle.Call) map[string]oracle.Array {
	t.Helper()
	sizes, err := oracle.Check(p, call)
	if err != nil {
		t.Fatal(err)
	}
	v := d.bound.Op.Variants[0]
	extent := d.extents(p, sizes)
	tensors := d.memory(p, call, sizes, extent)
	for _, k := range v.Kernels {
		d.launch(t, k, tensors, d.block(p, k, extent, call.Params), extent)
	}
	out := map[string]oracle.Array{}
	for i, x := range p.Ins {
		if x.Role == expr.InOut {
			out[x.Name] = decode(x.Type, tensors[i], call.Ins[i].Shape)
		}
	}
	for i, x := range p.Outs {
		out[x.Name] = decode(x.Type, tensors[len(p.Ins)+i], sizes.Shape(x))
	}
	return out
}

// extents of the op's axes: the program's, then the chunks.
func (d *device) extents(p *expr.Program, sizes *oracle.Sizes) []int64 {
	extent := slices.Clone(sizes.Extent)
	for _, a := range d.bound.Op.Axes[len(p.Axes):] {
		extent = append(extent, (product(extent, a.ChunkOf)+a.Chunk-1)/a.Chunk)
	}
	return extent
}

func product(extent []int64, axes []uint8) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= extent[a]
	}
	return n
}

// memory holds inputs, outputs and workspaces; what is to be written is filled
// with NaN, or -1.
func (d *device) memory(p *expr.Program, call oracle.Call, sizes *oracle.Sizes, extent []int64) [][]byte {
	var tensors [][]byte
	fresh := func(t expr.DType, n int64) {
		b := make([]byte, n*int64(width(t)))
		for i := range b {
			b[i] = 0xFF
		}
		tensors = append(tensors, b)
	}
	for i, t := range p.Ins {
		tensors = append(tensors, encode(t.Type, call.Ins[i].Data))
	}
	for _, t := range p.Outs {
		n := int64(1)
		for _, x := range sizes.Shape(t) {
			n *= int64(x)
		}
		fresh(t.Type, n)
	}
	for _, t := range d.bound.Op.Variants[0].Temps {
		fresh(t.Type, product(extent, t.Axes))
	}
	return tensors
}

func (d *device) block(p *expr.Program, k bind.Kernel, extent []int64, params []oracle.Value) []byte {
	b := make([]byte, k.BlockBytes)
	for _, f := range k.Block {
		at := b[f.Offset:]
		if f.Size != nil {
			binary.LittleEndian.PutUint64(at, uint64(product(extent, f.Size)))
			continue
		}
		x := params[f.Param]
		switch p.Params[f.Param].Type {
		case expr.ParamF32:
			binary.LittleEndian.PutUint32(at, math.Float32bits(float32(x.F)))
		case expr.ParamU32:
			binary.LittleEndian.PutUint32(at, uint32(x.U))
		case expr.ParamU64:
			binary.LittleEndian.PutUint64(at, x.U)
		default:
			binary.LittleEndian.PutUint32(at, uint32(x.I))
		}
	}
	return b
}

func (d *device) launch(t testing.TB, k bind.Kernel, tensors [][]byte, block []byte, extent []int64) {
	t.Helper()
	job := sim.Job{Kernel: d.symbol(k.Symbol), Grid: [3]int{1, 1, 1}, Group: [3]int{k.GPU.Threads, 1, 1}}
	for i, g := range k.GPU.Grid {
		job.Grid[i] = int((product(extent, g.Axes) + g.Tile - 1) / g.Tile)
	}
	for slot, b := range k.Buffers {
		job.Buffers = append(job.Buffers, sim.Buffer{Index: slot, Data: tensors[b.Tensor], Writable: b.Write})
	}
	n := len(k.Buffers)
	if len(block) > 0 {
		job.Buffers = append(job.Buffers, sim.Buffer{Index: n, Data: block})
	}
	job.Buffers = append(job.Buffers, sim.Buffer{Index: n + 1, Data: d.fault, Writable: true})
	ctx := context.Background()
	if d.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.limit)
		defer cancel()
	}
	r, err := d.program.Run(ctx, job)
	if errors.Is(err, context.DeadlineExceeded) {
		d.late = true
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	d.reports = append(d.reports, r.Reports...)
	if r.Buffers == nil {
		return
	}
	for slot, b := range k.Buffers {
		if b.Write {
			tensors[b.Tensor] = r.Buffers[slot]
		}
	}
	d.fault = r.Buffers[len(r.Buffers)-1]
}

// fault is a fault word as the host reads it.
type fault struct {
	set, tensor       int32
	pos, value, bound int64
}

func (d *device) readFault() fault {
	i32 := func(at int) int32 { return int32(binary.LittleEndian.Uint32(d.fault[at:])) }
	i64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(d.fault[at:])) }
	return fault{i32(4), i32(12), i64(16), i64(24), i64(32)}
}

func (f fault) String() string {
	return fmt.Sprintf("set %d, tensor %d, position %d, value %d, bound %d", f.set, f.tensor, f.pos, f.value, f.bound)
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

func encode(t expr.DType, data []float64) []byte {
	var b []byte
	for _, v := range data {
		switch t {
		case expr.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case expr.F16:
			b = binary.LittleEndian.AppendUint16(b, toHalf(v))
		case expr.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(oracle.Round(v, expr.BF16)))>>16))
		case expr.I32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		case expr.U8:
			b = append(b, byte(v))
		}
	}
	return b
}

func decode(t expr.DType, b []byte, shape []int) oracle.Array {
	a := oracle.NewArray(shape...)
	for i := range a.Data {
		switch t {
		case expr.F32:
			a.Data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		case expr.F16:
			a.Data[i] = fromHalf(binary.LittleEndian.Uint16(b[2*i:]))
		case expr.BF16:
			a.Data[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
		case expr.I32:
			a.Data[i] = float64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		case expr.U8:
			a.Data[i] = float64(b[i])
		}
	}
	return a
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
