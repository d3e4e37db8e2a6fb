package parity_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// C001: the variance is not E[x²]−E[x]², which cancels where the mean is large.
func TestC001LayerNormVariance(t *testing.T) {
	devices := everywhere(t)
	norm := func(x []float64) golden.Case {
		return golden.Case{Ins: tensors{"x": vector(x...), "gamma": constant(1, len(x)), "beta": constant(0, len(x))}}
	}
	a := norm(row(40000, 40001, 40002, 40003))
	a.Outs = tensors{
		"y":    vector(-1.34163542, -0.44721181, 0.44721181, 1.34163542),
		"mean": number(40001.5), "rstd": number(1 / math.Sqrt(1.25+1e-5)),
	}
	known{Case: a, spec: "layernorm", types: only(runtime.F32)}.verify(t, devices)
	for _, c := range []struct{ base, first, last float64 }{
		{10000, -1.33133335, 1.33133335}, {100, -1.34152771, 1.34135713}, {1000, -1.34150776, 1.34423718},
	} {
		x := make([]float64, 16)
		for i := range x {
			x[i] = float64(f32(c.base + float64(i)*0.001))
		}
		for _, d := range devices {
			outs, err := run1(t, d, "layernorm", "", runtime.F32, norm(x))
			if err != nil {
				t.Fatal(err)
			}
			y := outs[0].data
			if !near(y[0], c.first, 2e-3) || !near(y[15], c.last, 2e-3) {
				t.Errorf("base %v on %s: from %v to %v, want %v to %v", c.base, d.name, y[0], y[15], c.first, c.last)
			}
		}
	}
}

// C001 (d): deviations whose squares overflow f32 are out of the documented
// range: the row is NaN, or right where the device computes in float64, but
// never zeros.
func TestC001LayerNormRange(t *testing.T) {
	want := row(-1.3416408, -0.4472136, 0.4472135, 1.3416408)
	for _, d := range everywhere(t) {
		outs, err := run1(t, d, "layernorm", "", runtime.F32, golden.Case{Ins: tensors{
			"x": vector(1e30, 2e30, 3e30, 4e30), "gamma": constant(1, 4), "beta": constant(0, 4)}})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range outs[0].data {
			if !math.IsNaN(v) && !near(v, want[i], 1e-5) {
				t.Errorf("on %s: y is %v, want %v or NaN", d.name, outs[0].data, want)
				break
			}
		}
	}
}

// C002: rows without variance.
func TestC002ConstantRows(t *testing.T) {
	devices := everywhere(t)
	beta := vector(0, 1, -2, 3, -4, 5, -6, 7)
	for _, k := range []known{
		{Case: golden.Case{Name: "eight equal values", Params: map[string]any{"eps": 1e-10},
			Ins: tensors{"x": constant(-15.94, 8), "gamma": constant(1, 8), "beta": beta}, Outs: tensors{"y": beta}}, spec: "layernorm"},
		{Case: golden.Case{Name: "width one", Params: map[string]any{"eps": 0.1},
			Ins: tensors{"x": vector(-3), "gamma": vector(1e10), "beta": vector(-1)}, Outs: tensors{"y": vector(-1)}},
			spec: "layernorm", types: only(runtime.F32, runtime.BF16)},
	} {
		k.exact = true
		k.verify(t, devices)
	}
	known{Case: golden.Case{Name: "zeros", Ins: tensors{"x": constant(0, 4), "gamma": vector(1, 2, 1, -1)},
		Outs: tensors{"y": constant(0, 4)}, Cotangents: tensors{"y": vector(1, 1, -2, 1)},
		Grads: tensors{"x": vector(316.22777, 2*316.22777, -2*316.22777, -316.22777)}}, spec: "rmsnorm"}.verify(t, devices)
	known{Case: golden.Case{Name: "no eps", Params: map[string]any{"eps": 0.0}, Ins: tensors{"x": vector(3, 4), "gamma": constant(1, 2)},
		Outs: tensors{"y": vector(0.84852814, 1.13137085)}}, spec: "rmsnorm"}.verify(t, devices)
}

