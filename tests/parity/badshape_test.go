package parity_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// refused is a call that must be refused, and what the error has to say.
type refused struct {
	name string
	call func(b *runtime.Batch)
	kind error
	says []string
}

// check records the call and syncs. The error must be an *runtime.Error that
// names the batch and this package's line, and later calls must change nothing.
func (r refused) check(t *testing.T, d device) {
	t.Helper()
	b := d.Batch("refused")
	r.call(b)
	ops.FillDeferred[f32](b, 1, 3)
	err := b.Sync(context.Background())
	if msg := mentions(err, r.kind, append(r.says, `batch "refused"`, "_test.go:")...); msg != "" {
		t.Errorf("%s on %s: %s", r.name, d.name, msg)
		return
	}
	var e *runtime.Error
	if !errors.As(err, &e) || e.Op == "" {
		t.Errorf("%s on %s: %T is no *runtime.Error with an operation", r.name, d.name, err)
	}
	if err := b.Sync(context.Background()); err != nil {
		t.Errorf("%s on %s: the next program of the batch: %v", r.name, d.name, err)
	}
}

func of(t testing.TB, d device, shape ...int) runtime.Tensor[f32] {
	t.Helper()
	return from[f32](t, d, constant(1, shape...))
}

// TestShapesThatDoNotFit: shapes, ranks and lists.
func TestShapesThatDoNotFit(t *testing.T) {
	for _, d := range both(t) {
		x := func(shape ...int) runtime.Tensor[f32] { return of(t, d, shape...) }
		mask := must(runtime.Zeros[uint8](d.Device, 2, 4))(t)
		ids := ints(t, d, 0, 1)
		for _, r := range []refused{
			{"gamma is too short", func(b *runtime.Batch) { ops.LayerNormDeferred(b, x(2, 256), x(255), x(256), 1e-5) },
				runtime.ErrShape, []string{"layernorm: ", "gamma has 255 elements", "axis D of x is 256"}},
			{"b is no tail of a", func(b *runtime.Batch) { ops.AddDeferred(b, x(2, 3), x(2)) },
				runtime.ErrShape, []string{"add: ", "[2 3]", "[2]"}},
			{"b has more axes than a", func(b *runtime.Batch) { ops.AddDeferred(b, x(3), x(2, 3)) },
				runtime.ErrShape, []string{"add: ", "[3]", "[2 3]"}},
			{"other shapes", func(b *runtime.Batch) { ops.ResidualAddDeferred(b, x(2, 3), x(3, 2)) },
				runtime.ErrShape, []string{"residual_add: ", "x", "[3 2]", "[2 3]"}},
			{"inner extents", func(b *runtime.Batch) { ops.MatMulNTDeferred(b, x(2, 3), x(4, 5)) },
				runtime.ErrShape, []string{"matmul: ", "axis K", "5", "3"}},
			{"transposed by mistake", func(b *runtime.Batch) { ops.MatMulNNDeferred(b, x(2, 3), x(4, 3)) },
				runtime.ErrShape, []string{"matmul: ", "axis K", "4", "3"}},
			{"other batches", func(b *runtime.Batch) { ops.MatMulNNDeferred(b, x(2, 3, 4), x(3, 4, 5)) },
				runtime.ErrShape, []string{"matmul: ", "a has shape [2 3 4]", "axes Z of b are [3]"}},
			{"bias of a product", func(b *runtime.Batch) { ops.MatMulBiasGELUNTDeferred(b, x(2, 3), x(5, 3), x(4)) },
				runtime.ErrShape, []string{"matmul_bias_gelu: ", "bias has 4 elements", "5"}},
			{"a scalar has no rows", func(b *runtime.Batch) { ops.SoftmaxDeferred(b, x()) },
				runtime.ErrShape, []string{"softmax: ", "x has shape []", "R... D"}},
			{"a vector has no columns", func(b *runtime.Batch) { ops.TransposeDeferred(b, x(3)) },
				runtime.ErrShape, []string{"transpose: ", "x has shape [3]", "R... M N"}},
			{"mask of another length", func(b *runtime.Batch) { ops.MaskedMeanDeferred(b, x(2, 3, 5), mask) },
				runtime.ErrShape, []string{"masked_mean: ", "mask", "4", "axis L of x is 3"}},
			{"targets of other rows", func(b *runtime.Batch) { ops.CrossEntropyDeferred(b, x(3, 5), ids, -100, 0) },
				runtime.ErrShape, []string{"cross_entropy: ", "target", "[2]", "[3]"}},
			{"a table has two axes", func(b *runtime.Batch) { ops.EmbeddingDeferred(b, ids, x(3)) },
				runtime.ErrShape, []string{"embedding: ", "W has shape [3]", "V D"}},
			{"pieces of other rows", func(b *runtime.Batch) { ops.ConcatDeferred(b, []runtime.Tensor[f32]{x(2, 3), x(3, 3)}) },
				runtime.ErrShape, []string{"concat: ", "x_2 has shape [3 3]", "axes R of x_1 are [2]"}},
			{"no pieces", func(b *runtime.Batch) { ops.ConcatDeferred[f32](b, nil) },
				runtime.ErrShape, []string{"concat: ", "0 tensors"}},
			{"nine pieces", func(b *runtime.Batch) { ops.ConcatDeferred(b, make([]runtime.Tensor[f32], 9)) },
				runtime.ErrShape, []string{"concat: ", "9 tensors", "8"}},
			{"state of another shape", func(b *runtime.Batch) {
				one, no := x(), must(runtime.Zeros[int32](d.Device))(t)
				ops.AdamWDeferred(b, x(4), one, one, no, no, x(4), x(4), x(5), 1, 0.9, 0.999, 1e-8, 0)
			}, runtime.ErrShape, []string{"adamw: ", "v", "[5]", "[4]"}},
			{"a scalar argument that is none", func(b *runtime.Batch) {
				no := must(runtime.Zeros[int32](d.Device))(t)
				ops.SGDDeferred(b, x(4), x(1), x(), no, x(4), x(4), 1, 0, 0, false)
			}, runtime.ErrShape, []string{"sgd: ", "inv_scale has shape [1]"}},
			{"a negative extent", func(b *runtime.Batch) { ops.FillDeferred[f32](b, 1, 2, -3) },
				runtime.ErrShape, []string{"fill: ", "-3", "negative"}},
			{"nine dimensions", func(b *runtime.Batch) { ops.FillDeferred[f32](b, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) },
				runtime.ErrShape, []string{"fill: ", "9 dimensions", "8"}},
			{"a negative number of rows", func(b *runtime.Batch) { ops.FillBiasDeferred(b, x(4), -1) },
				runtime.ErrShape, []string{"fill_bias: ", "-1", "negative"}},
		} {
			r.check(t, d)
		}
	}
}

