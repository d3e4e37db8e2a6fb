package msl_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
)

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
	simtest.Need(t)
	dir, err := sim.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.Build(context.Background(), dir, name, text, san)
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
	small   bool          // forms with small tiles run, where there are some
	parts   int64         // of split forms, which run in the place of kernels that have one; 0 for none
	blocks  int64         // of rows; 0 for as many as the CPU has
	limit   time.Duration // of a launch; 0 means none
	late    bool          // a launch took longer
	one     bool          // runs one form of each kernel, the wide one if
	wide    bool          // and where it fits
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
	launch := func(k bind.Kernel, tensors [][]byte, extent []int64) {
		d.launch(t, k, tensors, d.bound.Op.FillBlock(&k, extent, oracle.Bits(p.Params, call.Params)), extent)
	}
	for _, k := range v.Kernels {
		if k.Split == nil || d.parts == 0 {
			launch(k, tensors, extent)
			continue
		}
		cut := append(slices.Clone(extent), d.parts)
		with := append(slices.Clone(tensors), unset(expr.F32, bind.Product(cut, k.Split.Sums)))
		launch(k.Split.Parts, with, cut)
		launch(k.Split.Join, with, cut)
		copy(tensors, with)
	}
	out := map[string]oracle.Array{}
	for i, x := range p.Ins {
		if x.Role == expr.InOut {
			out[x.Name] = oracle.Array{Shape: call.Ins[i].Shape, Data: oracle.Decode(x.Type, tensors[i])}
		}
	}
	for i, x := range p.Outs {
		out[x.Name] = oracle.Array{Shape: sizes.Shape(x), Data: oracle.Decode(x.Type, tensors[len(p.Ins)+i])}
	}
	return out
}

// extents of the op's axes: the program's, then the chunks.
func (d *device) extents(p *expr.Program, sizes *oracle.Sizes) []int64 {
	extent := slices.Clone(sizes.Extent)
	for _, a := range d.bound.Op.Axes[len(p.Axes):] {
		n := (bind.Product(extent, a.ChunkOf) + a.Chunk - 1) / a.Chunk
		if a.Blocks && d.blocks > 0 {
			n = d.blocks
		}
		extent = append(extent, n)
	}
	return extent
}

// memory holds inputs, outputs and workspaces; what is to be written is filled
// with NaN, or -1.
func (d *device) memory(p *expr.Program, call oracle.Call, sizes *oracle.Sizes, extent []int64) [][]byte {
	var tensors [][]byte
	fresh := func(t expr.DType, n int64) { tensors = append(tensors, unset(t, n)) }
	for i, t := range p.Ins {
		tensors = append(tensors, oracle.Encode(t.Type, call.Ins[i].Data))
	}
	for _, t := range p.Outs {
		n := int64(1)
		for _, x := range sizes.Shape(t) {
			n *= int64(x)
		}
		fresh(t.Type, n)
	}
	for _, t := range d.bound.Op.Variants[0].Temps {
		fresh(t.Type, bind.Product(extent, t.Axes))
	}
	return tensors
}

// unset is memory that nothing has written to.
func unset(t expr.DType, n int64) []byte {
	return bytes.Repeat([]byte{0xFF}, int(n)*t.Bytes())
}

// launch runs a kernel. Where the wide form fits it runs, too: both must compute the
// same bits.
func (d *device) launch(t testing.TB, k bind.Kernel, tensors [][]byte, block []byte, extent []int64) {
	t.Helper()
	symbol, fits := k.Symbol, k.Wide != nil && k.Wide.Fits(extent)
	switch {
	case d.one && d.wide && fits:
		symbol = k.Wide.Symbol
	case d.small && k.GPU.Small != nil:
		symbol += bind.SmallForm
	}
	bufs := d.form(t, symbol, k, tensors, block, extent)
	if fits && !d.one {
		wide := d.form(t, k.Wide.Symbol, k, tensors, block, extent)
		for slot := range min(len(bufs), len(wide)) {
			if slot < len(k.Buffers) && k.Buffers[slot].Write && !sameBits(d.typeOf(k, slot), bufs[slot], wide[slot]) {
				t.Errorf("%s: buffer %d has other bits in the wide form, axes %v", k.Symbol, slot, extent)
			}
		}
		if wide == nil {
			bufs = nil
		}
	}
	if bufs == nil {
		return
	}
	for slot, b := range k.Buffers {
		if b.Write {
			tensors[b.Tensor] = bufs[slot]
		}
	}
	d.fault = bufs[len(bufs)-1]
}

// typeOf is the type of a kernel's buffer.
func (d *device) typeOf(k bind.Kernel, slot int) expr.DType {
	f := slices.IndexFunc(d.bound.MSL, func(f *ir.Func) bool { return f.Symbol == k.Symbol })
	return d.bound.MSL[f].Buffers[slot].Type
}

// sameBits reports whether buffers of a type hold the same bits. The sign of a NaN, which
// no rule gives, does not count.
func sameBits(t expr.DType, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return slices.EqualFunc(oracle.Decode(t, a), oracle.Decode(t, b), func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	})
}

// form runs a function of a kernel and returns its buffers, nil if it did not end.
func (d *device) form(t testing.TB, symbol string, k bind.Kernel, tensors [][]byte, block []byte, extent []int64) [][]byte {
	t.Helper()
	form := &k.GPU
	if d.small && form.Small != nil {
		form = form.Small
	}
	job := sim.Job{Kernel: d.symbol(symbol), Group: [3]int{form.ThreadsFor(extent), 1, 1}}
	for i, n := range form.Groups(extent) {
		job.Grid[i] = int(n)
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
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	d.reports = append(d.reports, r.Reports...)
	return r.Buffers
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
