package oracle_test

import (
	"errors"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

func lookup(v, d int, ids ...float64) op {
	table := oracle.NewArray(v, d)
	for i := range table.Data {
		table.Data[i] = float64(i)
	}
	return op{name: "embedding", ins: arrays{"ids": vec(ids...), "W": table}}
}

func TestEmbeddingBounds(t *testing.T) {
	near(t, "y", lookup(5, 3, 0, 4).run(t)["y"], 0, 1, 2, 12, 13, 14)
	for _, id := range []float64{5, 6, -1, -2147483648} {
		err := lookup(5, 3, 2, id).fails(t)
		var fault *oracle.BoundsError
		if !errors.As(err, &fault) || fault.Pos != 1 || fault.Value != int64(id) || fault.Bound != 5 {
			t.Errorf("id %v: %v", id, err)
		}
	}
}

func TestEmbeddingBackwardOfRepeatedIDs(t *testing.T) {
	dy := func(n, d int) arrays { return arrays{"y": mat([]int{n, d}, repeat(1, n*d)...)} }
	near(t, "d_W", lookup(4, 2, 2, 2, 2, 0).back(t, dy(4, 2))["W"], 1, 1, 0, 0, 3, 3, 0, 0)
	near(t, "no ids", lookup(2, 2).back(t, arrays{"y": mat([]int{0, 2})})["W"], 0, 0, 0, 0)
	many := lookup(4, 2, repeat(1, 4096)...)
	many.dtype, many.round = expr.F16, true
	near(t, "d_W in f16", many.back(t, dy(4096, 2))["W"], 0, 0, 4096, 4096, 0, 0, 0, 0)
}

// windows is im2col of one sequence of one channel.
func windows(x []float64, taps int, stride, padLeft, padRight int64) op {
	return op{
		name: "im2col", ins: arrays{"x": mat([]int{1, len(x), 1}, x...)}, free: map[string][]int{"K": {taps}},
		params: map[string]oracle.Value{
			"stride": oracle.Int(stride), "pad_left": oracle.Int(padLeft), "pad_right": oracle.Int(padRight),
		},
	}
}

// times gives the matrix product of the rows of cols with w.
func times(t *testing.T, cols oracle.Array, w ...float64) oracle.Array {
	t.Helper()
	o := op{name: "matmul", ins: arrays{"a": cols, "b": mat([]int{len(w), 1}, w...)}}
	return o.run(t)["c"]
}

func TestConvolutionByColumns(t *testing.T) {
	a := windows([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 3, 2, 0, 0).run(t)["cols"]
	near(t, "stride 2", times(t, a, 1, 10, 100), 321, 543, 765)
	b := windows([]float64{1, 2, 3, 4}, 1, 2, 1, 1).run(t)["cols"]
	near(t, "one tap", times(t, b, 10), 0, 20, 40)

	back := windows([]float64{1, 2, 3, 4, 5, 6}, 3, 2, 1, 1)
	cols := back.run(t)["cols"]
	dy := mat([]int{1, 3, 1}, 1, 10, 100)
	dw := op{name: "matmul", choices: []string{"ta", "t"}, ins: arrays{"a": cols, "b": dy}}.run(t)["c"]
	near(t, "dw", dw, 420, 531, 642)
	dcols := op{name: "matmul", ins: arrays{"a": dy, "b": mat([]int{1, 1, 3}, 1, 10, 100)}}.run(t)["c"]
	near(t, "dx", back.back(t, arrays{"cols": dcols})["x"], 10, 110, 100, 1100, 1000, 10000)
}

func TestWindowLargerThanSequence(t *testing.T) {
	err := windows([]float64{1, 2}, 3, 1, 0, 0).fails(t)
	var require *oracle.RequireError
	if !errors.As(err, &require) || require.Name != "window" {
		t.Errorf("%v", err)
	}
}

func TestZeroSizes(t *testing.T) {
	none := mat([]int{0})
	near(t, "add", op{name: "add", ins: arrays{"a": none, "b": none}}.run(t)["y"])
	width0 := op{name: "layernorm", ins: arrays{"x": mat([]int{4, 0}), "gamma": none, "beta": none}}.run(t)
	near(t, "layernorm of width 0", width0["y"])
	rows0 := op{name: "layernorm", ins: arrays{"x": mat([]int{0, 2}), "gamma": vec(1, 1), "beta": vec(0, 0)}}
	near(t, "layernorm of no rows", rows0.run(t)["y"])
	near(t, "its d_gamma", rows0.back(t, arrays{"y": mat([]int{0, 2})})["gamma"], 0, 0)
	near(t, "softmax", op{name: "softmax", ins: arrays{"x": mat([]int{3, 0})}}.run(t)["y"])
	near(t, "embedding", lookup(3, 2).run(t)["y"])
}

func TestProductOverNothing(t *testing.T) {
	a, b, bias := mat([]int{2, 0}), mat([]int{0, 3}), vec(1, -1, 0)
	near(t, "matmul", op{name: "matmul", ins: arrays{"a": a, "b": b}}.run(t)["c"], make([]float64, 6)...)
	with := arrays{"a": a, "b": b, "bias": bias}
	near(t, "bias", op{name: "matmul_bias", ins: with}.run(t)["c"], 1, -1, 0, 1, -1, 0)
	within(t, "GELU", 1e-7, op{name: "matmul_bias_gelu_erf", ins: with}.run(t)["c"],
		0.84134475, -0.15865525, 0, 0.84134475, -0.15865525, 0)
	for _, shape := range [][2]int{{0, 3}, {2, 0}} {
		c := op{name: "matmul", ins: arrays{"a": oracle.NewArray(shape[0], 4), "b": oracle.NewArray(4, shape[1])}}.run(t)["c"]
		near(t, "empty result", c)
	}
}
