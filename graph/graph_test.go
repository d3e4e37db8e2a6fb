package graph_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/runtime"
)

var background = context.Background()

// newGraph returns a graph on a device of its own.
func newGraph(t testing.TB, opts ...runtime.Option) (*graph.Graph, *runtime.Device) {
	t.Helper()
	d := openDevice(t, opts...)
	g := graph.New(graph.On(d), t.Name())
	t.Cleanup(func() { g.Close() })
	return g, d
}

func openDevice(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d, err := runtime.Open(slices.Concat(standard(), opts)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// must returns what a call gives that does not fail.
func must[V any](t testing.TB) func(v V, err error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

type tensor = graph.Tensor[float32]

func from(t testing.TB, g *graph.Graph, data []float32, shape ...int) tensor {
	t.Helper()
	return must[tensor](t)(graph.From(g, data, shape...))
}

func wave(n int) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(math.Sin(float64(i)*0.7) / 2)
	}
	return data
}

func wantError(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one that wraps %q", err, kind)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// Both forms of generated functions record on lazy tensors, and give what they give
// on tensors of a device, bit for bit.
func TestLazyIsEager(t *testing.T) {
	g, d := newGraph(t, runtime.WithoutPasses("fuse")) // which saves a rounding
	const n, k = 9, 33
	x, w, bias := wave(n*k), wave(k*k), wave(k)
	eager := func(data []float32, shape ...int) runtime.Tensor[float32] {
		return must[runtime.Tensor[float32]](t)(runtime.FromSlice(d, data, shape...))
	}
	forward := func(x, w, bias tensor) tensor {
		h := must[tensor](t)(ops.MatMulBiasNN(x, w, bias))
		h = must[tensor](t)(ops.GELU(h))
		return must[tensor](t)(ops.Add(h, x))
	}
	want := must[[]float32](t)(forward(eager(x, n, k), eager(w, k, k), eager(bias, k)).Read())
	lx, lw, lbias := from(t, g, x, n, k), from(t, g, w, k, k), from(t, g, bias, k)
	runs := d.Stats().Runs
	y := forward(lx, lw, lbias)
	if got := y.Shape(); !slices.Equal(got, []int{n, k}) {
		t.Errorf("shape %v before evaluation", got)
	}
	if d.Stats().Runs != runs {
		t.Error("something ran before Eval")
	}
	if got := must[[]float32](t)(graph.Eval(background, y)); !slices.Equal(got, want) {
		t.Errorf("immediate forms on lazy tensors: %v, want %v", got[:3], want[:3])
	}
	if n := d.Stats().Runs - runs; n != 1 {
		t.Errorf("%d programs, want one", n)
	}
	b := g.Batch()
	z := ops.AddDeferred(b, ops.GELUDeferred(b, ops.MatMulBiasNNDeferred(b, lx, lw, lbias)), lx)
	if got := must[[]float32](t)(graph.Eval(background, z)); !slices.Equal(got, want) {
		t.Error("deferred forms on lazy tensors give something else")
	}
	u := forward(lx, eager(w, k, k), eager(bias, k)) // weights that are on the device
	if got := must[[]float32](t)(graph.EvalAsync(u).Value(background)); !slices.Equal(got, want) {
		t.Error("beside tensors of the device, and async, they give something else")
	}
}

// What two results need is computed once, in one evaluation or over several.
func TestSharedWorkIsDoneOnce(t *testing.T) {
	g, d := newGraph(t)
	trace := must[*runtime.Trace](t)(d.StartTrace())
	x := from(t, g, wave(64), 64)
	s := must[tensor](t)(ops.Exp(x))
	y, z := must[tensor](t)(ops.Tanh(s)), must[tensor](t)(ops.Sigmoid(s))
	if err := g.Eval(background, y, z); err != nil {
		t.Fatal(err)
	}
	other := must[tensor](t)(ops.Exp(must[tensor](t)(ops.Abs(x))))
	u, v := must[tensor](t)(ops.Tanh(other)), must[tensor](t)(ops.Sigmoid(other))
	for _, r := range []tensor{u, v, u} {
		must[[]float32](t)(graph.Eval(background, r))
	}
	trace.Stop()
	count := map[string]int{}
	for _, op := range trace.Ops() {
		count[op.Op]++
	}
	if count["exp"] != 2 || count["tanh"] != 2 || count["sigmoid"] != 2 || count["abs"] != 1 {
		t.Errorf("ran %v: exp is called twice, abs once, and each result is asked for", count)
	}
}

// A gradient is a graph as well. Its values are those of a batch.
func TestGradients(t *testing.T) {
	g, d := newGraph(t)
	x, w := wave(6*8), wave(8*5)
	loss := func(b *runtime.Batch, x, w tensor) tensor {
		h := ops.TanhDeferred(b, ops.MatMulNNDeferred(b, x, w))
		return ops.MeanDeferred(b, ops.MulDeferred(b, h, h))
	}
	ex := must[tensor](t)(runtime.FromSlice(d, x, 6, 8))
	ew := must[tensor](t)(runtime.FromSlice(d, w, 8, 5))
	b := d.Batch("eager")
	el := loss(b, ex, ew)
	grads := b.Grad(el, ex, ew)
	rx, rw := runtime.Read(b, runtime.As[float32](grads[0])), runtime.Read(b, runtime.As[float32](grads[1]))
	if err := b.Sync(background); err != nil {
		t.Fatal(err)
	}
	lx := from(t, g, x, 6, 8)
	lb := g.Batch()
	lazy := lb.Grad(loss(lb, lx, ew), lx, ew) // one parameter is a tensor of the device
	dx, dw := runtime.As[float32](lazy[0]), runtime.As[float32](lazy[1])
	if err := g.Eval(background, dx, dw); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		got  tensor
		want *runtime.Readback[float32]
	}{{"dx", dx, rx}, {"dw", dw, rw}} {
		got, want := must[[]float32](t)(graph.Value(c.got)), must[[]float32](t)(c.want.Value())
		if !slices.Equal(got, want) {
			t.Errorf("%s = %v, want %v", c.what, got, want)
		}
	}
}

// Views, of results and of what came from outside, and results that are views.
func TestViews(t *testing.T) {
	g, d := newGraph(t)
	out := must[tensor](t)(runtime.FromSlice(d, []float32{1, 2, 3, 4, 5, 6}, 6))
	x := from(t, g, []float32{10, 20, 30, 40, 50, 60}, 6)
	sum := must[tensor](t)(ops.Add(x, out))
	tail := must[tensor](t)(sum.View(4, 2))
	head := must[tensor](t)(x.View(0, 2))
	y := must[tensor](t)(ops.Add(tail, head))
	if err := g.Eval(background, y, tail, head); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		t    tensor
		want []float32
	}{{"y", y, []float32{65, 86}}, {"tail", tail, []float32{55, 66}}, {"head", head, []float32{10, 20}}} {
		if got := must[[]float32](t)(graph.Value(c.t)); !slices.Equal(got, c.want) {
			t.Errorf("%s = %v, want %v", c.what, got, c.want)
		}
	}
	z := must[tensor](t)(ops.Mul(tail, tail)) // of one that is evaluated
	if got := must[[]float32](t)(graph.Eval(background, z)); !slices.Equal(got, []float32{3025, 4356}) {
		t.Errorf("z = %v", got)
	}
	if got := must[[]float32](t)(graph.Eval(background, x)); got[5] != 60 {
		t.Errorf("what was given evaluates to %v", got)
	}
}

