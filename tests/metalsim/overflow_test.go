package metalsim_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
	"github.com/kernelgen/kgen/gen/simrun"
	"github.com/kernelgen/kgen/gen/spec"
)

const farReads = `
doc    = "Sums rows, of which all but one lie far outside."
dtypes = ["f32"]
[param.stride]
type = "i32"
[param.pad]
type = "i32"
[in.x]
shape = "B L C"
fill  = 0
[axes]
Lout = "caller"
[out.y]
shape  = "B Lout"
over   = "C"
reduce = "sum"
expr   = "x[B, Lout*stride - pad, C]"
`

// TestReadsFarOutside: the offset of a read that is not done is not computed
// either, so that it cannot pass the ends of int.
func TestReadsFarOutside(t *testing.T) {
	set, list := spec.ParseSet("specs/g/far_reads.toml", []byte(farReads))
	checked, wrong := expr.Check(set)
	if err := append(list, wrong...).Err(); err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(bind.Input{ImportPath: "example.com/ops", Programs: checked[0].Instances})
	if err != nil {
		t.Fatal(err)
	}
	shader, err := msl.Emit(&msl.File{Spec: "specs/g/far_reads.toml", Kernels: b.MSL})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Need(t)
	program, err := sim.Build(context.Background(), t.TempDir(), "far_reads.metal", shader, sim.Undefined)
	if err != nil {
		t.Fatal(err)
	}
	x := oracle.Array{Shape: []int{2, 3, 4}}
	for i := range 24 {
		x.Data = append(x.Data, float64(i))
	}
	call := oracle.Call{Ins: []oracle.Array{x}, Params: []oracle.Value{{I: 1 << 30}, {I: 1 << 30}}, Free: map[string][]int{"Lout": {2}}}
	o, err := simrun.Run(context.Background(), program, b.Op, 0, call)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Outs[0].Data; !slices.Equal(got, []float64{0, 0 + 1 + 2 + 3, 0, 12 + 13 + 14 + 15}) || len(o.Reports) > 0 {
		t.Errorf("the sums are %v (%v)", got, o.Reports)
	}
}
