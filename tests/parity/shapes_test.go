package parity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// must is the value of a call that has to succeed.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// from makes a tensor of float values.
func from[T f32 | f16 | bf16](t testing.TB, d device, v golden.Tensor) runtime.Tensor[T] {
	t.Helper()
	a := array{dtype: runtime.TypeOf[T](), shape: v.Shape, data: v.Data}
	return runtime.As[T](a.upload(t, d.Device))
}

func ints(t testing.TB, d device, v ...int32) runtime.Tensor[int32] {
	t.Helper()
	return must(runtime.FromSlice(d.Device, v, len(v)))(t)
}

// expect compares a tensor with values that have no rounding error.
func expect(t testing.TB, d device, what string, got runtime.Operand, want golden.Tensor) {
	t.Helper()
	h := got.Untyped()
	if msg := within(download(t, h), array{dtype: h.DType(), shape: want.Shape, data: want.Data}, 0); msg != "" {
		t.Errorf("%s on %s: %s", what, d.name, msg)
	}
}

// C018: ids at and beyond the last row, with more rows behind the table.
func TestC018EmbeddingIDs(t *testing.T) {
	for _, d := range everywhere(t) {
		embeddingIDs[f32](t, d)
		embeddingIDs[f16](t, d)
		embeddingIDs[bf16](t, d)
	}
}

func embeddingIDs[T f32 | f16 | bf16](t *testing.T, d device) {
	rows := golden.Tensor{Shape: []int{6, 3}, Data: spaced(0, 17, 1)}
	table := must(from[T](t, d, rows).View(0, 5, 3))(t)
	y := must(ops.Embedding(ints(t, d, 0, 4), table))(t)
	expect(t, d, "rows 0 and 4", y, matrix(row(0, 1, 2), row(12, 13, 14)))
	for _, id := range []int32{5, 6, -1, -1 << 31} {
		want := runtime.FaultError{Tensor: "ids", Index: []int64{1}, Value: int64(id), Bound: 5}
		ids := ints(t, d, 2, id, 99)
		want.Op = "embedding"
		_, err := ops.Embedding(ids, table)
		checkFault(t, d, "immediate", err, want)
		b := d.Batch("lookup")
		kept := ops.EmbeddingDeferred(b, ids, table)
		back := runtime.Read(b, kept)
		b.Keep(kept)
		checkFault(t, d, "deferred", b.Sync(context.Background()), want)
		if v, err := back.Value(); err == nil {
			t.Errorf("id %d on %s: the read-back gives %v", id, d.name, v)
		}
		if v, err := kept.Read(); err == nil {
			t.Errorf("id %d on %s: the kept result holds %v", id, d.name, v)
		}
		want.Op = "embedding_backward"
		_, err = ops.EmbeddingBackward(ids, table, from[T](t, d, constant(1, 3, 3)))
		checkFault(t, d, "backward", err, want)
		want.Op = "embedding_backward_accumulate"
		sum := from[f32](t, d, rows)
		_, err = ops.EmbeddingBackwardAccumulate(must(sum.View(0, 5, 3))(t), ids, from[T](t, d, constant(1, 3, 3)))
		checkFault(t, d, "accumulating backward", err, want)
		expect(t, d, "the sums", sum, rows)
	}
}

// C019: repeated ids add up, every time to the same bits, and once only.
func TestC019RepeatedIDsAreDeterministic(t *testing.T) {
	for _, d := range everywhere(t) {
		repeatedIDs[f32](t, d)
		repeatedIDs[f16](t, d)
		repeatedIDs[bf16](t, d)
		spread := from[f32](t, d, matrix(row(1e8, 1), row(1, 2), row(-1e8, 3)))
		table := from[f32](t, d, constant(0, 4, 2))
		var first array
		for i := range 100 {
			dw := must(ops.EmbeddingBackward(ints(t, d, 3, 3, 3), table, spread))(t)
			got := download(t, dw.Untyped())
			if i == 0 {
				first = got
			}
			if msg := identical(got, first); msg != "" {
				t.Fatalf("run %d on %s: %s", i, d.name, msg)
			}
			if v := got.data[6]; v != 0 && v != 1 {
				t.Fatalf("1e8 + 1 - 1e8 on %s is %v", d.name, v)
			}
		}
	}
}

