package msl_test

import (
	"context"
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// pointwise is a kernel that computes f of each pair of x and y.
func pointwise(symbol string, in, out expr.DType, f func(x, y ir.Expr) ir.Expr) *ir.Func {
	x := &ir.Buffer{Name: "x", Slot: 0, Type: in}
	y := &ir.Buffer{Name: "y", Slot: 1, Type: in}
	z := &ir.Buffer{Name: "z", Slot: 2, Type: out, Write: true}
	i := &ir.Here{ID: ir.Thread}
	return &ir.Func{
		Symbol: symbol, SIMT: true, Threads: 1024, Buffers: []*ir.Buffer{x, y, z},
		Body: []ir.Stmt{&ir.Store{B: z, Off: i, X: f(&ir.Load{B: x, Off: i}, &ir.Load{B: y, Off: i})}},
	}
}

func call1(fn expr.Fn) func(x, y ir.Expr) ir.Expr {
	return func(x, _ ir.Expr) ir.Expr { return &ir.Call{Fn: fn, Args: []ir.Expr{x}, T: ir.Scalar(ir.F32)} }
}

func call2(fn expr.Fn) func(x, y ir.Expr) ir.Expr {
	return func(x, y ir.Expr) ir.Expr {
		return &ir.Call{Fn: fn, Args: []ir.Expr{x, y}, T: ir.Scalar(ir.F32)}
	}
}

// values cover signs, sizes and special cases of f32.
var values = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, -2.5, 1e-8, -1e-8, 1e-4, -1e-4, 0.3, -0.3, 0.9, -0.9, 1.2, 4, 9.5,
	-9.5, 10.5, -10.5, 20, -20, 50, -50, 87, -87, 89, -89, 104, -104, 1e4, 1e10, -1e10, 3e38, -3e38, 1e-30, inf, -inf, nan, 7, -7, 16777217,
}

// pairs are all pairs of values, as many as a group has threads.
func pairs() (xs, ys []float64) {
	for _, x := range values {
		for _, y := range values {
			xs, ys = append(xs, float64(float32(x))), append(ys, float64(float32(y)))
		}
	}
	return xs, ys
}

// TestIntrinsics compares what the prelude computes with float64.
func TestIntrinsics(t *testing.T) {
	fns := []struct {
		name string
		f    func(x, y ir.Expr) ir.Expr
		want func(x, y float64) float64
	}{
		{"erf", call1(expr.FnErf), func(x, _ float64) float64 { return math.Erf(x) }},
		{"log1p", call1(expr.FnLog1p), func(x, _ float64) float64 { return math.Log1p(x) }},
		{"expm1", call1(expr.FnExpm1), func(x, _ float64) float64 { return math.Expm1(x) }},
		{"tanh", call1(expr.FnTanh), func(x, _ float64) float64 { return math.Tanh(x) }},
		{"sigmoid", call1(expr.FnSigmoid), func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"exp", call1(expr.FnExp), func(x, _ float64) float64 { return math.Exp(x) }},
		{"log", call1(expr.FnLog), func(x, _ float64) float64 { return math.Log(x) }},
		{"sqrt", call1(expr.FnSqrt), func(x, _ float64) float64 { return math.Sqrt(x) }},
		{"rsqrt", call1(expr.FnRsqrt), func(x, _ float64) float64 { return 1 / math.Sqrt(x) }},
		{"abs", call1(expr.FnAbs), func(x, _ float64) float64 { return math.Abs(x) }},
		{"floor", call1(expr.FnFloor), func(x, _ float64) float64 { return math.Floor(x) }},
		{"ceil", call1(expr.FnCeil), func(x, _ float64) float64 { return math.Ceil(x) }},
		{"round", call1(expr.FnRound), func(x, _ float64) float64 { return math.RoundToEven(x) }},
		{"sign", call1(expr.FnSign), sign},
		{"max", call2(expr.FnMax), orNaN(math.Max)},
		{"min", call2(expr.FnMin), orNaN(math.Min)},
		{"pow", call2(expr.FnPow), math.Pow},
	}
	var kernels []*ir.Func
	for _, fn := range fns {
		kernels = append(kernels, pointwise("test_"+fn.name, expr.F32, expr.F32, fn.f))
	}
	text := emit(t, "specs/test/intrinsics.toml", kernels)
	accepted(t, "intrinsics", text)
	program := build(t, "intrinsics.metal", text, sim.Address|sim.Undefined)
	xs, ys := pairs()
	for _, fn := range fns {
		got := launchPointwise(t, program, "test_"+fn.name, expr.F32, expr.F32, xs, ys)
		bad := 0
		for i, x := range xs {
			w := float64(float32(fn.want(x, ys[i])))
			if !close32(got[i], w) && bad < 5 {
				bad++
				t.Errorf("%s(%v, %v) = %v, want %v", fn.name, x, ys[i], got[i], w)
			}
		}
	}
}

// orNaN is f, but NaN if either side is.
func orNaN(f func(x, y float64) float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if math.IsNaN(x) || math.IsNaN(y) {
			return nan
		}
		return f(x, y)
	}
}

