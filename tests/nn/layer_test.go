package nn_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
)

// convolution is a layer of one channel with given taps and no bias.
func convolution(t *testing.T, d *runtime.Device, c nn.Conv1DConfig, taps ...float32) *nn.Conv1D[float32] {
	t.Helper()
	c.In, c.Out, c.Kernel, c.NoBias = 1, 1, len(taps), true
	l := must[*nn.Conv1D[float32]](t)(nn.NewConv1D[float32](d, nn.NewRand(1), c))
	if err := l.Params()[0].Set(taps); err != nil {
		t.Fatal(err)
	}
	return l
}

func sequence(t *testing.T, d *runtime.Device, x ...float32) runtime.Tensor[float32] {
	t.Helper()
	return must[runtime.Tensor[float32]](t)(runtime.FromSlice(d, x, 1, len(x), 1))
}

// Stride and padding count, with one tap too (C020).
func TestConvStride(t *testing.T) {
	d := open(t)
	for _, c := range []struct {
		nn.Conv1DConfig
		taps, x, want []float32
	}{
		{nn.Conv1DConfig{Stride: 2}, []float32{1, 10, 100}, []float32{1, 2, 3, 4, 5, 6, 7, 8}, []float32{321, 543, 765}},
		{nn.Conv1DConfig{Stride: 2, PadLeft: 1, PadRight: 1}, []float32{10}, []float32{1, 2, 3, 4}, []float32{0, 20, 40}},
	} {
		if got := forward(t, convolution(t, d, c.Conv1DConfig, c.taps...), sequence(t, d, c.x...)); !slices.Equal(got, c.want) {
			t.Errorf("stride 2, taps %v: gives %v, want %v", c.taps, got, c.want)
		}
	}
}

// Windows that overlap add up in the gradient (C022).
func TestConvGradientWithStride(t *testing.T) {
	d := open(t)
	l := convolution(t, d, nn.Conv1DConfig{Stride: 2, PadLeft: 1, PadRight: 1}, 1, 10, 100)
	x, dy := sequence(t, d, 1, 2, 3, 4, 5, 6), sequence(t, d, 1, 10, 100)
	b := d.Batch("gradient")
	g := b.Grad(ops.DotDeferred(b, l.ForwardDeferred(b, x), dy), l.Params()[0].Operand(), x)
	dw, dx := runtime.Read(b, runtime.As[float32](g[0])), runtime.Read(b, runtime.As[float32](g[1]))
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := must[[]float32](t)(dw.Value()); !slices.Equal(got, []float32{420, 531, 642}) {
		t.Errorf("dw is %v", got)
	}
	if got := must[[]float32](t)(dx.Value()); !slices.Equal(got, []float32{10, 110, 100, 1100, 1000, 10000}) {
		t.Errorf("dx is %v", got)
	}
}

// A tap alone goes straight to the product, without a copy of the sequence.
func TestOneTapIsTheProduct(t *testing.T) {
	d := open(t)
	b := d.Batch("one tap")
	l := must[*nn.Conv1D[float32]](t)(nn.NewConv1D[float32](d, nn.NewRand(1), nn.Conv1DConfig{In: 4, Out: 3, Kernel: 1}))
	b.Keep(l.ForwardDeferred(b, ramp[float32](t, d, 2, 5, 4)))
	text := must[string](t)(b.Explain())
	if !strings.Contains(text, "recorded: 1 call") {
		t.Errorf("one tap is more than one call:\n%s", text)
	}
	b.Discard()
}

// A training step of a block is as few calls as there can be: a normalisation, windows,
// two products with all that follows them, and their gradients.
func TestBlockIsFused(t *testing.T) {
	d := open(t)
	m := must[*models.TCNBlock[float32]](t)(models.NewTCNBlock[float32](d, nn.NewRand(1), models.BlockConfig{Width: 4, Hidden: 6, Kernel: 3}))
	b := d.Batch("block")
	b.Keep(m.ForwardDeferred(b, ramp[float32](t, d, 2, 5, 4), runtime.Tensor[uint8]{}))
	text := must[string](t)(b.Explain())
	if !strings.Contains(text, "recorded: 4 calls") {
		t.Errorf("a block is not four calls:\n%s", text)
	}
	b.Discard()
}

