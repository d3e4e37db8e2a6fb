package metalsim_test

import (
	"context"
	"math"
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

const replaceNaN = `
doc    = "Replaces NaN by zero."
dtypes = ["f32", "f16", "bf16"]
[in.x]
shape = "P..."
[out.y]
shape = "P..."
expr  = "where(isnan(x), 0, x)"
`

// TestC015IsNaNInAnExpression: a spec of a user's own that asks for NaN.
func TestC015IsNaNInAnExpression(t *testing.T) {
	set, list := spec.ParseSet("specs/g/replace_nan.toml", []byte(replaceNaN))
	checked, wrong := expr.Check(set)
	if err := append(list, wrong...).Err(); err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(bind.Input{ImportPath: "example.com/ops", Programs: checked[0].Instances})
	if err != nil {
		t.Fatal(err)
	}
	shader, err := msl.Emit(&msl.File{Spec: "specs/g/replace_nan.toml", Kernels: b.MSL})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Need(t)
	program, err := sim.Build(context.Background(), t.TempDir(), "replace_nan.metal", shader, 0)
	if err != nil {
		t.Fatal(err)
	}
	for v := range b.Op.Variants {
		x := oracle.Array{Shape: []int{2}, Data: []float64{math.NaN(), 1}}
		o, err := simrun.Run(context.Background(), program, b.Op, v, oracle.Call{Ins: []oracle.Array{x}})
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Outs[0].Data; !slices.Equal(got, []float64{0, 1}) || len(o.Reports) > 0 {
			t.Errorf("variant %d: %v, want [0 1] (%v)", v, got, o.Reports)
		}
	}
}
