package msl_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// index64 is what the host puts before a source for large tensors.
const index64 = "#define KG_INDEX_64\n#line 1\n"

// A kernel of each shape computes the same where positions and offsets have 64 bits.
func TestIndex64(t *testing.T) {
	for _, name := range []string{"layernorm", "cross_entropy", "masked_mean", "sum", "embedding", "dropout", "concat", "im2col", "argmax", "matmul"} {
		i := slices.IndexFunc(catalogue, func(e entry) bool { return e.spec == name })
		p := findSpec(t, name).Instances[0]
		e := entry{spec: name, static: p.Static, calls: []call{anyCall(p, []int{5, 37, 9, 3}), anyCall(p, wholeTiles(p))}}
		if i >= 0 {
			e = catalogue[i]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := newKernelSet(t, instance(t, name, e.static, p.Types...))
			text := append([]byte(index64), e.text(t, []kernelSet{set})...)
			accepted(t, name, text)
			program := build(t, name+".metal", text, sim.Address|sim.Undefined)
			for i, c := range e.calls {
				set.check(t, program, c, i)
			}
		})
	}
}

// With 64 bits a kernel reads beyond element 2³¹ of a table of which only the last row
// takes memory; with 32 the sanitizers say that it cannot.
func TestFarReads(t *testing.T) {
	const width, before = 1 << 10, 1 << 21 // of a row; rows before the last
	b := bound(t, instance(t, "embedding", nil, expr.F16))
	k := &b.Op.Variants[0].Kernels[0]
	var row []float64
	for i := range width {
		row = append(row, float64(i)-500)
	}
	last := oracle.Encode(expr.F16, row)
	extent := map[string]int64{"N": 1, "V": before + 1, "D": width}
	var extents []int64
	for _, a := range b.Op.Axes {
		extents = append(extents, extent[a.Name])
	}
	buffers := map[string]sim.Buffer{
		"ids": {Data: oracle.Encode(expr.I32, []float64{before})},
		"W":   {Data: last, Ahead: before * width * 2},
		"y":   {Data: make([]byte, len(last)), Writable: true},
	}
	run := func(head string) *sim.Result {
		text := append([]byte(head), emit(t, "embedding.toml", b.MSL)...)
		job := sim.Job{Kernel: k.Symbol, Grid: [3]int{1, 1, 1}, Group: [3]int{k.GPU.Threads, 1, 1}}
		for slot, of := range b.MSL[0].Buffers {
			x := buffers[of.Name]
			x.Index = slot
			job.Buffers = append(job.Buffers, x)
		}
		n := len(job.Buffers)
		job.Buffers = append(job.Buffers, sim.Buffer{Index: n, Data: b.Op.FillBlock(k, extents, nil)},
			sim.Buffer{Index: n + 1, Data: make([]byte, faultBytes), Writable: true})
		r, err := build(t, "far.metal", text, sim.Address|sim.Undefined).Run(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(index64); len(r.Reports) > 0 || !bytes.Equal(r.Buffers[2], last) {
		t.Errorf("with 64 bits: %v, the row is %v", r.Reports, r.Buffers[2])
	}
	if r := run(""); len(r.Reports) == 0 {
		t.Error("with 32 bits nothing is reported")
	}
}
