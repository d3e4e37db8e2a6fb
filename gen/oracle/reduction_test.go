package oracle_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
)

func TestReductionsInF16(t *testing.T) {
	half := func(name string, x ...float64) op {
		return op{name: name, ins: arrays{"x": vec(x...)}, dtype: expr.F16, round: true}
	}
	ones := repeat(1, 4096)
	for _, name := range []string{"sum", "row_sum"} {
		near(t, name, half(name, ones...).run(t)["y"], 4096)
		balanced := append(repeat(32000, 4), repeat(-32000, 4)...)
		near(t, name, half(name, balanced...).run(t)["y"], 0)
	}
	for _, name := range []string{"mean", "row_mean"} {
		near(t, name, half(name, ones...).run(t)["y"], 1)
		near(t, name, half(name, repeat(60000, 4)...).run(t)["y"], 60000)
	}
	near(t, "softmax", half("softmax", ones...).run(t)["y"], repeat(1.0/4096, 4096)...)
	product := op{name: "matmul", ins: arrays{
		"a": mat([]int{1, 4096}, ones...), "b": mat([]int{4096, 1}, ones...),
	}, dtype: expr.F16, round: true}
	near(t, "matmul", product.run(t)["c"], 4096)
}

func TestNaNWinsReductions(t *testing.T) {
	rows := [][]float64{{3, nan, 1, 5}, {nan, 1, 2}, {1, 2, nan}, {inf, nan, -inf}}
	for i, at := range []float64{1, 0, 2, 1} {
		for _, x := range [][]float64{rows[i], row(1025, 4, rows[i]...)} {
			near(t, "max", of("max", x...).run(t)["y"], nan)
			near(t, "row_max", of("row_max", x...).run(t)["y"], nan)
			near(t, "argmax", of("argmax", x...).run(t)["index"], at)
		}
	}
	near(t, "argmax of equals", of("argmax", 1, 7, 7).run(t)["index"], 1)
	near(t, "argmax of -inf", of("argmax", -inf, -inf).run(t)["index"], 0)
	near(t, "count_nonfinite", of("count_nonfinite", nan, 1, inf, -inf, 0).run(t)["y"], 3)
}

func TestReductionsOverNothing(t *testing.T) {
	empty := func(name string) op { return op{name: name, ins: arrays{"x": mat([]int{2, 0})}} }
	near(t, "row_sum", empty("row_sum").run(t)["y"], 0, 0)
	near(t, "row_mean", empty("row_mean").run(t)["y"], 0, 0)
	near(t, "row_max", empty("row_max").run(t)["y"], -inf, -inf)
	near(t, "argmax", empty("argmax").run(t)["index"], 0, 0)
	near(t, "sum", empty("sum").run(t)["y"], 0)
	near(t, "mean", empty("mean").run(t)["y"], 0)
	near(t, "max", empty("max").run(t)["y"], -inf)
}

func TestMaskedMean(t *testing.T) {
	masked := func(x, mask []float64) op {
		return op{name: "masked_mean", ins: arrays{
			"x": mat([]int{1, len(x), 1}, x...), "mask": mat([]int{1, len(x)}, mask...),
		}}
	}
	none := masked([]float64{1, 2, 3}, []float64{0, 0, 0})
	some := masked([]float64{1, nan, 3}, []float64{1, 0, 1})
	near(t, "empty mask", none.run(t)["y"], 0)
	near(t, "NaN outside", some.run(t)["y"], 2)
	near(t, "inf outside", masked([]float64{1, inf, 3}, []float64{1, 0, 1}).run(t)["y"], 2)
	big := masked(repeat(60000, 4), repeat(1, 4))
	big.dtype = expr.F16
	near(t, "f16", big.run(t)["y"], 60000)
	dy := arrays{"y": mat([]int{1, 1}, 1)}
	near(t, "d_x of an empty mask", none.back(t, dy)["x"], 0, 0, 0)
	near(t, "d_x", some.back(t, dy)["x"], 0.5, 0, 0.5)
}
