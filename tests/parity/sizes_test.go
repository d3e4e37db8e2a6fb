package parity_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/runtime"
)

// sizes are extents around those of vectors, tiles and blocks.
var sizes = []int{0, 1, 2, 3, 31, 32, 33, 255, 257, 1025, 4097}

// longRow is longer than the blocks in which sums run, and odd.
const longRow = 100003

// sized is a function with shapes that depend on one extent.
type sized struct {
	spec   string
	choice string
	shapes func(n int) [][]int // of the inputs
	free   func(n int) [][]int
	params []any
	long   bool // the shapes make rows: run longRow, too
	linear bool // results and gradients are sums of products of inputs
	abs    bool // inputs are not negative
}

// shapes that many functions share
func flat(tensors int) func(int) [][]int {
	return func(n int) [][]int { return slices.Repeat([][]int{{n}}, tensors) }
}

func wide(n int) [][]int { return [][]int{{3, n}} }
func tall(n int) [][]int { return [][]int{{n, 3}} }

func firstSlice() []sized {
	adam := func(n int) [][]int { return [][]int{{n}, {}, {}, {}, {}, {n}, {n}, {n}} }
	list := []sized{
		{spec: "scale", shapes: flat(1), params: []any{f32(-1.25)}, linear: true, long: true},
		{spec: "residual_add", shapes: flat(2), long: true},
		{spec: "bias_add", shapes: func(n int) [][]int { return [][]int{{3, n}, {n}} }, linear: true, long: true},
		{spec: "bias_add", shapes: func(n int) [][]int { return [][]int{{n, 3}, {3}} }, linear: true, long: true},
		{spec: "add_broadcast_2d_3d", shapes: func(n int) [][]int { return [][]int{{2, 3, n}, {2, n}} }, linear: true, long: true},
		{spec: "add_broadcast_2d_3d", shapes: func(n int) [][]int { return [][]int{{2, n, 3}, {2, 3}} }, linear: true},
		{spec: "mask_zero", shapes: func(n int) [][]int { return [][]int{{2, 3, n}, {2, 3}} }},
		{spec: "mask_zero", shapes: func(n int) [][]int { return [][]int{{2, n, 3}, {2, n}} }},
		{spec: "gelu", shapes: flat(1), long: true}, {spec: "relu", shapes: flat(1), long: true},
		{spec: "tanh", shapes: flat(1), long: true}, {spec: "sigmoid", shapes: flat(1), long: true},
		{spec: "softmax", shapes: wide, long: true}, {spec: "softmax", shapes: tall},
		{spec: "layernorm", shapes: func(n int) [][]int { return [][]int{{3, n}, {n}, {n}} }, params: []any{f32(1e-5)}, long: true},
		{spec: "layernorm", shapes: func(n int) [][]int { return [][]int{{n, 3}, {3}, {3}} }, params: []any{f32(1e-5)}},
		{spec: "cross_entropy", shapes: func(n int) [][]int { return [][]int{{3, n}, {3}} }, params: []any{int32(-100), f32(0.125)}, long: true},
		{spec: "cross_entropy", shapes: func(n int) [][]int { return [][]int{{n, 5}, {n}} }, params: []any{int32(-100), f32(0)}},
		{spec: "row_sum", shapes: wide, linear: true, long: true}, {spec: "row_sum", shapes: tall, linear: true},
		{spec: "argmax", shapes: wide, long: true}, {spec: "argmax", shapes: tall},
		{spec: "masked_mean", shapes: func(n int) [][]int { return [][]int{{2, 3, n}, {2, 3}} }, linear: true},
		{spec: "masked_mean", shapes: func(n int) [][]int { return [][]int{{2, n, 3}, {2, n}} }, linear: true, long: true},
		{spec: "sum", shapes: flat(1), linear: true, long: true}, {spec: "mean", shapes: flat(1), linear: true, long: true},
		{spec: "bias_grad", shapes: wide, linear: true}, {spec: "bias_grad", shapes: tall, linear: true, long: true},
		{spec: "embedding", shapes: func(n int) [][]int { return [][]int{{n}, {7, 3}} }, linear: true, long: true},
		{spec: "embedding", shapes: func(n int) [][]int { return [][]int{{min(5, 5*n)}, {n, 3}} }, linear: true},
		{spec: "embedding", shapes: func(n int) [][]int { return [][]int{{5}, {4, n}} }, linear: true},
		{spec: "adamw", choice: "shadow=with", shapes: adam, params: []any{f32(0.01), f32(0.9), f32(0.999), f32(1e-8), f32(0.1)}, abs: true},
		{spec: "adamw", choice: "shadow=without", shapes: adam, params: []any{f32(0.01), f32(0.9), f32(0.999), f32(1e-8), f32(0.1)}, abs: true},
		{spec: "fill", free: flat(1), params: []any{f32(2.25)}},
		{spec: "cast", shapes: flat(1), long: true},
	}
	for _, spec := range []string{"add", "sub", "mul"} {
		list = append(list,
			sized{spec: spec, shapes: flat(2), linear: true, long: true},
			sized{spec: spec, shapes: func(n int) [][]int { return [][]int{{3, n}, {n}} }, linear: true},
			sized{spec: spec, shapes: func(n int) [][]int { return [][]int{{n, 3}, {3}} }, linear: true, long: true},
			sized{spec: spec, shapes: func(n int) [][]int { return [][]int{{n}, {}} }, linear: true})
	}
	return append(list, products()...)
}