// C003: the exponentials inside GELU and tanh overflow, the functions do not.
func TestC003ActivationsDoNotOverflow(t *testing.T) {
	devices := everywhere(t)
	unary := func(x, y, dx []float64) golden.Case {
		c := golden.Case{Ins: tensors{"x": vector(x...)}, Outs: tensors{"y": vector(y...)}}
		if dx != nil {
			c.Grads = tensors{"x": vector(dx...)}
		}
		return c
	}
	big := append(spaced(8, 15.5, 0.5), 40, 41, 100)
	for _, spec := range []string{"gelu", "gelu_erf"} {
		known{Case: unary(big, big, nil), spec: spec, exact: true, types: only(runtime.F16, runtime.BF16)}.verify(t, devices)
		known{Case: unary(big, big, nil), spec: spec, types: only(runtime.F32)}.verify(t, devices)
		known{Case: unary(row(-13.24, -40, -41, -100), row(0, 0, 0, 0), nil), spec: spec, exact: true}.verify(t, devices)
		known{Case: unary(row(12, 40, -12, -40), row(12, 40, 0, 0), row(1, 1, 0, 0)), spec: spec}.verify(t, devices)
	}
	known{Case: unary(row(0, 1, -1), row(0, 0.84119199, -0.15880801), row(0.5, 1.08296408, -0.08296408)), spec: "gelu"}.verify(t, devices)
	known{Case: unary(row(0, 1, -1), row(0, 0.84134475, -0.15865525), row(0.5, 1.08331547, -0.08331547)), spec: "gelu_erf"}.verify(t, devices)

	far := row(44, 45, 50, 88, 89, 100, 1e4, inf)
	for _, sign := range []float64{1, -1} {
		x := slices.Clone(far)
		for i := range x {
			x[i] *= sign
		}
		known{Case: unary(x, constant(sign, len(x)).Data, constant(0, len(x)).Data), spec: "tanh", exact: true}.verify(t, devices)
	}
}

// C004: the products that make GELU are 0·inf at the infinities.
func TestC004ActivationsAtInfinity(t *testing.T) {
	devices := everywhere(t)
	for _, spec := range []string{"gelu", "gelu_erf", "silu"} {
		known{Case: golden.Case{Ins: tensors{"x": vector(inf, -inf, nan)}, Outs: tensors{"y": vector(inf, 0, nan)},
			Grads: tensors{"x": vector(1, 0, nan)}}, spec: spec, exact: true}.verify(t, devices)
	}
	known{Case: golden.Case{Ins: tensors{"x": vector(inf, -inf, nan)}, Outs: tensors{"y": vector(inf, 0, nan)}},
		spec: "relu", exact: true}.verify(t, devices)
}

// C006: a masked row of softmax, beside others that it must not touch.
func TestC006SoftmaxOfMaskedRows(t *testing.T) {
	devices := everywhere(t)
	for _, width := range []int{3, 1025} {
		pad := func(fill float64, v ...float64) []float64 { return append(v, constant(fill, width-3).Data...) }
		x := matrix(pad(-inf, -inf, -inf, -inf), pad(-inf, -inf, 0, -inf), pad(-inf, 0, -inf, 0),
			pad(-inf, 1000, 1000, -inf), pad(0, inf, 0, 0), pad(-inf, -inf, 0, -inf))
		y := matrix(pad(0, 0, 0, 0), pad(0, 0, 1, 0), pad(0, 0.5, 0, 0.5), pad(0, 0.5, 0.5, 0), pad(nan, nan, nan, nan), pad(0, 0, 1, 0))
		dy := pad(7, 1, 2, 3)
		dx := matrix(pad(0, 0, 0, 0), pad(0, 0, 0, 0), pad(0, -0.5, 0, 0.5), pad(0, -0.25, 0.25, 0), pad(nan, nan, nan, nan), pad(0, 0, 0, 0))
		known{Case: golden.Case{Ins: tensors{"x": x}, Outs: tensors{"y": y}, Cotangents: tensors{"y": matrix(dy, dy, dy, dy, dy, dy)},
			Grads: tensors{"x": dx}}, spec: "softmax", exact: true}.verify(t, devices)
	}
}

