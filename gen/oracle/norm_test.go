package oracle_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

func layernorm(eps float64, gamma, beta float64, x ...float64) op {
	return op{
		name:   "layernorm",
		ins:    arrays{"x": vec(x...), "gamma": vec(repeat(gamma, len(x))...), "beta": vec(repeat(beta, len(x))...)},
		params: map[string]oracle.Value{"eps": oracle.Float(eps)},
	}
}

func ramp(base float64) []float64 {
	x := make([]float64, 16)
	for i := range x {
		x[i] = float64(float32(base + float64(i)*0.001))
	}
	return x
}

func TestLayerNormVariance(t *testing.T) {
	r := layernorm(1e-5, 1, 0, 40000, 40001, 40002, 40003).run(t)
	within(t, "y", 1e-8, r["y"], -1.34163542, -0.44721181, 0.44721181, 1.34163542)
	near(t, "mean", r["mean"], 40001.5)
	within(t, "rstd", 1e-5, r["rstd"], 0.894427191)

	for base, want := range map[float64][2]float64{
		10000: {-1.33133335, 1.33133335}, 100: {-1.34152771, 1.34135713}, 1000: {-1.34150776, 1.34423718},
	} {
		y := layernorm(1e-5, 1, 0, ramp(base)...).run(t)["y"]
		within(t, "ends", 1e-8, vec(y.Data[0], y.Data[15]), want[0], want[1])
	}
	y := layernorm(1e-5, 1, 0, 1e30, 2e30, 3e30, 4e30).run(t)["y"]
	within(t, "y at 1e30", 1e-6, y, -1.3416408, -0.4472136, 0.4472135, 1.3416408)
}

func TestNormOfConstantRows(t *testing.T) {
	near(t, "constant row", layernorm(1e-10, 3, 0.5, repeat(-15.94, 8)...).run(t)["y"], repeat(0.5, 8)...)
	near(t, "width 1", layernorm(0.1, 1e10, -1, -3).run(t)["y"], -1)

	zero := op{name: "rmsnorm", ins: arrays{"x": vec(0, 0, 0), "gamma": vec(1, 2, 3)}}
	near(t, "zero row", zero.run(t)["y"], 0, 0, 0)
	within(t, "d_x of a zero row", 1e-7, zero.back(t, arrays{"y": vec(1, 1, 1)})["x"], 316.22777, 632.45553, 948.68330)

	rms := op{
		name: "rmsnorm", ins: arrays{"x": vec(3, 4), "gamma": vec(1, 1)},
		params: map[string]oracle.Value{"eps": oracle.Float(0)},
	}
	within(t, "rmsnorm", 1e-8, rms.run(t)["y"], 0.84852814, 1.13137085)
}

func TestNormInF16(t *testing.T) {
	x, one := vec(repeat(300, 1024)...), vec(repeat(1, 1024)...)
	ln := op{name: "layernorm", ins: arrays{"x": x, "gamma": one, "beta": vec(repeat(0.25, 1024)...)}, round: true, dtype: expr.F16}
	near(t, "layernorm", ln.run(t)["y"], repeat(0.25, 1024)...)
	rms := op{name: "rmsnorm", ins: arrays{"x": x, "gamma": one}, round: true, dtype: expr.F16}
	near(t, "rmsnorm", rms.run(t)["y"], repeat(1, 1024)...)
}

func TestL2Normalize(t *testing.T) {
	l2 := func(x ...float64) op { return op{name: "l2_normalize", ins: arrays{"x": vec(x...)}} }
	near(t, "y", l2(3, 4).run(t)["y"], 0.6, 0.8)
	near(t, "zero row", l2(0, 0).run(t)["y"], 0, 0)
	near(t, "d_x of a zero row", l2(0, 0).back(t, arrays{"y": vec(1, 2)})["x"], 1e12, 2e12)
	near(t, "below eps", l2(3e-13, 4e-13).run(t)["y"], 0.3, 0.4)
	near(t, "NaN", l2(nan, 1).run(t)["y"], nan, nan)
}

// row returns x with n - len(x) copies of pad behind it.
func row(n int, pad float64, x ...float64) []float64 {
	return append(append([]float64{}, x...), repeat(pad, n-len(x))...)
}

func TestSoftmaxOfMaskedRows(t *testing.T) {
	rows := [][]float64{{-inf, -inf, -inf}, {-inf, 0, -inf}, {0, -inf, 0}, {1000, 1000, -inf}, {inf, 0, 0}}
	want := [][]float64{{0, 0, 0}, {0, 1, 0}, {.5, 0, .5}, {.5, .5, 0}, {nan, nan, nan}}
	grad := [][]float64{{0, 0, 0}, {0, 0, 0}, {-.5, 0, .5}, {-.25, .25, 0}, {nan, nan, nan}}
	for _, width := range []int{3, 1025} {
		var x, dy, y, dx []float64
		for i := range rows {
			behind := 0.0
			if i == 4 {
				behind = nan
			}
			x = append(x, row(width, -inf, rows[i]...)...)
			dy = append(dy, row(width, 1, 1, 2, 3)...)
			y = append(y, row(width, behind, want[i]...)...)
			dx = append(dx, row(width, behind, grad[i]...)...)
		}
		o := op{name: "softmax", ins: arrays{"x": mat([]int{5, width}, x...)}}
		near(t, "y", o.run(t)["y"], y...)
		near(t, "d_x", o.back(t, arrays{"y": mat([]int{5, width}, dy...)})["x"], dx...)
	}
}

func TestLogSoftmaxOfMaskedRows(t *testing.T) {
	o := op{name: "log_softmax", ins: arrays{"x": mat([]int{2, 2}, -inf, -inf, 0, -inf)}}
	near(t, "y", o.run(t)["y"], -inf, -inf, 0, -inf)
	near(t, "d_x", o.back(t, arrays{"y": mat([]int{2, 2}, 0, 0, 1, 0)})["x"], 0, 0, 0, 0)
}
