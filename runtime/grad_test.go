package runtime_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

func view(t testing.TB, x tensor, offset int, shape ...int) tensor {
	t.Helper()
	v, err := x.View(offset, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Gradients with respect to parts of one array, to the array, and through a
// result that is used as a whole, in part and in another shape.
func TestGradientsThroughViews(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		all := from(t, d, sequence(6), 6)
		left, right := view(t, all, 0, 3), view(t, all, 3, 3)
		b := d.Batch("views")
		p := testops.MulDeferred(b, left, right)                          // a·c
		q := testops.MulDeferred(b, view(t, p, 1, 2), view(t, all, 4, 2)) // part of p, part of right
		square := view(t, all, 0, 2, 3)
		s := testops.MulDeferred(b, square, square)
		one := testops.AddDeferred(b, testops.SumDeferred(b, q), testops.SumDeferred(b, s))
		loss := testops.AddDeferred(b, one, testops.SumDeferred(b, p))
		g := b.Grad(loss, left, right, all, p, view(t, all, 5, 1))
		var reads []*runtime.Readback[float32]
		for _, h := range g {
			reads = append(reads, runtime.Read(b, runtime.As[float32](h)))
		}
		mustSync(t, b)
		// loss = Σ a_i c_i + a_1 c_1² + a_2 c_2² + Σ a² + Σ c², a = 0 1 2, c = 3 4 5
		wantLeft := []float32{3 + 0, 4 + 16 + 2, 5 + 25 + 4}
		wantRight := []float32{0 + 6, 1 + 2*1*4 + 8, 2 + 2*2*5 + 10}
		wantEqual(t, "left", value(t, reads[0]), wantLeft)
		wantEqual(t, "right", value(t, reads[1]), wantRight)
		wantEqual(t, "all", value(t, reads[2]), append(append([]float32{}, wantLeft...), wantRight...))
		wantEqual(t, "p", value(t, reads[3]), []float32{1, 1 + 4, 1 + 5})
		wantEqual(t, "last", value(t, reads[4]), wantRight[2:])
	})
}

// A parameter that shares some of its memory with what the loss depends on.
func TestGradientOfOverlappingView(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		all := from(t, d, sequence(4), 4)
		b := d.Batch("overlap")
		p := testops.MulDeferred(b, view(t, all, 0, 3), view(t, all, 0, 3))
		loss := testops.SumDeferred(b, p)
		r := runtime.Read(b, runtime.GradOf(b, loss, view(t, all, 1, 3)))
		mustSync(t, b)
		wantEqual(t, "gradient", value(t, r), []float32{2, 4, 0})
	})
}

// Several steps in one batch: the gradient stops at the version that it is
// asked for.
func TestTwoStepsInOneBatch(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w := from(t, d, []float32{1, 2}, 2)
		b := d.Batch("two steps")
		for range 2 {
			loss := testops.SumDeferred(b, testops.MulDeferred(b, w, w))
			w = testops.SGDDeferred(b, w, runtime.GradOf(b, loss, w), 0.25)
		}
		mustSync(t, b)
		wantEqual(t, "w", contents(t, w), []float32{0.25, 0.5})
	})
}

func TestGradErrors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w, g := from(t, d, []float32{1, 2}, 2), from(t, d, []float32{1, 1}, 2)
		ids := from(t, d, []int32{0}, 1)
		b := d.Batch("wrong")
		for _, c := range []struct {
			name   string
			record func()
			kind   error
			text   string
		}{
			{"overwritten", func() {
				loss := testops.SumDeferred(b, testops.MulDeferred(b, w, w))
				w2 := testops.SGDDeferred(b, w, g, 1)
				b.Grad(loss, w2, g)
			}, nil, ""},
			{"read after update", func() {
				p := testops.MulDeferred(b, g, g)
				loss := testops.SumDeferred(b, testops.MulDeferred(b, p, w))
				testops.SGDDeferred(b, w, g, 1)
				b.Grad(loss, g)
			}, runtime.ErrOverwritten, "mul: the gradient reads b, which sgd ("},
			{"through an update", func() {
				w2 := testops.SGDDeferred(b, w, g, 1)
				b.Grad(testops.SumDeferred(b, w2), g)
			}, runtime.ErrNoGradient, "sgd: has no gradient"},
			{"integers", func() { b.Grad(testops.SumDeferred(b, w), ids) }, runtime.ErrNoGradient, "grad: parameter 0 holds i32"},
			{"resident loss", func() { b.Grad(w, w) }, runtime.ErrNoGradient, "loss is not a result of this batch"},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.record()
				err := b.Err()
				b.Discard()
				if c.kind == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				wantError(t, err, c.kind, c.text, `batch "wrong"`, "grad_test.go:")
				wantEqual(t, "w", contents(t, w), []float32{1, 2})
			})
		}
	})
}

