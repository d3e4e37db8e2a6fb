package parity_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// A lazily saved value costs no memory where no gradient is asked for, and the
// results are the same bits in both cases.
func TestLazilySavedValues(t *testing.T) {
	const m, n, k = 192, 256, 64
	for _, d := range both(t) {
		a, w := must(ops.Fill[f32](d.Device, 0.01, m, k))(t), must(ops.Fill[f32](d.Device, -0.02, k, n))(t)
		bias := must(ops.Fill[f32](d.Device, 0.5, n))(t)
		// run returns c, and the bytes that the batch needed beside it.
		run := func(forward func(b *runtime.Batch) runtime.Tensor[f32], more func(b *runtime.Batch, c runtime.Tensor[f32])) ([]f32, int64) {
			t.Helper()
			d.Trim()
			b := d.Batch("lazy")
			c := forward(b)
			more(b, c)
			b.Keep(c)
			misses := d.Stats().Pool.Misses
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			s := d.Stats().Pool
			if s.Misses == misses {
				t.Fatal("the batch took no memory from the backend, so there is nothing to compare")
			}
			values := must(c.Read())(t)
			closeHandle(t, c.Untyped())
			return values, s.Cached + int64(len(values))*4
		}
		none := func(*runtime.Batch, runtime.Tensor[f32]) {}
		fused := func(b *runtime.Batch) runtime.Tensor[f32] { return ops.MatMulBiasGELUNNDeferred(b, a, w, bias) }
		plain := func(b *runtime.Batch) runtime.Tensor[f32] { return ops.MatMulBiasNNDeferred(b, a, w, bias) }
		_, least := run(plain, none)
		alone, bytes := run(fused, none)
		if limit := least + 4096; d.name != "reference" && bytes > limit {
			t.Errorf("%s: a product with GELU takes %d bytes without a gradient, one without GELU %d", d.name, bytes, least)
		}
		trained, _ := run(fused, func(b *runtime.Batch, c runtime.Tensor[f32]) {
			b.Keep(runtime.GradOf(b, ops.SumDeferred(b, c), bias))
		})
		if !slices.Equal(alone, trained) {
			t.Errorf("%s: the results differ where a gradient is asked for", d.name)
		}
	}
}

// A gradient that is asked for after a part of its batch has run reads the value
// that the part saved.
func TestLazilySavedValuesOfAPart(t *testing.T) {
	for _, d := range both(t) {
		x, w := from[f32](t, d, vector(1, -2, 3)), from[f32](t, d, vector(0.5))
		column, square := must(x.View(0, 3, 1))(t), must(w.View(0, 1, 1))(t)
		gradient := func(part bool) []f32 {
			t.Helper()
			b := d.Batch("parts")
			c := ops.MatMulBiasGELUNNDeferred(b, column, square, w)
			if part {
				closeHandle(t, must(ops.Neg(c))(t).Untyped()) // runs what b has recorded
			}
			dw := runtime.GradOf(b, ops.SumDeferred(b, c), w)
			r := runtime.Read(b, dw)
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			return must(r.Value())(t)
		}
		if whole, parts := gradient(false), gradient(true); !slices.Equal(whole, parts) || len(whole) != 1 || whole[0] == 0 {
			t.Errorf("%s: the gradient is %v, in two parts %v", d.name, whole, parts)
		}
	}
}