// C007: sums of f16 run in f32.
func TestC007NarrowSums(t *testing.T) {
	devices := everywhere(t)
	ones := constant(1, 4096)
	x := func(v golden.Tensor) tensors { return tensors{"x": v} }
	y := func(v ...float64) tensors { return tensors{"y": vector(v...)} }
	scalar := func(v float64) tensors { return tensors{"y": number(v)} }
	opposite := append(constant(32000, 4).Data, constant(-32000, 4).Data...)
	for _, k := range []known{
		{Case: golden.Case{Ins: x(ones), Outs: scalar(4096)}, spec: "sum"},
		{Case: golden.Case{Ins: x(ones), Outs: scalar(1)}, spec: "mean"},
		{Case: golden.Case{Ins: x(ones), Outs: scalar(4096)}, spec: "row_sum"},
		{Case: golden.Case{Ins: x(ones), Outs: scalar(1)}, spec: "row_mean"},
		{Case: golden.Case{Ins: x(constant(60000, 4)), Outs: scalar(60000)}, spec: "mean", types: only(runtime.F16)},
		{Case: golden.Case{Ins: x(constant(60000, 4)), Outs: scalar(60000)}, spec: "row_mean", types: only(runtime.F16)},
		{Case: golden.Case{Ins: x(constant(3, 4096)), Outs: y(constant(1.0/4096, 4096).Data...)}, spec: "softmax"},
		{Case: golden.Case{Ins: x(vector(opposite...)), Outs: scalar(0)}, spec: "sum"},
		{Case: golden.Case{Ins: x(vector(opposite...)), Outs: scalar(0)}, spec: "row_sum"},
		{Case: golden.Case{Ins: tensors{"dy": constant(1, 4096, 2)}, Outs: tensors{"db": vector(4096, 4096)}}, spec: "bias_grad"},
		{Case: golden.Case{Ins: tensors{"x": constant(300, 1024), "gamma": constant(1, 1024), "beta": constant(0.5, 1024)},
			Outs: y(constant(0.5, 1024).Data...)}, spec: "layernorm"},
		{Case: golden.Case{Ins: tensors{"a": constant(1, 3, 4096), "b": constant(1, 4096, 5)}, Outs: tensors{"c": constant(4096, 3, 5)}},
			spec: "matmul", choice: "ta=n,tb=n"},
	} {
		k.exact = true
		k.verify(t, devices)
	}
	known{Case: golden.Case{Ins: tensors{"x": constant(300, 1024), "gamma": constant(1, 1024)}, Outs: y(constant(1, 1024).Data...)},
		spec: "rmsnorm"}.verify(t, devices)
}

// C008: NaN wins, and the first one's place is the argmax.
func TestC008NaNWins(t *testing.T) {
	devices := everywhere(t)
	for _, c := range []struct {
		x  []float64
		at float64
	}{{row(3, nan, 1, 5), 1}, {row(nan, 1, 2), 0}, {row(1, 2, nan), 2}, {row(inf, nan, -inf), 1}} {
		long := append(slices.Clone(c.x), constant(0.25, 1025-len(c.x)).Data...)
		late := append(constant(0.25, 1025-len(c.x)).Data, c.x...)
		for _, in := range []struct {
			x  []float64
			at float64
		}{{c.x, c.at}, {long, c.at}, {late, c.at + 1025 - float64(len(c.x))}} {
			x := tensors{"x": vector(in.x...)}
			known{Case: golden.Case{Ins: x, Outs: tensors{"y": number(nan)}}, spec: "row_max"}.verify(t, devices)
			known{Case: golden.Case{Ins: x, Outs: tensors{"y": number(nan)}}, spec: "max"}.verify(t, devices)
			known{Case: golden.Case{Ins: x, Outs: tensors{"index": number(in.at)}}, spec: "argmax"}.verify(t, devices)
			known{Case: golden.Case{Ins: tensors{"logits": vector(in.x...), "target": number(2)},
				Outs: tensors{"loss": number(nan)}}, spec: "cross_entropy"}.verify(t, devices)
		}
	}
	for _, spec := range []string{"maximum", "minimum"} {
		known{Case: golden.Case{Ins: tensors{"a": vector(nan, 1, nan), "b": vector(1, nan, nan)}, Outs: tensors{"y": constant(nan, 3)}},
			spec: spec}.verify(t, devices)
	}
}
