package oracle_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/spec"
)

// TestPhilox uses the known answers that the authors of Random123 publish.
func TestPhilox(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := oracle.Philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestDropout(t *testing.T) {
	const n = 4096
	drop := func(seed, offset uint64, x []float64) []float64 {
		o := op{
			name: "dropout", ins: arrays{"x": vec(x...)},
			params: map[string]oracle.Value{"p": oracle.Float(0.25), "seed": oracle.Uint(seed), "offset": oracle.Uint(offset)},
		}
		y := o.run(t)["y"]
		near(t, "d_x", o.back(t, arrays{"y": vec(x...)})["x"], y.Data...)
		return y.Data
	}
	y := drop(7, 1<<40, repeat(3, n))
	kept := 0
	for i, v := range y {
		switch v {
		case 4:
			kept++
		case 0:
		default:
			t.Fatalf("y[%d] = %v, want 0 or 4", i, v)
		}
	}
	if kept < n*70/100 || kept > n*80/100 {
		t.Errorf("%d of %d kept at p = 0.25", kept, n)
	}
	if z := drop(7, 1<<40+100, repeat(3, n-100)); !slices.Equal(z, y[100:]) {
		t.Error("an offset does not go on in the same stream")
	}
	if slices.Equal(drop(8, 1<<40, repeat(3, n)), y) {
		t.Error("another seed gives the same mask")
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		v    float64
		t    expr.DType
		want float64
	}{
		{1 + 0x1p-11, expr.F16, 1}, {1 + 3*0x1p-11, expr.F16, 1 + 0x1p-9}, {65519, expr.F16, 65504},
		{65520, expr.F16, inf}, {-65520, expr.F16, -inf}, {0x1p-24, expr.F16, 0x1p-24}, {0x1p-25, expr.F16, 0},
		{3 * 0x1p-25, expr.F16, 0x1p-23}, {1 + 0x1p-8, expr.BF16, 1}, {1 + 3*0x1p-8, expr.BF16, 1 + 0x1p-6},
		{0.1, expr.F32, float64(float32(0.1))}, {1e39, expr.BF16, inf}, {257, expr.U8, 1}, {-1, expr.I32, -1},
		{nan, expr.F16, nan}, {-inf, expr.BF16, -inf},
	} {
		if got := oracle.Round(c.v, c.t); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Round(%v, %v) = %v, want %v", c.v, c.t, got, c.want)
		}
	}
}

// TestRoundBF16 compares with rounding by the bits of f32.
func TestRoundBF16(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		b := rng.Uint32()
		v := math.Float32frombits(b)
		if v != v || b&0x7f800000 == 0x7f800000 {
			continue
		}
		want := math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
		if got := oracle.Round(float64(v), expr.BF16); got != float64(want) {
			t.Fatalf("Round(%v) = %v, want %v", v, got, want)
		}
	}
}

// TestShapeErrors wants every mismatch to name op, tensor, axis and sizes.
func TestShapeErrors(t *testing.T) {
	for _, c := range []struct {
		o    op
		want string
	}{
		{op{name: "layernorm", ins: arrays{"x": oracle.NewArray(2, 256), "gamma": oracle.NewArray(255), "beta": oracle.NewArray(256)}},
			"layernorm: axis D of gamma is 255, of x it is 256"},
		{op{name: "add_broadcast_2d_3d", ins: arrays{"y": oracle.NewArray(2, 3), "a": oracle.NewArray(2, 3)}},
			"add_broadcast_2d_3d: y has 2 dimensions, want [B L D]"},
		{op{name: "add", ins: arrays{"a": oracle.NewArray(2, 3), "b": oracle.NewArray(2)}}, "add: "},
		{op{name: "residual_add", ins: arrays{"y": oracle.NewArray(2, 3), "x": oracle.NewArray(3, 2)}},
			"residual_add: axes P... of x are [3 2], of y they are [2 3]"},
		{op{name: "fill"}, "fill: the extent of axis P is not given"},
	} {
		if err := c.o.fails(t); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.o.name, err, c.want)
		}
	}
}