// Several losses of one batch have gradients of their own; that of a loss with
// several elements is that of their sum.
func TestGradientsOfSeveralLosses(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(3), 3)
		b := d.Batch("losses")
		square := testops.MulDeferred(b, x, x)
		cube := testops.MulDeferred(b, square, x)
		first := runtime.Read(b, runtime.GradOf(b, square, x))
		second := runtime.Read(b, runtime.GradOf(b, testops.SumDeferred(b, cube), x))
		both := runtime.Read(b, runtime.GradOf(b, testops.AddDeferred(b, square, cube), x))
		mustSync(t, b)
		wantEqual(t, "of the square", value(t, first), []float32{0, 2, 4})
		wantEqual(t, "of the cube", value(t, second), []float32{0, 3, 12})
		wantEqual(t, "of both", value(t, both), []float32{0, 5, 16})
	})
}

// A parameter that a loss does not depend on has a gradient of zeros, or none where that
// is asked for: one that the batch does not use, that another result uses, or that
// StopGradient cuts off.
func TestNoGradient(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		used, other, unused, stopped := from(t, d, []float32{1, 2}, 2), from(t, d, []float32{3, 4}, 2), from(t, d, []float32{5}, 1), from(t, d, []float32{6, 7}, 2)
		b := d.Batch("none")
		testops.MulDeferred(b, other, other)
		loss := testops.SumDeferred(b, testops.MulDeferred(b, used, runtime.StopGradient(b, stopped)))
		params := []runtime.Operand{other, used, unused, stopped}
		var reads []*runtime.Readback[float32]
		for i, h := range b.GradOrNone(loss, params...) {
			if got, want := h.IsZero(), i != 1; got != want {
				t.Errorf("parameter %d has no gradient: %v, want %v", i, got, want)
			}
			if !h.IsZero() {
				reads = append(reads, runtime.Read(b, runtime.As[float32](h)))
			}
		}
		for _, h := range b.Grad(loss, params...) {
			reads = append(reads, runtime.Read(b, runtime.As[float32](h)))
		}
		mustSync(t, b)
		for i, want := range [][]float32{{6, 7}, {0, 0}, {6, 7}, {0}, {0, 0}} {
			wantEqual(t, "gradient", value(t, reads[i]), want)
		}
	})
}

// Gradients of micro-batches add up to that of the batch.
func TestMicroBatches(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w := from(t, d, []float32{1, 2}, 2)
		b := d.Batch("micro")
		var total tensor
		for i := range 4 {
			x := from(t, d, []float32{float32(i), 1}, 2)
			y := testops.MulDeferred(b, testops.MulDeferred(b, w, x), w) // w² x
			g := runtime.GradOf(b, testops.SumDeferred(b, y), w)
			if i > 0 {
				g = testops.AddDeferred(b, total, g)
			}
			b.Keep(g)
			mustSync(t, b)
			if i > 0 {
				total.Close()
			}
			total = g
		}
		wantEqual(t, "the sum", contents(t, total), []float32{2 * 1 * (0 + 1 + 2 + 3), 2 * 2 * 4})
		if p := d.Stats().Programs; p.Misses != 2 {
			t.Errorf("%+v, want one program for the first step and one for the others", p)
		}
	})
}
