package optest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// messages collects what a check reports.
type messages []string

func (m *messages) Helper() {}

func (m *messages) Errorf(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// unary describes an op over float32 that applies f to each element, times the
// parameter s.
func unary(name string, ins int, f func(s float64, x []float64) float64) *runtime.Op {
	op := &runtime.Op{
		Name:   name,
		Axes:   []runtime.Axis{{Name: "P", Group: true}},
		Outs:   []runtime.Arg{{Name: "y", Shape: []runtime.Dim{{0}}}},
		Params: []runtime.Param{{Name: "s", Type: runtime.ParamF32}},
		Require: []runtime.Require{{
			Cond: func(_ []int64, param []runtime.Scalar) bool { return param[0].Float() > 1 },
			Text: "s > 1",
		}},
		Variants: []runtime.Variant{{Outs: []runtime.DType{runtime.F32}}},
	}
	v := &op.Variants[0]
	for i := range ins {
		op.Ins = append(op.Ins, runtime.Arg{Name: fmt.Sprint("x", i), Shape: []runtime.Dim{{0}}})
		v.Ins = append(v.Ins, runtime.F32)
	}
	v.Ref = func(c *runtime.RefCall) {
		out := runtime.RefSlice[float32](c, ins)
		for i := range out {
			var x []float64
			for k := range ins {
				x = append(x, float64(runtime.RefSlice[float32](c, k)[i]))
			}
			out[i] = float32(f(c.Param[0].Float(), x))
		}
	}
	return op
}

// square describes s*x² with a gradient that is factor*s*x*dy.
func square(factor float64) *runtime.Op {
	op := unary("square", 1, func(s float64, x []float64) float64 { return s * x[0] * x[0] })
	op.Grad = &runtime.Grad{
		Op:     unary("square_grad", 2, func(s float64, x []float64) float64 { return factor * s * x[0] * x[1] }),
		Ins:    []runtime.GradIn{{From: runtime.FromIn}, {From: runtime.FromCotangent}},
		Params: []uint8{0},
		Outs:   []uint8{0},
	}
	return op
}

func reference(t *testing.T) *checker {
	return &checker{dev: open(t, runtime.Reference()), ref: open(t, runtime.Reference())}
}

func TestSlope(t *testing.T) {
	c := reference(t)
	var right, wrong messages
	c.slope(&right, square(2))
	if len(right) > 0 {
		t.Errorf("a right gradient: %q", right)
	}
	c.slope(&wrong, square(1.9))
	if len(wrong) == 0 {
		t.Error("a gradient that is five percent off is not found")
	}
}

// At a kink, and where the op is not defined for negative numbers, a right
// gradient is still right.
func TestSlopeOfAwkwardFunctions(t *testing.T) {
	c := reference(t)
	for name, f := range map[string][2]func(float64, []float64) float64{
		"abs": {
			func(s float64, x []float64) float64 { return s * math.Abs(x[0]) },
			func(s float64, x []float64) float64 { return s * math.Copysign(1, x[0]) * x[1] },
		},
		"log": {
			func(s float64, x []float64) float64 { return s * math.Log(x[0]) },
			func(s float64, x []float64) float64 { return s / x[0] * x[1] },
		},
	} {
		op := square(0)
		op.Name = name
		op.Variants[0].Ref = unary(name, 1, f[0]).Variants[0].Ref
		op.Grad.Op.Variants[0].Ref = unary(name+"_grad", 2, f[1]).Variants[0].Ref
		var m messages
		c.slope(&m, op)
		if len(m) > 0 {
			t.Errorf("%s: %q", name, m)
		}
	}
}

// flaky is an op whose results differ from one device to the other: calls
// alternate between them.
func TestParityFindsDifferences(t *testing.T) {
	c := reference(t)
	calls := 0
	flaky := unary("flaky", 1, func(s float64, x []float64) float64 {
		if calls%6 == 1 { // the reference is called first, then the device
			return x[0] * (1 + 1e-3)
		}
		return x[0]
	})
	inner := flaky.Variants[0].Ref
	flaky.Variants[0].Ref = func(r *runtime.RefCall) {
		inner(r)
		calls++
	}
	var m messages
	c.parity(&m, flaky, 0)
	if len(m) == 0 || !strings.Contains(m[0], "the reference gives") {
		t.Errorf("messages %q", m)
	}
	calls = -1 << 30
	m = nil
	c.parity(&m, unary("same", 1, func(s float64, x []float64) float64 { return s * x[0] }), 0)
	if len(m) > 0 {
		t.Errorf("messages %q of an op that agrees", m)
	}
}

func TestArgumentsMeetConditions(t *testing.T) {
	op := square(2)
	for round := range rounds {
		a, ok := newArguments(op, 0, round, []Param{Default[float32]("s", 3)})
		if !ok || a.params[0].F32() != 3 {
			t.Errorf("round %d: default not taken: %v, %v", round, ok, a)
		}
		a, ok = newArguments(op, 0, round, []Param{Default[float32]("s", 0)})
		if !ok || !(a.params[0].F32() > 1) {
			t.Errorf("round %d: condition not met: %v, %v", round, ok, a)
		}
	}
	op.Require[0].Cond = func([]int64, []runtime.Scalar) bool { return false }
	var m messages
	reference(t).parity(&m, op, 0)
	if len(m) != 1 || !strings.Contains(m[0], "found no arguments") {
		t.Errorf("messages %q for conditions that nothing meets", m)
	}
}

func TestDerivedShapes(t *testing.T) {
	op := &runtime.Op{
		Name: "windows",
		Axes: []runtime.Axis{{Name: "R", Group: true}, {Name: "L"}, {Name: "K", Free: true}, {Name: "W", Extent: func(size []int64, _ []runtime.Scalar) int64 {
			return size[1] - size[2] + 1
		}}},
		Ins:      []runtime.Arg{{Name: "x", Shape: []runtime.Dim{{0}, {1}}}, {Name: "d", Shape: []runtime.Dim{{0}, {3, 2}}}},
		Variants: []runtime.Variant{{Ins: []runtime.DType{runtime.F32, runtime.I32}}},
	}
	a, ok := newArguments(op, 0, 0, nil)
	if !ok || fmt.Sprint(a.ins[0].shape, a.ins[1].shape) != "[2 3 4] [2 3 6]" {
		t.Errorf("shapes %v, %v", a, ok)
	}
	for _, v := range a.ins[1].data {
		if v < 0 || v >= 2 {
			t.Errorf("id %v is not below the smallest extent, 2", v)
		}
	}
}

func TestNear(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want, spread float64
		t                 runtime.DType
		near              bool
	}{
		{1, 1, 0, runtime.I32, true}, {1, 2, 0, runtime.I32, false}, {1, 2, 1, runtime.I32, true},
		{1.000009, 1, 0, runtime.F32, true}, {1.00002, 1, 0, runtime.F32, false}, {1.00002, 1, 1e-6, runtime.F32, true},
		{nan, nan, 0, runtime.F32, true}, {nan, 1, 0, runtime.F32, false}, {1, nan, 0, runtime.F32, false},
		{inf, inf, 0, runtime.F32, true}, {-inf, inf, 0, runtime.F32, false}, {1e30, inf, 0, runtime.F32, false},
		{1.0025, 1, 0, runtime.F16, true}, {1.004, 1, 0, runtime.F16, false}, {1.015, 1, 0, runtime.BF16, true},
	} {
		if near(c.got, c.want, c.t, c.spread) != c.near {
			t.Errorf("near(%v, %v, %s, %v) is not %v", c.got, c.want, c.t, c.spread, c.near)
		}
	}
}
