package msl_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// faulty runs the kernels of p, which find a bad value, and gives the fault word
// and the results.
func faulty(t *testing.T, p *expr.Program, c oracle.Call) (fault, map[string]oracle.Array) {
	t.Helper()
	b := bound(t, p)
	program := build(t, p.Name+".metal", emit(t, p.File, b.MSL), sim.Address|sim.Undefined)
	d := newDevice(program, b)
	got := d.run(t, p, c)
	for _, r := range d.reports {
		t.Errorf("%s: %s", p.Name, r)
	}
	return d.readFault(), got
}

// table is the weight of the tests: 5 rows of 3, of an embedding.
func table() oracle.Array {
	w := oracle.NewArray(5, 3)
	for i := range w.Data {
		w.Data[i] = float64(i)
	}
	return w
}

func ids(v ...float64) oracle.Array { return oracle.Array{Shape: []int{len(v)}, Data: v} }

// A bad id is reported with its place, and nothing outside the table is read.
func TestEmbeddingFault(t *testing.T) {
	p := instance(t, "embedding", nil, expr.F32)
	for _, bad := range []float64{5, 6, -1, math.MinInt32} {
		f, got := faulty(t, p, oracle.Call{Ins: []oracle.Array{ids(0, 4, bad, 1), table()}})
		want := fault{set: 1, tensor: argument(p, "ids"), pos: 2, value: int64(bad), bound: 5}
		if f != want {
			t.Errorf("id %v: fault %s, want %s", bad, f, want)
		}
		if y := got["y"].Data; y[3] != 12 || y[6] != 0 || y[9] != 3 {
			t.Errorf("id %v: y = %v, want the rows of the good ids and zeros", bad, y)
		}
	}
}

// argument is the number by which a fault names an input of p.
func argument(p *expr.Program, name string) int32 {
	return int32(slices.IndexFunc(p.Ins, func(x *expr.Tensor) bool { return x.Name == name }))
}

// The first bad value stays, whatever follows.
func TestFirstFaultWins(t *testing.T) {
	p := instance(t, "embedding", nil, expr.F32)
	f, _ := faulty(t, p, oracle.Call{Ins: []oracle.Array{ids(7, 8, 9), table()}})
	if f.set != 1 || f.pos < 0 || f.pos > 2 || f.value != 7+f.pos || f.bound != 5 {
		t.Errorf("fault %s: want one of the three bad ids, whole", f)
	}
}

// A bad id of the gradient adds to no row.
func TestEmbeddingBackwardFault(t *testing.T) {
	p := gradient(t, instance(t, "embedding", nil, expr.F32)).Program
	var c oracle.Call
	for _, x := range p.Ins {
		switch x.Name {
		case "ids":
			c.Ins = append(c.Ins, ids(0, 5, 0))
		case "W":
			c.Ins = append(c.Ins, table())
		default:
			c.Ins = append(c.Ins, oracle.Array{Shape: []int{3, 3}, Data: repeat(1, 9)})
		}
	}
	f, got := faulty(t, p, c)
	if f.set != 1 || f.pos != 1 || f.value != 5 || f.bound != 5 {
		t.Errorf("fault %s, want position 1, value 5, bound 5", f)
	}
	want := append([]float64{2, 2, 2}, repeat(0, 12)...)
	if !slices.Equal(got["d_W"].Data, want) {
		t.Errorf("d_W = %v, want %v", got["d_W"].Data, want)
	}
}

// Once the fault word is set, what writes an inout does nothing.
func TestGuardedKernel(t *testing.T) {
	p := instance(t, "adamw", []expr.Choice{{Name: "shadow", Value: "without"}}, expr.F32)
	c := call{axes: ax{"P": {300}}, params: pm{"lr": oracle.Float(0.5)}, ins: in{
		"v": repeat(0.25, 300), "inv_scale": {1}, "clip": {1}, "skip": {0}, "step": {1}}}
	oc := c.inputs(t, rand.New(rand.NewPCG(1, 1)), p)
	b := bound(t, p)
	program := build(t, "adamw.metal", emit(t, p.File, b.MSL), sim.Thread)
	for _, set := range []bool{false, true} {
		d := newDevice(program, b)
		if set {
			d.fault[0] = 1
		}
		got := d.run(t, p, oc)
		for _, r := range d.reports {
			t.Error(r)
		}
		for i, x := range p.Ins {
			if x.Role == expr.InOut && slices.Equal(got[x.Name].Data, oc.Ins[i].Data) != set {
				t.Errorf("fault word set: %t; %s unchanged: %t", set, x.Name, !set)
			}
		}
	}
}