func sign(x, _ float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// close32 reports whether got is want to about 16 ulp; results below the normal
// range of f32 may be flushed to zero.
func close32(got, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= 2e-6*math.Abs(want)+1.2e-38
}

// launchPointwise runs a kernel of pointwise on all pairs, padded to groups.
func launchPointwise(t *testing.T, program *sim.Program, kernel string, in, out expr.DType, xs, ys []float64) []float64 {
	t.Helper()
	var results []float64
	for from := 0; from < len(xs); from += 1024 {
		to := min(from+1024, len(xs))
		n := to - from
		r, err := program.Run(context.Background(), sim.Job{Kernel: kernel, Grid: [3]int{1, 1, 1}, Group: [3]int{n, 1, 1}, Buffers: []sim.Buffer{
			{Index: 0, Data: oracle.Encode(in, xs[from:to])},
			{Index: 1, Data: oracle.Encode(in, ys[from:to])},
			{Index: 2, Data: make([]byte, n*out.Bytes()), Writable: true},
			{Index: 4, Data: make([]byte, faultBytes), Writable: true},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		results = append(results, oracle.Decode(out, r.Buffers[2])...)
	}
	return results
}

// TestIntegers compares integer operators and conversions with the language's
// rules.
func TestIntegers(t *testing.T) {
	ints := []float64{0, 1, -1, 2, -2, 3, -3, 7, -7, 100, -100, math.MaxInt32, math.MinInt32, math.MinInt32 + 1}
	op := func(op ir.Op) func(x, y ir.Expr) ir.Expr {
		return func(x, y ir.Expr) ir.Expr { return &ir.Bin{Op: op, X: x, Y: y} }
	}
	fns := []struct {
		name string
		f    func(x, y ir.Expr) ir.Expr
		want func(x, y int32) int32
	}{
		{"div", op(ir.Div), floorDiv},
		{"rem", op(ir.Rem), func(x, y int32) int32 {
			if y == 0 {
				return 0
			}
			return x - floorDiv(x, y)*y
		}},
	}
	var kernels []*ir.Func
	for _, fn := range fns {
		kernels = append(kernels, pointwise("test_"+fn.name, expr.I32, expr.I32, fn.f))
	}
	kernels = append(kernels, pointwise("test_int", expr.F32, expr.I32, func(x, _ ir.Expr) ir.Expr {
		return &ir.Conv{T: ir.Scalar(ir.I32), X: x}
	}))
	text := emit(t, "specs/test/integers.toml", kernels)
	accepted(t, "integers", text)
	program := build(t, "integers.metal", text, sim.Address|sim.Undefined)
	var xs, ys []float64
	for _, x := range ints {
		for _, y := range ints {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	for _, fn := range fns {
		got := launchPointwise(t, program, "test_"+fn.name, expr.I32, expr.I32, xs, ys)
		for i := range xs {
			if w := fn.want(int32(xs[i]), int32(ys[i])); int32(got[i]) != w {
				t.Errorf("%s(%v, %v) = %v, want %v", fn.name, xs[i], ys[i], got[i], w)
			}
		}
	}
	floats := []float64{0.9, -0.9, 1.5, -1.5, 2147483520, 2147483648, -2147483648, 3e9, -3e9, inf, -inf, nan}
	ends := []float64{0, 0, 1, -1, 2147483520, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32, 0}
	got := launchPointwise(t, program, "test_int", expr.F32, expr.I32, floats, floats)
	for i, x := range floats {
		if got[i] != ends[i] {
			t.Errorf("int of %v is %v, want %v", x, got[i], ends[i])
		}
	}
}

func floorDiv(x, y int32) int32 {
	if y == 0 {
		return 0
	}
	return int32(math.Floor(float64(x) / float64(y)))
}

// TestPhilox compares the random words with the reference's.
func TestPhilox(t *testing.T) {
	const seed = 0x0123456789abcdef
	x := &ir.Buffer{Name: "x", Slot: 0, Type: expr.I32}
	z := &ir.Buffer{Name: "z", Slot: 1, Type: expr.F32, Write: true}
	i := &ir.Here{ID: ir.Thread}
	counter := &ir.Conv{T: ir.Scalar(ir.U64), X: &ir.Load{B: x, Off: i}}
	word := &ir.Call{Fn: expr.FnPhilox, Args: []ir.Expr{&ir.Lit{T: ir.Scalar(ir.U64), I: seed}, counter}, T: ir.Scalar(ir.U32)}
	f := &ir.Func{
		Symbol: "test_philox", SIMT: true, Threads: 64, Buffers: []*ir.Buffer{x, z},
		Body: []ir.Stmt{&ir.Store{B: z, Off: i, X: &ir.Call{Fn: expr.FnUniform, Args: []ir.Expr{word}, T: ir.Scalar(ir.F32)}}},
	}
	text := emit(t, "specs/test/philox.toml", []*ir.Func{f})
	accepted(t, "philox", text)
	program := build(t, "philox.metal", text, sim.Address|sim.Undefined)
	counters := []float64{0, 1, 2, 1000, math.MaxInt32, -1}
	r, err := program.Run(context.Background(), sim.Job{Kernel: "test_philox", Grid: [3]int{1, 1, 1}, Group: [3]int{len(counters), 1, 1}, Buffers: []sim.Buffer{
		{Index: 0, Data: oracle.Encode(expr.I32, counters)},
		{Index: 1, Data: make([]byte, 4*len(counters)), Writable: true},
		{Index: 3, Data: make([]byte, faultBytes), Writable: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := oracle.Decode(expr.F32, r.Buffers[1])
	for i, c := range counters {
		n := uint64(int64(c))
		word := oracle.Philox([4]uint32{uint32(n), uint32(n >> 32)}, [2]uint32{seed & 0xffffffff, seed >> 32})[0]
		if want := float64(word>>8) * 0x1p-24; got[i] != want {
			t.Errorf("counter %v gives %v, want %v", c, got[i], want)
		}
	}
}