func repeatedIDs[T f32 | f16 | bf16](t *testing.T, d device) {
	table := from[T](t, d, constant(0, 4, 2))
	ids, dy := ints(t, d, 2, 2, 2, 0), from[T](t, d, constant(1, 4, 2))
	for range 2 {
		dw := must(ops.EmbeddingBackward(ids, table, dy))(t)
		expect(t, d, "gradient of the table", dw, matrix(row(1, 1), row(0, 0), row(3, 3), row(0, 0)))
		closeHandle(t, dw.Untyped())
	}
	many := must(ops.EmbeddingBackward(ints(t, d, slices.Repeat([]int32{1}, 4096)...), table, from[T](t, d, constant(1, 4096, 2))))(t)
	expect(t, d, "4096 times the same id", many, matrix(row(0, 0), row(4096, 4096), row(0, 0), row(0, 0)))
}

// conv1d is a convolution of one channel, by columns and a product.
func conv1d[T f32 | f16 | bf16](b *runtime.Batch, x, w runtime.Tensor[T], taps int, stride, left, right int32) runtime.Tensor[T] {
	return ops.MatMulNTDeferred(b, ops.Im2ColDeferred(b, x, 1, stride, left, right, taps), ops.PackWToColDeferred(b, w))
}

// C020: strided convolutions, with one tap, too.
func TestC020ConvolutionStride(t *testing.T) {
	for _, d := range everywhere(t) {
		convolution[f32](t, d)
		convolution[f16](t, d)
		convolution[bf16](t, d)
	}
}

func convolution[T f32 | f16 | bf16](t *testing.T, d device) {
	b := d.Batch("conv")
	strided := conv1d(b, signal[T](t, d, spaced(1, 8, 1)...), filter[T](t, d, 1, 10, 100), 3, 2, 0, 0)
	single := conv1d(b, signal[T](t, d, 1, 2, 3, 4), filter[T](t, d, 10), 1, 2, 1, 1)
	b.Keep(strided, single)
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	expectRounded(t, d, "stride 2", strided, column(321, 543, 765))
	expectRounded(t, d, "one tap, stride 2, padded", single, column(0, 20, 40))
}

// C022: the windows of a strided convolution overlap, and their gradients add
// up.
func TestC022ConvolutionBackward(t *testing.T) {
	for _, d := range everywhere(t) {
		convolutionBackward[f32](t, d)
		convolutionBackward[f16](t, d)
		convolutionBackward[bf16](t, d)
	}
}

func convolutionBackward[T f32 | f16 | bf16](t *testing.T, d device) {
	b := d.Batch("conv")
	x, w := signal[T](t, d, spaced(1, 6, 1)...), filter[T](t, d, 1, 10, 100)
	y := conv1d(b, x, w, 3, 2, 1, 0)
	// The loss is the sum of y times dy, of which the product is linear.
	grads := b.Grad(ops.DotDeferred(b, y, signal[T](t, d, 1, 10, 100)), x, w)
	b.Keep(grads[0], grads[1])
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	expectRounded(t, d, "dx", grads[0], column(10, 110, 100, 1100, 1000, 10000))
	expectRounded(t, d, "dw", grads[1], golden.Tensor{Shape: []int{1, 1, 3}, Data: row(420, 531, 642)})
}

func column(v ...float64) golden.Tensor { return golden.Tensor{Shape: []int{1, len(v), 1}, Data: v} }

func signal[T f32 | f16 | bf16](t testing.TB, d device, v ...float64) runtime.Tensor[T] {
	t.Helper()
	return from[T](t, d, column(v...))
}

func filter[T f32 | f16 | bf16](t testing.TB, d device, v ...float64) runtime.Tensor[T] {
	t.Helper()
	return from[T](t, d, golden.Tensor{Shape: []int{1, 1, len(v)}, Data: v})
}

// expectRounded compares a tensor with whole numbers rounded to its type.
func expectRounded(t testing.TB, d device, what string, got runtime.Operand, want golden.Tensor) {
	t.Helper()
	h := got.Untyped()
	if msg := differ(download(t, h), array{dtype: h.DType(), shape: want.Shape, data: want.Data}, nil); msg != "" {
		t.Errorf("%s on %s: %s", what, d.name, msg)
	}
}

// C023: nothing is read back as nothing.
func TestC023ReadingNothingBack(t *testing.T) {
	for _, d := range everywhere(t) {
		b := d.Batch("empty")
		back := runtime.Read(b, ops.NegDeferred(b, from[f32](t, d, constant(0, 0, 5))))
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		if v, err := back.Value(); err != nil || len(v) != 0 {
			t.Errorf("reading nothing back on %s: %v, %v", d.name, v, err)
		}
	}
}