func TestBatchedProductShapes(t *testing.T) {
	for _, c := range []struct{ a, b, want []int }{
		{[]int{5, 3, 4}, []int{5, 4, 2}, []int{5, 3, 2}}, // a batch of matrices
		{[]int{5, 3, 4}, []int{4, 2}, []int{5, 3, 2}},    // more rows
		{[]int{4}, []int{4, 2}, []int{2}},                // one row
	} {
		o := op{name: "matmul", ins: arrays{"a": oracle.NewArray(c.a...), "b": oracle.NewArray(c.b...)}}
		if got := o.run(t)["c"].Shape; !slices.Equal(got, c.want) {
			t.Errorf("%v times %v has shape %v, want %v", c.a, c.b, got, c.want)
		}
	}
	o := op{name: "matmul", ins: arrays{"a": oracle.NewArray(4, 3, 4), "b": oracle.NewArray(5, 4, 2)}}
	o.fails(t)
}

// runText runs a spec given as text on one input.
func runText(t *testing.T, text string, x oracle.Array, params ...oracle.Value) oracle.Array {
	t.Helper()
	set, list := spec.ParseSet("specs/g/op.toml", []byte(text))
	specs, more := expr.Check(set)
	if list = append(list, more...); len(list) > 0 {
		t.Fatal(list.Err())
	}
	res, err := oracle.Run(specs[0].Instances[0], oracle.Call{Ins: []oracle.Array{x}, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return res.Outs[0]
}

const textHead = `
doc = "A test."
dtypes = ["f32"]
[in.x]
shape = "D"
[out.y]
shape = "D"
expr = `

func TestExpressions(t *testing.T) {
	x := vec(2, nan, -1.5)
	for expression, want := range map[string][]float64{
		"where(isnan(x), 0, x)":                     {2, 0, -1.5},
		"floor(x) + ceil(x)":                        {4, nan, -3},
		"round(x * 1.25)":                           {2, nan, -2},
		"sign(x) * abs(x)":                          {2, nan, -1.5},
		"fma(x, x, 1.0)":                            {5, nan, 3.25},
		"f32((D - 2) / 2 * 10 + (D - 2) % 2)":       {-10, -9, 0},
		"f32(i32(where(isnan(x), 1e20, x * 2)))":    {4, math.MaxInt32, -3},
		"f32(i32(x))":                               {2, 0, -1},
		"f16(where(isnan(x), 65536, x + 0.0001))":   {2, inf, -1.5},
		"min(max(x, -1), 1)":                        {1, nan, -1},
		"where(D > 0 && !isnan(x) || D == 0, 1, 0)": {1, 0, 1},
		"where(isinf(x / 0), 1, 0)":                 {1, 0, 1},
		"f32(min(D, 1) + max(size(D), 2)*D)":        {0, 4, 7},
		"log1p(expm1(sqrt(x * x)))":                 {2, nan, 1.5},
		"rsqrt(x * x) * pow(x, 2.0)":                {2, nan, 1.5},
	} {
		near(t, expression, runText(t, textHead+`"`+expression+`"`, x), want...)
	}
}

func TestReductions(t *testing.T) {
	head := strings.Replace(textHead, "[out.y]\nshape = \"D\"", "[out.y]\nshape = \"\"\nover = \"D\"\nreduce = \"OP\"", 1)
	for reduce, want := range map[string]float64{"prod": -24, "min": -3, "max": 4, "sum": 3, "mean": 1, "argmin": 1} {
		text := strings.Replace(head, "OP", reduce, 1) + `"x"`
		if reduce == "argmin" {
			text = strings.Replace(text, "[out.y]", "[out.y]\ntype = \"i32\"", 1)
		}
		near(t, reduce, runText(t, text, vec(2, -3, 4)), want)
	}
	for reduce, want := range map[string]float64{"any": 1, "all": 0} {
		text := strings.Replace(head, "[out.y]", "[let.b]\nover = \"D\"\nreduce = \""+reduce+"\"\nexpr = \"x > 3\"\n[out.y]", 1)
		text = strings.Replace(text, "over = \"D\"\nreduce = \"OP\"\n", "", 1) + `"where(b, 1, 0)"`
		near(t, reduce, runText(t, text, vec(2, -3, 4)), want)
	}
}
