package oracle_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
)

func of(name string, x ...float64) op { return op{name: name, ins: arrays{"x": vec(x...)}} }

func TestGELUAtLargeArguments(t *testing.T) {
	var x []float64
	for v := 8.0; v < 16; v += 0.5 {
		x = append(x, v)
	}
	within(t, "gelu", 1e-14, of("gelu", x...).run(t)["y"], x...)
	if y := of("gelu", -13.24).run(t)["y"].Data[0]; y > 0 || y < -1e-79 {
		t.Errorf("gelu(-13.24) = %g", y)
	}
	large := []float64{40, 41, 100, -40, -41, -100}
	near(t, "gelu", of("gelu", large...).run(t)["y"], 40, 41, 100, 0, 0, 0)
	f16 := of("gelu", large...)
	f16.dtype, f16.round = expr.F16, true
	near(t, "gelu in f16", f16.run(t)["y"], 40, 41, 100, 0, 0, 0)

	dy := arrays{"y": vec(1, 1, 1, 1)}
	d := of("gelu", 12, 40, -12, -40).back(t, dy)["x"]
	for i, w := range []float64{1, 1, 0, 0} {
		if diff := d.Data[i] - w; diff > 1e-50 || diff < -1e-50 {
			t.Errorf("gelu' [%d] = %g, want %g", i, d.Data[i], w)
		}
	}
}

func TestGELUValues(t *testing.T) {
	within(t, "gelu", 1e-7, of("gelu", 1, -1).run(t)["y"], 0.84119199, -0.15880801)
	within(t, "gelu_erf", 1e-7, of("gelu_erf", 1, -1).run(t)["y"], 0.84134475, -0.15865525)
	dy := arrays{"y": vec(1, 1, 1)}
	within(t, "gelu'", 1e-7, of("gelu", 0, 1, -1).back(t, dy)["x"], 0.5, 1.08296408, -0.08296408)
	within(t, "gelu_erf'", 1e-7, of("gelu_erf", 0, 1, -1).back(t, dy)["x"], 0.5, 1.08331547, -0.08331547)
}

func TestActivationsAtInfinity(t *testing.T) {
	dy := arrays{"y": vec(1, 1, 1)}
	for _, name := range []string{"gelu", "gelu_erf", "silu", "relu"} {
		near(t, name, of(name, inf, -inf, nan).run(t)["y"], inf, 0, nan)
		d := of(name, inf, -inf, nan).back(t, dy)["x"]
		if name == "relu" { // a step function of x: NaN is not below 0
			near(t, name+"'", d, 1, 0, 1)
			continue
		}
		near(t, name+"'", d, 1, 0, nan)
	}
	near(t, "tanh", of("tanh", 44, 45, 50, 88, 89, 100, 1e4, inf).run(t)["y"], repeat(1, 8)...)
	near(t, "tanh", of("tanh", -44, -45, -50, -88, -89, -100, -1e4, -inf).run(t)["y"], repeat(-1, 8)...)
	near(t, "tanh'", of("tanh", inf, -inf, nan).back(t, dy)["x"], 0, 0, nan)
	near(t, "sigmoid", of("sigmoid", inf, -inf, nan, -800).run(t)["y"], 1, 0, nan, 0)
	near(t, "sigmoid'", of("sigmoid", inf, -inf, nan).back(t, dy)["x"], 0, 0, nan)
}

func TestMaximumKeepsNaN(t *testing.T) {
	pair := func(name string) op {
		return op{name: name, ins: arrays{"a": vec(nan, 1, 1, -inf), "b": vec(1, nan, 2, inf)}}
	}
	near(t, "maximum", pair("maximum").run(t)["y"], nan, nan, 2, inf)
	near(t, "minimum", pair("minimum").run(t)["y"], nan, nan, 1, -inf)
}

func TestMaskZeroDropsAnything(t *testing.T) {
	o := op{name: "mask_zero", ins: arrays{
		"y": mat([]int{1, 3, 1}, nan, inf, 5), "mask": mat([]int{1, 3}, 0, 0, 255),
	}}
	near(t, "z", o.run(t)["z"], 0, 0, 5)
	near(t, "d_y", o.back(t, arrays{"z": mat([]int{1, 3, 1}, nan, 1, 2)})["y"], 0, 0, 2)
}
