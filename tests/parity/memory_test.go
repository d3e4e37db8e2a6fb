package parity_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// C030: the pool keeps no more than its cap while sizes change, gives all of it
// back, and takes a tensor back once.
func TestC030PoolStaysBounded(t *testing.T) {
	const limit = 8 << 20
	for _, d := range both(t, runtime.WithPoolCap(limit)) {
		cycle := func(bytes int) {
			t.Helper()
			x := must(runtime.Zeros[uint8](d.Device, bytes))(t)
			closeHandle(t, x.Untyped())
			if err := x.Close(); err == nil {
				t.Fatalf("closing a tensor of %d bytes twice on %s: no error", bytes, d.name)
			}
			if s := d.Stats().Pool; s.Cached > limit {
				t.Fatalf("after %d bytes on %s the pool keeps %d, its cap is %d", bytes, d.name, s.Cached, limit)
			}
		}
		for n := 1; n <= 1000; n++ {
			cycle(n * 4096)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			cycle(1 + rng.IntN(1<<20))
		}
		d.Trim()
		if s := d.Stats(); s.Pool.Cached != 0 || s.Tensors != 0 {
			t.Errorf("after Trim on %s: %d bytes in the pool, %d tensors", d.name, s.Pool.Cached, s.Tensors)
		}
	}
}

// C034: no Go pointer to Go memory reaches C, whatever the arguments: scalars,
// several buffers, none, names, and memory that a batch outlives. The checks of
// cgo are on by default; scripts/proof.sh has the stricter ones on, too.
func TestC034ArgumentsOfC(t *testing.T) {
	for _, d := range both(t) {
		x, y := from[f32](t, d, vector(1, 2, 3)), from[f32](t, d, vector(4, 5, 6))
		empty := from[f32](t, d, constant(0, 0))
		b := d.Batch("a batch with a name, \x00 and ünïcode")
		sum := ops.ScaleDeferred(b, ops.AddDeferred(b, x, y), 2)
		norm, mean, rstd := ops.LayerNormDeferred(b, x, y, y, 1e-5)
		nothing := ops.AddDeferred(b, empty, empty)
		b.Keep(sum, norm, mean, rstd, nothing)
		b.Submit()
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(t, d, "scaled sum", sum, vector(10, 14, 18))
		expect(t, d, "mean", mean, number(2))
		expect(t, d, "nothing", nothing, constant(0, 0))
	}
}

// C031: a smaller tensor in the memory of a larger one knows its own length.
func TestC031SmallerTensorInPooledMemory(t *testing.T) {
	for _, d := range both(t) {
		d.Trim()
		big := from[f32](t, d, constant(9, 1000))
		closeHandle(t, big.Untyped())
		x := from[f32](t, d, vector(spaced(1, 10, 1)...))
		if x.Len() != 10 {
			t.Errorf("length %d on %s", x.Len(), d.name)
		}
		expect(t, d, "sum", must(ops.Sum(x))(t), number(55))
		expect(t, d, "values", x, vector(spaced(1, 10, 1)...))
		big = from[f32](t, d, constant(9, 1000))
		closeHandle(t, big.Untyped())
		zeros := must(runtime.Zeros[f32](d.Device, 10))(t)
		expect(t, d, "zeros", zeros, constant(0, 10))
	}
}

// decrement records w -= g in place.
func decrement(b *runtime.Batch, w, v, g runtime.Tensor[f32], one runtime.Tensor[f32], no runtime.Tensor[int32]) (newW, newV runtime.Tensor[f32]) {
	return ops.SGDDeferred(b, g, one, one, no, w, v, 1, 0, 0, false)
}

// C040: what is overwritten in place has been read before, and is read again
// after.
func TestC040InPlaceOrder(t *testing.T) {
	for _, d := range both(t) {
		one, no := from[f32](t, d, number(1)), must(runtime.FromSlice(d.Device, []int32{0}))(t)
		for i := range 100 {
			g, v := from[f32](t, d, matrix(row(1, 2), row(3, 4))), from[f32](t, d, constant(0, 2, 2))
			same := from[f32](t, d, matrix(row(1, 2), row(3, 4)))
			b := d.Batch("in place")
			sums := ops.BiasGradDeferred(b, g)
			zeroed, newV := decrement(b, g, v, same, one, no)
			out := ops.AddScalarDeferred(b, zeroed, 1)
			b.Keep(sums, out, zeroed, newV)
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			expect(t, d, "sums before", sums, vector(4, 6))
			expect(t, d, "one more after", out, constant(1, 2, 2))
			expect(t, d, "in place", zeroed, constant(0, 2, 2))
			if t.Failed() {
				t.Fatalf("run %d", i)
			}
			for _, x := range []runtime.Operand{sums, out, zeroed, newV, same} {
				closeHandle(t, x.Untyped())
			}
		}
	}
}