// C024: a product over nothing is zeros, also in memory that held something else.
func TestC024EmptyProductsInUsedMemory(t *testing.T) {
	for _, d := range both(t) {
		for range 64 { // what the pool hands out next
			h := from[f32](t, d, constant(7, 2, 3))
			closeHandle(t, h.Untyped())
		}
		emptyProducts[f32](t, d)
		emptyProducts[f16](t, d)
		emptyProducts[bf16](t, d)
	}
}

func emptyProducts[T f32 | f16 | bf16](t *testing.T, d device) {
	a, w, bias := from[T](t, d, constant(0, 2, 0)), from[T](t, d, constant(0, 0, 3)), from[T](t, d, vector(1, -1, 0))
	expect(t, d, "no bias", must(ops.MatMulNN(a, w))(t), constant(0, 2, 3))
	expect(t, d, "bias", must(ops.MatMulBiasNN(a, w, bias))(t), matrix(row(1, -1, 0), row(1, -1, 0)))
	y := must(ops.MatMulBiasGELUErfNN(a, w, bias))(t)
	want := row(0.84134475, -0.15865525, 0)
	got := download(t, y.Untyped())
	if msg := differ(got, array{dtype: got.dtype, shape: []int{2, 3}, data: slices.Repeat(want, 2)}, nil); msg != "" {
		t.Errorf("bias and GELU on %s: %s", d.name, msg)
	}
}

// C026: rows that no vector width divides, at an odd offset.
func TestC026OddRows(t *testing.T) {
	for _, d := range everywhere(t) {
		for _, width := range []int{769, 1, 3, 5, 7} {
			oddRows[f32](t, d, width)
			oddRows[f16](t, d, width)
			oddRows[bf16](t, d, width)
		}
	}
}

