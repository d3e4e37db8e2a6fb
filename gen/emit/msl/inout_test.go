package msl_test

import (
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/spec"
)

// parsed checks one spec that is given as text.
func parsed(t *testing.T, toml string) *expr.Program {
	t.Helper()
	set, list := spec.Load(fstest.MapFS{"specs/test/probe.toml": {Data: []byte(toml)}}, "specs")
	specs, wrong := expr.Check(set)
	if list = append(list, wrong...); len(list) > 0 {
		t.Fatal(list[0])
	}
	return specs[0].Instances[0]
}

const inoutMap = `doc = "Probe."
dtypes = ["f32"]
[inout.a]
shape = "P..."
expr = "a + 1"
[out.b]
shape = "P..."
expr = "a * 2"
`

// All threads of a row read s, one of them writes it.
const inoutRow = `doc = "Probe."
dtypes = ["f32"]
[in.x]
shape = "R... D"
[let.total]
over = "D"
reduce = "sum"
expr = "x + 1"
[inout.s]
shape = "R..."
expr = "s + total"
[out.y]
shape = "R... D"
expr = "x * s + total"
`

// Every expression sees the old value of an inout, whichever is stored first.
func TestInOutIsReadBeforeItIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		toml string
		ins  []oracle.Array
	}{
		"map":  {inoutMap, []oracle.Array{{Shape: []int{3}, Data: []float64{1, 2, 3}}}},
		"rows": {inoutRow, []oracle.Array{{Shape: []int{2, 150}, Data: repeat(0.5, 300)}, {Shape: []int{2}, Data: []float64{2, 3}}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := parsed(t, c.toml)
			b := bound(t, p)
			text := emit(t, p.File, b.MSL)
			accepted(t, name, text)
			program := build(t, name+".metal", text, sim.Thread)
			compare(t, program, b, p, oracle.Call{Ins: c.ins}, 100)
		})
	}
}