func TestErrors(t *testing.T) {
	g, d := newGraph(t)
	x := from(t, g, wave(6), 2, 3)
	_, err := ops.Add(x, from(t, g, wave(4), 4))
	wantError(t, err, runtime.ErrShape, "add: ", "graph_test.go:")
	y, err := ops.GELU(x) // one bad call spoils nothing else
	if err != nil {
		t.Fatal(err)
	}
	_, err = y.Read()
	wantError(t, err, runtime.ErrLazy, "graph.Eval")
	_, err = graph.Value(y)
	wantError(t, err, runtime.ErrLazy, "not evaluated")
	one, none := from(t, g, []float32{1}), must[graph.Tensor[int32]](t)(graph.From(g, []int32{0}))
	_, _, err = ops.SGD(x, one, one, none, x, y, 0.1, 0, 0, false)
	wantError(t, err, runtime.ErrLazy, "in place")
	_, err = graph.From(g, wave(5), 2, 3)
	if err == nil || !strings.Contains(err.Error(), "5 elements given, shape [2 3] has 6") {
		t.Errorf("From with too few elements: %v", err)
	}
	shape := must[tensor](t)(graph.Declare[float32](g, 2, 3))
	_, err = graph.Eval(background, must[tensor](t)(ops.Add(y, shape)))
	wantError(t, err, runtime.ErrLazy, "declared")
	other := graph.New(graph.On(d), "other")
	defer other.Close()
	_, err = ops.Add(x, from(t, other, wave(6), 2, 3))
	wantError(t, err, runtime.ErrLazy, "another graph")
	wantError(t, g.Batch().Sync(background), runtime.ErrLazy, "graph.Eval")
	_, err = runtime.FromSlice(g.Device(), wave(3), 3)
	wantError(t, err, runtime.ErrLazy, "graph.From")

	table := from(t, g, wave(12), 4, 3) // a fault on the device, with the place of the lazy call
	ids := must[graph.Tensor[int32]](t)(graph.From(g, []int32{1, 7}, 2))
	rows := must[tensor](t)(ops.Embedding(ids, table))
	_, err = graph.Eval(background, rows)
	wantError(t, err, err, "ids[1] is 7, must be in [0, 4)", "graph_test.go:")
	var fault *runtime.FaultError
	if !errors.As(err, &fault) {
		t.Errorf("%T", err)
	}

	w := must[tensor](t)(runtime.FromSlice(d, wave(6), 2, 3))
	lazy := must[tensor](t)(ops.Add(x, w))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = graph.Eval(background, lazy)
	wantError(t, err, runtime.ErrStale)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = graph.Eval(background, y)
	wantError(t, err, runtime.ErrClosed)
	_, err = ops.GELU(y)
	wantError(t, err, runtime.ErrClosed)
	if n := d.Stats().Tensors; n != 0 {
		t.Errorf("%d tensors of a closed graph are left", n)
	}
}

// Many graphs from many goroutines, sync and async, on one device.
func TestManyGraphs(t *testing.T) {
	d := openDevice(t)
	exec := graph.On(d)
	var wg sync.WaitGroup
	for id := range 32 {
		wg.Go(func() {
			for round := range 20 {
				g := graph.New(exec, "many")
				want := float32(id*100 + round)
				x, err := graph.From(g, slices.Repeat([]float32{want}, 37), 37)
				if err != nil {
					t.Error(err)
					return
				}
				y, err := ops.Add(x, x)
				if err != nil {
					t.Error(err)
					return
				}
				a, b := graph.EvalAsync(y), graph.EvalAsync(y) // the same, twice at a time
				for _, f := range []*graph.Future[float32]{a, b} {
					if got, err := f.Value(background); err != nil || got[36] != 2*want {
						t.Errorf("goroutine %d, round %d: %v, %v", id, round, got, err)
					}
				}
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := d.Stats().Tensors; n != 0 {
		t.Errorf("%d tensors are left", n)
	}
}