// The dropout of a block is off at first; enabled, it changes what a position gives, and
// leaves the mean what it was.
func TestBlockDropout(t *testing.T) {
	d := open(t)
	block := func(p float32) (*models.TCNBlock[float32], error) {
		return models.NewTCNBlock[float32](d, nn.NewRand(1), models.BlockConfig{Width: 4, Hidden: 16, Kernel: 3, Dropout: p})
	}
	const texts = 4000
	row := []float32{0.5, -1, 2, 0.25}
	x := must[runtime.Tensor[float32]](t)(runtime.FromSlice(d, slices.Repeat(row, texts), texts, 1, 4))
	result := func(m *models.TCNBlock[float32]) []float32 {
		y := must[runtime.Tensor[float32]](t)(m.Forward(x, runtime.Tensor[uint8]{}))
		return must[[]float32](t)(y.Read())
	}
	want := result(must[*models.TCNBlock[float32]](t)(block(0)))[:4]
	m := must[*models.TCNBlock[float32]](t)(block(0.25))
	if got := result(m); !slices.Equal(got, slices.Repeat(want, texts)) {
		t.Error("a new block drops")
	}
	m.Dropout.Enable(true)
	got := result(m)
	for c, w := range want {
		sum, squares := 0.0, 0.0
		for i := range texts {
			v := float64(got[4*i+c] - w)
			sum, squares = sum+v, squares+v*v
		}
		if squares == 0 || math.Abs(sum) > 5*math.Sqrt(squares) {
			t.Errorf("channel %d is %v without dropout, and with it on average %v away", c, w, sum/texts)
		}
	}
	before := d.Stats().Tensors
	if _, err := block(1); err == nil || !strings.Contains(err.Error(), "dropout: p is 1") {
		t.Errorf("the error is %v", err)
	}
	if got := d.Stats().Tensors; got != before {
		t.Errorf("a refused block leaves %d tensors", got-before)
	}
}

// Dropout keeps its share of elements, scaled; its gradient drops the same ones; its
// offset and its seed are all of its state.
func TestDropout(t *testing.T) {
	d := open(t)
	const n = 10000
	x := must[runtime.Tensor[float32]](t)(runtime.FromSlice(d, slices.Repeat([]float32{1}, n), n))
	l := must[*nn.Dropout[float32]](t)(nn.NewDropout[float32](0.25, 7))
	b := d.Batch("dropout")
	y := l.ForwardDeferred(b, x)
	dx := runtime.Read(b, runtime.GradOf(b, ops.SumDeferred(b, y), x))
	first := runtime.Read(b, y)
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := must[[]float32](t)(first.Value())
	kept := 0
	for _, v := range got {
		if v == float32(1/(1-0.25)) {
			kept++
		} else if v != 0 {
			t.Fatalf("an element is %v", v)
		}
	}
	if share := float64(kept) / n; math.Abs(share-0.75) > 5*math.Sqrt(0.75*0.25/n) {
		t.Errorf("%v of the elements are kept", share)
	}
	if !slices.Equal(must[[]float32](t)(dx.Value()), got) {
		t.Error("the gradient drops others")
	}
	if l.Offset() != n {
		t.Errorf("the offset is %d, want %d", l.Offset(), n)
	}
	second := forward[float32](t, l, x)
	if slices.Equal(second, got) {
		t.Error("two calls drop the same elements")
	}
	l.SetOffset(n)
	if !slices.Equal(forward[float32](t, l, x), second) {
		t.Error("from the same offset others are dropped")
	}
	other := must[*nn.Dropout[float32]](t)(nn.NewDropout[float32](0.25, 8))
	other.SetSeed(l.Seed())
	other.SetOffset(n)
	if !slices.Equal(forward[float32](t, other, x), second) {
		t.Error("with the seed and the offset of another layer others are dropped")
	}
	l.Enable(false)
	if off := must[runtime.Tensor[float32]](t)(l.Forward(x)); off != x || l.Offset() != 2*n {
		t.Error("turned off, it does something")
	}
}

// Lazy tensors go through layers as others do.
func TestLazy(t *testing.T) {
	d := open(t)
	exec := must[*graph.Executor](t)(graph.Open(func() (*runtime.Device, error) { return runtime.Open(standard()...) }))
	defer exec.Close()
	g := graph.New(exec, "layers")
	defer g.Close()
	l := must[*nn.Linear[runtime.BFloat16]](t)(nn.NewLinear[runtime.BFloat16](d, nn.NewRand(1), 4, 3))
	if err := l.Attach(trained[runtime.BFloat16](t, d, 1, 4, 3)); err != nil {
		t.Fatal(err)
	}
	want := forward(t, l, ramp[runtime.BFloat16](t, d, 2, 4))
	data := must[[]runtime.BFloat16](t)(ramp[runtime.BFloat16](t, d, 2, 4).Read())
	x := must[runtime.Tensor[runtime.BFloat16]](t)(graph.From(g, data, 2, 4))
	for _, y := range []runtime.Tensor[runtime.BFloat16]{must[runtime.Tensor[runtime.BFloat16]](t)(l.Forward(x)), l.ForwardDeferred(g.Batch(), x)} {
		if got := nn.Widen(must[[]runtime.BFloat16](t)(graph.Eval(context.Background(), y))); !slices.Equal(got, want) {
			t.Errorf("lazily it gives %v, else %v", got, want)
		}
	}
}