// products are matrix products in which each extent takes every size in turn.
func products() []sized {
	var list []sized
	for _, choice := range []string{"ta=n,tb=n", "ta=n,tb=t"} {
		for turn := range 3 {
			shapes := func(bias bool) func(n int) [][]int {
				return func(n int) [][]int {
					ext := []int{5, 3, 7}
					ext[turn] = n
					m, cols, k := ext[0], ext[1], ext[2]
					b := []int{k, cols}
					if choice == "ta=n,tb=t" {
						b = []int{cols, k}
					}
					if bias {
						return [][]int{{m, k}, b, {cols}}
					}
					return [][]int{{m, k}, b}
				}
			}
			list = append(list,
				sized{spec: "matmul", choice: choice, shapes: shapes(false), linear: true, long: true},
				sized{spec: "matmul_bias", choice: choice, shapes: shapes(true), linear: true},
				sized{spec: "matmul_bias_gelu", choice: choice, shapes: shapes(true)})
		}
	}
	return list
}

// programs returns the program of each type.
func (s *sized) programs(t testing.TB) []*expr.Program {
	t.Helper()
	var list []*expr.Program
	for _, p := range specs()[s.spec].Instances {
		if choiceText(p) == s.choice {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no program %s[%s]", s.spec, s.choice)
	}
	return list
}

// call makes the arguments, the same ones at each run.
func (s *sized) call(t testing.TB, p *expr.Program, n int) *call {
	t.Helper()
	c := &call{form: formOf(t, p), params: s.params}
	var shapes [][]int
	if s.shapes != nil {
		shapes = s.shapes(n)
	}
	if s.free != nil {
		c.free = s.free(n)
	}
	name := fnv.New64a()
	fmt.Fprint(name, s.spec, shapes)
	rng := rand.New(rand.NewPCG(name.Sum64(), uint64(n)))
	for i, in := range p.Ins {
		a := array{dtype: dtypeOf(in.Type), shape: shapes[i], data: make([]float64, count(shapes[i]))}
		limit := c.bound(t, shapes, in)
		for j := range a.data {
			switch {
			case in.Bounds != nil && limit == 0:
				a.data[j] = -100 // ignored
			case in.Bounds != nil:
				a.data[j] = float64(rng.Int64N(limit))
			case a.dtype == runtime.U8:
				a.data[j] = float64(rng.IntN(3))
			case a.dtype == runtime.I32:
				a.data[j] = float64(rng.IntN(2) * 3)
			case s.abs:
				a.data[j] = exact(math.Abs(rng.NormFloat64()))
			default:
				a.data[j] = exact(rng.NormFloat64())
			}
		}
		c.ins = append(c.ins, a)
	}
	return c
}

// exact rounds to what every storage type holds.
func exact(v float64) float64 {
	return float64(runtime.ToFloat16(f32(math.Round(v*32) / 32)).Float32())
}

// bound is what an input's values must be below.
func (c *call) bound(t testing.TB, shapes [][]int, in *expr.Tensor) int64 {
	t.Helper()
	if in.Bounds == nil {
		return 0
	}
	p := c.form.program
	var params []oracle.Value
	for _, v := range c.params {
		params = append(params, oracleValue(v))
	}
	ext, err := oracle.Unify(p, shapes, params, nil)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := oracle.Bound(p, ext, params, in)
	if err != nil {
		t.Fatal(err)
	}
	return limit
}

// differentiable returns the inputs that the program has gradients for.
func differentiable(p *expr.Program) []int {
	var wrt []int
	if g := specs()[p.Name].Grad; g != nil {
		for i, in := range p.Ins {
			if slices.Contains(g.Wrt, in.Name) {
				wrt = append(wrt, i)
			}
		}
	}
	return wrt
}

// cotangents makes one for each result that carries one.
func cotangents(p *expr.Program, outs []array) []array {
	g := specs()[p.Name].Grad
	if g == nil {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]array, len(outs))
	for i, out := range p.Outs {
		if out.Save || out.Type == expr.I32 || len(g.From) > 0 && !slices.Contains(g.From, out.Name) {
			continue
		}
		list[i] = array{dtype: outs[i].dtype, shape: outs[i].shape, data: make([]float64, len(outs[i].data))}
		for j := range list[i].data {
			list[i].data[j] = exact(rng.NormFloat64())
		}
	}
	return list
}