// TestArgumentsOutOfRange: scalars that the specs refuse, NaN among them.
func TestArgumentsOutOfRange(t *testing.T) {
	notANumber := f32(math.NaN())
	for _, d := range both(t) {
		x := func(shape ...int) runtime.Tensor[f32] { return of(t, d, shape...) }
		for _, r := range []refused{
			{"slice before the start", func(b *runtime.Batch) { ops.SliceDeferred(b, x(4, 2), -1, 2) }, runtime.ErrRequire, []string{"slice: ", "start >= 0", "[4 2]", "start = -1"}},
			{"slice past the end", func(b *runtime.Batch) { ops.SliceDeferred(b, x(4, 2), 3, 2) }, runtime.ErrRequire, []string{"slice: ", "length", "[4 2]", "start = 3, length = 2"}},
			{"slice with sums that overflow", func(b *runtime.Batch) { ops.SliceDeferred(b, x(4, 2), math.MaxInt32, math.MaxInt32) }, runtime.ErrRequire, []string{"slice: ", "2147483647"}},
			{"negative length", func(b *runtime.Batch) { ops.SliceDeferred(b, x(4, 2), 0, -1) }, nil, []string{"slice: ", "-1"}},
			{"negative padding", func(b *runtime.Batch) { ops.PadDeferred(b, x(4, 2), -1, 0, 0) }, runtime.ErrRequire, []string{"pad: ", "before >= 0", "before = -1"}},
			{"no stride", func(b *runtime.Batch) { ops.Im2ColDeferred(b, x(1, 4, 2), 1, 0, 0, 0, 3) }, runtime.ErrRequire, []string{"im2col: ", "stride > 0", "stride = 0"}},
			{"no dilation", func(b *runtime.Batch) { ops.Im2ColDeferred(b, x(1, 4, 2), 0, 1, 0, 0, 3) }, runtime.ErrRequire, []string{"im2col: ", "dilation > 0"}},
			{"no taps", func(b *runtime.Batch) { ops.Im2ColDeferred(b, x(1, 4, 2), 1, 1, 0, 0, 0) }, runtime.ErrRequire, []string{"im2col: ", "size(K) > 0"}},
			{"a window longer than the input", func(b *runtime.Batch) { ops.Im2ColDeferred(b, x(1, 4, 2), 1, 1, 0, 0, 6) }, nil, []string{"im2col: ", "[1 4 2]"}},
			{"bounds in the wrong order", func(b *runtime.Batch) { ops.ClampDeferred(b, x(4), 2, 1) }, runtime.ErrRequire, []string{"clamp: ", "lo <= hi", "lo = 2, hi = 1"}},
			{"a bound that is no number", func(b *runtime.Batch) { ops.ClampDeferred(b, x(4), notANumber, 1) }, runtime.ErrRequire, []string{"clamp: ", "lo <= hi", "NaN"}},
			{"no temperature", func(b *runtime.Batch) { ops.KLDistillDeferred(b, x(2, 3), x(2, 3), 0) }, runtime.ErrRequire, []string{"kl_distill: ", "temperature > 0", "temperature = 0"}},
			{"a temperature that is no number", func(b *runtime.Batch) { ops.KLDistillDeferred(b, x(2, 3), x(2, 3), notANumber) }, runtime.ErrRequire, []string{"kl_distill: ", "NaN"}},
			{"a probability above one", func(b *runtime.Batch) { ops.DropoutDeferred(b, x(4), 1.5, 0, 0) }, runtime.ErrRequire, []string{"dropout: ", "p <= 1", "p = 1.5"}},
			{"a probability that is no number", func(b *runtime.Batch) { ops.DropoutDeferred(b, x(4), notANumber, 0, 0) }, runtime.ErrRequire, []string{"dropout: ", "NaN"}},
		} {
			r.check(t, d)
		}
	}
}