// Constructors and calls refuse what cannot be, and say which layer and size it is.
func TestLayersRefuse(t *testing.T) {
	d := open(t)
	r := nn.NewRand(1)
	for want, call := range map[string]func() error{
		"linear: in is 0, must be at least 1":       func() error { _, err := nn.NewLinear[float32](d, r, 0, 1); return err },
		"linear: out is -1, must be at least 1":     func() error { _, err := nn.NewLinearNoBias[float32](d, r, 1, -1); return err },
		"layernorm: width is 0, must be at least 1": func() error { _, err := nn.NewLayerNorm[float32](d, 0); return err },
		"rmsnorm: width is 0, must be at least 1":   func() error { _, err := nn.NewRMSNorm[float32](d, 0); return err },
		"embedding: rows is 0, must be at least 1":  func() error { _, err := nn.NewEmbedding[float32](d, r, 0, 1); return err },
		"lora: rank is 0, must be at least 1":       func() error { _, err := nn.NewLoRA[float32](d, r, 1, 1, 0, 1); return err },
		"dropout: p is 1, must be in [0, 1)":        func() error { _, err := nn.NewDropout[float32](1, 0); return err },
		"conv1d: kernel is 0, must be at least 1": func() error {
			_, err := nn.NewConv1D[float32](d, r, nn.Conv1DConfig{In: 1, Out: 1})
			return err
		},
		"conv1d: the padding is -1 and 0, must not be negative": func() error {
			_, err := nn.NewConv1D[float32](d, r, nn.Conv1DConfig{In: 1, Out: 1, Kernel: 1, PadLeft: -1})
			return err
		},
		"conv1d: dilation, stride and padding are 4294967298 at most, must be below 2^31": func() error {
			_, err := nn.NewConv1D[float32](d, r, nn.Conv1DConfig{In: 1, Out: 1, Kernel: 3, Dilation: 1<<31 + 1, Causal: true})
			return err
		},
		"conv1d: a causal convolution pads by itself, and padding 1, 0 is given": func() error {
			_, err := nn.NewConv1D[float32](d, r, nn.Conv1DConfig{In: 1, Out: 1, Kernel: 2, PadLeft: 1, Causal: true})
			return err
		},
	} {
		if err := call(); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	idle := d.Stats().Tensors
	_, err := models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: 5, Cond: 2, StackConfig: models.StackConfig{Width: 4, Kernel: 3, Dilations: []int{1}}}, 1)
	if err == nil || !strings.HasPrefix(err.Error(), "text decoder: conv1d: out is 0, must be at least 1") {
		t.Errorf("the error is %v, want that of the hidden channels", err)
	}
	if left := d.Stats().Tensors - idle; left != 0 {
		t.Errorf("a model that cannot be made leaves %d tensors", left)
	}
	l := must[*nn.Linear[float32]](t)(nn.NewLinear[float32](d, r, 6, 5))
	if _, err := l.Forward(ramp[float32](t, d, 3, 4)); !errors.Is(err, runtime.ErrShape) {
		t.Errorf("rows of 4 for a layer of 6: the error is %v", err)
	}
}

// An immediate call takes results of a batch that is not submitted yet, as generated
// functions do.
func TestImmediateOnPending(t *testing.T) {
	d := open(t)
	m := must[*models.TCNBlock[float32]](t)(models.NewTCNBlock[float32](d, nn.NewRand(1), models.BlockConfig{Width: 4, Hidden: 6, Kernel: 3}))
	x := ramp[float32](t, d, 2, 5, 4)
	b := d.Batch("pending")
	pending := double(b, x)
	got := must[runtime.Tensor[float32]](t)(m.Forward(pending, runtime.Tensor[uint8]{}))
	twice := must[runtime.Tensor[float32]](t)(ops.Scale(x, 2))
	want := must[runtime.Tensor[float32]](t)(m.Forward(twice, runtime.Tensor[uint8]{}))
	if !slices.Equal(must[[]float32](t)(got.Read()), must[[]float32](t)(want.Read())) {
		t.Error("a pending operand gives other values")
	}
	b.Discard()
}