func oddRows[T f32 | f16 | bf16](t *testing.T, d device, width int) {
	x := golden.Tensor{Shape: []int{3, width}}
	want := array{dtype: runtime.TypeOf[T](), shape: x.Shape}
	for r, y := range row(0.999995, 0.99999875, 0.99999944) {
		x.Data = append(x.Data, constant(float64(r+1), width).Data...)
		want.data = append(want.data, constant(y, width).Data...)
	}
	odd := append(golden.Floats{99}, x.Data...)
	shifted := must(from[T](t, d, vector(odd...)).View(1, 3, width))(t)
	gamma := must(from[T](t, d, constant(1, width+1)).View(1, width))(t)
	for _, in := range []runtime.Tensor[T]{from[T](t, d, x), shifted} {
		var first array
		for i := range 50 {
			y, rstd, err := ops.RMSNorm(in, gamma, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			got := download(t, y.Untyped())
			if i == 0 {
				first = got
				if msg := differ(got, want, nil); msg != "" {
					t.Errorf("width %d on %s: %s", width, d.name, msg)
				}
			}
			if msg := identical(got, first); msg != "" {
				t.Fatalf("width %d, run %d on %s: %s", width, i, d.name, msg)
			}
			closeHandle(t, y.Untyped())
			closeHandle(t, rstd.Untyped())
		}
	}
}

// C028: extents are multiplied in 64 bits, and one that does not fit is refused.
// No memory is used: nothing here is run.
func TestC028LargeShapes(t *testing.T) {
	for _, d := range both(t) {
		b := d.Batch("large")
		y := ops.FillDeferred[f16](b, 1, 524290, 64, 64, 1)
		if n := y.Len(); n != 2147491840 {
			t.Errorf("on %s: shape %v has %d elements, want 2147491840", d.name, y.Shape(), n)
		}
		z := ops.FillDeferred[f32](b, 1, 1<<32, 1)
		if n := z.Len(); n != 1<<32 {
			t.Errorf("on %s: shape %v has %d elements, want %d", d.name, z.Shape(), n, int64(1<<32))
		}
		last := must(z.View(1<<32-3, 3))(t)
		if _, err := z.View(1<<32-2, 3); mentions(err, runtime.ErrShape, "view", "4294967294", "4294967296") != "" {
			t.Errorf("on %s: %s", d.name, mentions(err, runtime.ErrShape, "view", "4294967294", "4294967296"))
		}
		if sum := ops.NegDeferred(b, last); sum.Len() != 3 || b.Err() != nil {
			t.Errorf("on %s: the end of a large tensor has shape %v (%v)", d.name, sum.Shape(), b.Err())
		}
		// Few elements, far from the start: the offset passes 2^31, not the count.
		wide := ops.FillDeferred[f32](b, 1, 196226, 10944)
		for _, r := range []int{196224, 196225} {
			part, err := wide.View(r*10944, 1, 10944)
			if err != nil || part.Len() != 10944 {
				t.Errorf("row %d of %v on %s: %d elements, %v", r, wide.Shape(), d.name, part.Len(), err)
			}
		}
		if _, err := wide.View(196226*10944, 1, 10944); mentions(err, runtime.ErrShape, "view", "2147497344") != "" {
			t.Errorf("on %s: %s", d.name, mentions(err, runtime.ErrShape, "view", "2147497344"))
		}
		b.Discard()
		for _, shape := range [][]int{{1 << 32, 1 << 32}, {1 << 62, 4}, {3, 1 << 62}} {
			_, err := ops.Fill[f32](d.Device, 1, shape...)
			if msg := mentions(err, runtime.ErrShape, "fill", fmt.Sprint(shape[0])); msg != "" {
				t.Errorf("shape %v on %s: %s", shape, d.name, msg)
			}
			_, err = runtime.Zeros[f32](d.Device, shape...)
			if msg := mentions(err, runtime.ErrShape, "zeros", fmt.Sprint(shape)); msg != "" {
				t.Errorf("shape %v on %s: %s", shape, d.name, msg)
			}
		}
		_, err := ops.FillBias(from[f32](t, d, constant(1, 4)), 1<<62)
		if msg := mentions(err, runtime.ErrShape, "fill_bias", fmt.Sprint(1<<62)); msg != "" {
			t.Errorf("on %s: %s", d.name, msg)
		}
	}
}

// C029: products of every small shape around tiles: each element is K.
func TestC029ProductShapes(t *testing.T) {
	for _, d := range everywhere(t) {
		productShapes[f32](t, d)
		productShapes[f16](t, d)
		productShapes[bf16](t, d)
	}
}

func productShapes[T f32 | f16 | bf16](t *testing.T, d device) {
	extents := []int{1, 2, 3, 5, 6, 7, 8, 12, 15, 16, 17, 31, 33, 64, 65}
	depths := []int{1, 2, 15, 16, 17, 33}
	ones := from[T](t, d, constant(1, 65*33))
	zeros := from[T](t, d, constant(0, 65))
	view := func(x runtime.Tensor[T], shape ...int) runtime.Tensor[T] { return must(x.View(0, shape...))(t) }
	b := d.Batch("products")
	for _, m := range extents {
		for _, n := range extents {
			type result struct {
				k           float64
				plain, gelu runtime.Tensor[T]
			}
			var all []result
			for _, k := range depths {
				a, w, wt := view(ones, m, k), view(ones, k, n), view(ones, n, k)
				all = append(all, result{float64(k), ops.MatMulNNDeferred(b, a, w), ops.MatMulBiasGELUNTDeferred(b, a, wt, view(zeros, n))})
			}
			for _, r := range all {
				b.Keep(r.plain, r.gelu)
			}
			if err := b.Sync(context.Background()); err != nil {
				t.Fatalf("%d x %d on %s: %v", m, n, d.name, err)
			}
			for _, r := range all {
				plain, gelu := download(t, r.plain.Untyped()), download(t, r.gelu.Untyped())
				if msg := within(plain, array{plain.dtype, []int{m, n}, constant(r.k, m, n).Data}, 0); msg != "" {
					t.Errorf("%d x %d x %v of %s on %s: %s", m, n, r.k, plain.dtype, d.name, msg)
				}
				want := constant(geluOf(r.k), m, n)
				if msg := differ(gelu, array{gelu.dtype, []int{m, n}, want.Data}, nil); msg != "" {
					t.Errorf("GELU of %d x %d x %v of %s on %s: %s", m, n, r.k, gelu.dtype, d.name, msg)
				}
				closeHandle(t, r.plain.Untyped())
				closeHandle(t, r.gelu.Untyped())
			}
		}
	}
}

// geluOf is GELU for the positive whole numbers.
func geluOf(x float64) float64 {
	switch x {
	case 1:
		return 0.84119199
	case 2:
		return 1.95459769
	}
	return x // to f32, from 6 on
}