// TestScalarsAtTheEnds: parameters that are infinite or no number, where the
// formula has a value for them.
func TestScalarsAtTheEnds(t *testing.T) {
	devices := everywhere(t)
	for _, d := range devices {
		x := from[f32](t, d, vector(-2, 0, 3))
		big, bad := f32(inf), f32(nan)
		expect(t, d, "inf * x", must(ops.Scale(x, big))(t), vector(-inf, nan, inf))
		expect(t, d, "NaN * x", must(ops.Scale(x, bad))(t), vector(nan, nan, nan))
		expect(t, d, "x + inf", must(ops.AddScalar(x, big))(t), vector(inf, inf, inf))
		expect(t, d, "no bounds", must(ops.Clamp(x, -big, big))(t), vector(-2, 0, 3))
		expect(t, d, "clamped to inf", must(ops.Clamp(x, big, big))(t), vector(inf, inf, inf))
		expect(t, d, "padded with NaN", must(ops.Pad(must(x.View(0, 3, 1))(t), 1, 1, bad))(t), matrix(row(nan), row(-2), row(0), row(3), row(nan)))
		expect(t, d, "filled with -inf", must(ops.Fill[f16](d.Device, -big, 2))(t), vector(-inf, -inf))
		expect(t, d, "filled past the range of f16", must(ops.Fill[f16](d.Device, 70000, 2))(t), vector(inf, inf))
		expect(t, d, "1 to the infinite", must(ops.Pow(from[f32](t, d, vector(1, 2, 0.5)), big))(t), vector(1, inf, 0))
		y, mean, rstd, err := ops.LayerNorm(from[f32](t, d, vector(1, 3)), of(t, d, 2), of(t, d, 2), bad)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, d, "eps is no number", y, vector(nan, nan))
		expect(t, d, "mean", mean, number(2))
		expect(t, d, "rstd", rstd, number(nan))
	}
}