// TestSizes compares results and gradients with the reference device for
// awkward sizes.
func TestSizes(t *testing.T) {
	devices := everywhere(t)
	ref := open(t, runtime.Reference(), runtime.WithGuards())
	for i, s := range firstSlice() {
		t.Run(fmt.Sprintf("%02d/%s", i, s.spec), func(t *testing.T) {
			ns := sizes
			if s.long {
				ns = append(slices.Clone(ns), longRow)
			}
			for _, p := range s.programs(t) {
				for _, n := range ns {
					s.compare(t, devices, ref, s.call(t, p, n))
				}
			}
		})
	}
}

func (s *sized) compare(t *testing.T, devices []device, ref *runtime.Device, c *call) {
	t.Helper()
	p := c.form.program
	first, _, err := c.run(t, ref, nil, nil)
	if err != nil {
		t.Errorf("%s %v on the reference: %v", programName(p), c.ins, err)
		return
	}
	cts, wrt := cotangents(p, first), differentiable(p)
	outs, grads, err := c.run(t, ref, cts, wrt)
	if err != nil {
		t.Errorf("%s %v with gradient on the reference: %v", programName(p), c.ins, err)
		return
	}
	want := slices.Concat(outs, grads)
	terms := sync.OnceValue(func() [][]float64 {
		if s.linear {
			return c.absolute(t, ref, cts, wrt)
		}
		return c.sensitivity(t, ref, cts, wrt, want)
	})
	for _, d := range devices {
		if d.Device.Reference() {
			continue
		}
		outs, grads, err := c.run(t, d.Device, cts, wrt)
		if err != nil {
			t.Errorf("%s %v on %s: %v", programName(p), c.ins, d.name, err)
			continue
		}
		for i, got := range slices.Concat(outs, grads) {
			msg := differ(got, want[i], nil)
			if msg != "" && got.dtype == runtime.F32 {
				msg = differ(got, want[i], terms()[i])
			}
			if msg != "" {
				t.Errorf("%s %v on %s: result %d %s", programName(p), c.ins, d.name, i, msg)
			}
		}
	}
}

// absolute returns what a linear function gives for the absolute values of its
// inputs and cotangents: the sums of the absolute values of the terms.
func (c *call) absolute(t *testing.T, ref *runtime.Device, cts []array, wrt []int) [][]float64 {
	t.Helper()
	return c.with(math.Abs).values(t, ref, absolute(cts), wrt)
}

// sensitivity estimates what terms of goldenCase computes, for inputs too large
// for that: every input is moved by a relative step up or down at random, a few
// times.
func (c *call) sensitivity(t *testing.T, ref *runtime.Device, cts []array, wrt []int, at []array) [][]float64 {
	t.Helper()
	const (
		step  = 0x1p-10 // exact in f32 for the inputs of these tests
		moves = 8
		// Random signs let terms cancel: of k equal ones the root of k is left.
		uncancel = 4
	)
	sum := make([][]float64, len(at))
	for i, a := range at {
		sum[i] = make([]float64, len(a.data))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range moves {
		moved := c.with(func(v float64) float64 { return v * (1 + (2*float64(rng.IntN(2))-1)*step) })
		for i, values := range moved.values(t, ref, cts, wrt) {
			for j, v := range values {
				if gap := uncancel * math.Abs(v-at[i].data[j]) / step; gap > sum[i][j] {
					sum[i][j] = gap
				}
			}
		}
	}
	return sum
}

// values runs the call and returns the values of results and gradients.
func (c *call) values(t *testing.T, d *runtime.Device, cts []array, wrt []int) [][]float64 {
	t.Helper()
	outs, grads, err := c.run(t, d, cts, wrt)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]float64
	for _, a := range slices.Concat(outs, grads) {
		list = append(list, a.data)
	}
	return list
}

// with returns the call with every float input changed.
func (c *call) with(change func(float64) float64) *call {
	moved := *c
	moved.ins = slices.Clone(c.ins)
	for i, in := range c.ins {
		if in.dtype != runtime.I32 && in.dtype != runtime.U8 {
			moved.ins[i] = in.with(change)
		}
	}
	return &moved
}

func absolute(list []array) []array {
	var out []array
	for _, a := range list {
		out = append(out, a.with(math.Abs))
	}
	return out
}

func (a array) with(change func(float64) float64) array {
	a.data = slices.Clone(a.data)
	for i, v := range a.data {
		a.data[i] = change(v)
	}
	return a
}
