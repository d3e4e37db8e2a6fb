package exact_test

import (
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/spec"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

const norm = `
doc    = "Divides by the sum of a row."
dtypes = ["f32"]
[in.x]
shape = "R... D"
[let.s]
over   = "D"
reduce = "sum"
expr   = "x"
[out.y]
shape = "R... D"
expr  = "x / s"
[out.total]
shape = "R..."
expr  = "s"
[grad]
wrt = ["x"]
from = ["total"]
`

func checked(t *testing.T) *expr.Spec {
	t.Helper()
	set, list := spec.ParseSet("specs/g/share.toml", []byte(norm))
	specs, wrong := expr.Check(set)
	if err := append(list, wrong...).Err(); err != nil {
		t.Fatal(err)
	}
	return specs[0]
}

func call(total float64) golden.Case {
	return golden.Case{Name: "a row", Ins: map[string]golden.Tensor{"x": golden.Vector(3, -1, 2)},
		Outs:       map[string]golden.Tensor{"y": golden.Vector(0.75, -0.25, 0.5), "total": golden.Number(total)},
		Cotangents: map[string]golden.Tensor{"total": golden.Number(2)}, Grads: map[string]golden.Tensor{"x": golden.Vector(2, 2, 2)}}
}

func TestRun(t *testing.T) {
	s := checked(t)
	v, err := exact.Run(s, s.Instances[0], call(4))
	if err != nil {
		t.Fatal(err)
	}
	if v.Outs["total"].Data[0] != 4 || v.Grads["x"].Data[1] != 2 {
		t.Errorf("the values are %v", v)
	}
	if _, err := exact.Run(s, s.Instances[0], call(4.0001)); err == nil {
		t.Error("a wrong total is not found")
	}
}

// TestTerms: the terms of a sum, cancelling ones, too.
func TestTerms(t *testing.T) {
	s := checked(t)
	for _, linear := range []bool{true, false} {
		v, err := exact.Terms(s, s.Instances[0], call(4), linear)
		if err != nil {
			t.Fatal(err)
		}
		// The estimate may be up to four times as large.
		if got := v.Outs["total"].Data[0]; got < 6 || got > 24 || linear && got != 6 {
			t.Errorf("linear %v: the terms of 3 - 1 + 2 sum to %v, want 6", linear, got)
		}
	}
}

func TestDiffer(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		t         expr.DType
		got, want float64
		terms     []float64
		right     bool
	}{
		{expr.F32, 1.00001, 1, nil, true}, {expr.F32, 1.00002, 1, nil, false}, {expr.F32, 1.00002, 1, []float64{100}, true},
		{expr.F16, 1.002, 1, nil, true}, {expr.F16, 1.004, 1, nil, false}, {expr.F16, 1.004, 1, []float64{1e4}, false},
		{expr.BF16, 1.01, 1, nil, true}, {expr.BF16, 1.02, 1, nil, false}, {expr.I32, 1, 2, nil, false},
		{expr.F16, inf, 70000, nil, true}, {expr.F32, nan, nan, nil, true}, {expr.F32, nan, 1, nil, false}, {expr.F32, inf, -inf, nil, false},
	} {
		if msg := exact.Differ(c.t, []float64{c.got}, []float64{c.want}, c.terms); (msg == "") != c.right {
			t.Errorf("%s: %v for %v: %q", c.t, c.got, c.want, msg)
		}
	}
	if exact.Differ(expr.F32, nil, []float64{1}, nil) == "" {
		t.Error("a missing element is not found")
	}
}