// C040: long chains, of new tensors and in place.
func TestC040Chains(t *testing.T) {
	for _, d := range both(t) {
		n := 1_000_000
		if d.Device.Reference() {
			n = 10_000
		}
		one, no := from[f32](t, d, number(1)), must(runtime.FromSlice(d.Device, []int32{0}))(t)
		x := must(runtime.Zeros[f32](d.Device, n))(t)
		b := d.Batch("chain")
		y := x
		for range 200 {
			y = ops.AddScalarDeferred(b, y, 1)
		}
		w, v, minus := must(runtime.Zeros[f32](d.Device, n/10))(t), must(runtime.Zeros[f32](d.Device, n/10))(t), from[f32](t, d, constant(-1, n/10))
		for range 200 {
			w, v = decrement(b, w, v, minus, one, no)
		}
		b.Keep(y, w, v)
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(t, d, "a chain of additions", y, constant(200, n))
		expect(t, d, "a chain in place", w, constant(200, n/10))
	}
}

// C040: sub-views of one tensor are memory that overlaps.
func TestC040SubViews(t *testing.T) {
	for _, d := range both(t) {
		one, no := from[f32](t, d, number(1)), must(runtime.FromSlice(d.Device, []int32{0}))(t)
		for range 100 {
			whole := from[f32](t, d, vector(spaced(0, 7, 1)...))
			left, right, middle := must(whole.View(0, 4))(t), must(whole.View(4, 4))(t), must(whole.View(2, 4))(t)
			v := from[f32](t, d, constant(0, 4))
			b := d.Batch("views")
			before := ops.ScaleDeferred(b, middle, 1)
			newLeft, v := decrement(b, left, v, right, one, no) // 0-4, 1-5, 2-6, 3-7
			after := ops.ScaleDeferred(b, middle, 1)
			b.Keep(before, after, newLeft, v)
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			expect(t, d, "before", before, vector(2, 3, 4, 5))
			expect(t, d, "after", after, vector(-4, -4, 4, 5))
			expect(t, d, "the whole", whole, vector(-4, -4, -4, -4, 4, 5, 6, 7))
			for _, x := range []runtime.Operand{before, after, newLeft, v, right, middle, whole} {
				closeHandle(t, x.Untyped())
			}
		}
	}
}

// C040: an operand that shares memory with what is updated in place is either
// right or refused.
func TestC040Aliases(t *testing.T) {
	for _, d := range both(t) {
		one, no := from[f32](t, d, number(1)), must(runtime.FromSlice(d.Device, []int32{0}))(t)
		aliased := func(name string, want golden.Tensor, g func(w runtime.Tensor[f32]) runtime.Tensor[f32]) {
			w, v := from[f32](t, d, vector(1, 2, 3, 4)), from[f32](t, d, constant(0, 3))
			head := must(w.View(0, 3))(t)
			b := d.Batch(name)
			newW, newV := decrement(b, head, v, g(w), one, no)
			b.Keep(newW, newV)
			switch err := b.Sync(context.Background()); {
			case err == nil:
				expect(t, d, name, newW, want)
			case mentions(err, runtime.ErrAlias, "sgd") != "":
				t.Errorf("%s on %s: %s", name, d.name, mentions(err, runtime.ErrAlias, "sgd"))
			default:
				expect(t, d, name+", refused", w, vector(1, 2, 3, 4))
			}
		}
		aliased("the same elements", vector(0, 0, 0), func(w runtime.Tensor[f32]) runtime.Tensor[f32] { return must(w.View(0, 3))(t) })
		aliased("elements one further", vector(-1, -1, -1), func(w runtime.Tensor[f32]) runtime.Tensor[f32] { return must(w.View(1, 3))(t) })
	}
}

// TestPackingCopiesNothing: the matrix of a convolution's weights is the weights
// themselves, with one tap or several, where it is an operand in the same
// program, and so is the gradient that comes back.
func TestPackingCopiesNothing(t *testing.T) {
	for _, taps := range []int{1, 3} {
		for _, opts := range [][]runtime.Option{{}, {runtime.Reference()}} {
			d := open(t, opts...)
			w := must(runtime.Zeros[f32](d, 512, 256, taps))(t)
			x := must(runtime.Zeros[f32](d, 1, 256*taps))(t)
			before := d.Stats().Pool
			b := d.Batch("packed")
			y := ops.MatMulNTDeferred(b, x, ops.PackWToColDeferred(b, w))
			dw := b.Grad(ops.SumDeferred(b, y), w)[0]
			back := runtime.Read(b, ops.SumDeferred(b, runtime.As[f32](dw.Untyped())))
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			if v, err := back.Value(); err != nil || v[0] != 0 {
				t.Errorf("the sum of the gradient is %v, %v", v, err)
			}
			// The gradient takes as much memory as the weights; a copy of either
			// would take that again.
			size := int64(4 * w.Len())
			if got := d.Stats().Pool.Peak - before.Peak; got >= 2*size {
				t.Errorf("%d taps on %s: the program takes %d bytes, the weights %d", taps, d.Name(), got, size)
			}
		}
	}
}
