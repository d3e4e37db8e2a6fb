package runtime_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

func TestBatchComputesKeepsAndReads(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, []float32{1, 2, 3, 4}, 2, 2)
		b := d.Batch("first")
		y := testops.AddDeferred(b, x, x)
		z := testops.ScaleDeferred(b, y, 10)
		s := testops.SumDeferred(b, z)
		b.Keep(z)
		ry, rs := runtime.Read(b, y), runtime.Read(b, s)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "y", value(t, ry), []float32{2, 4, 6, 8})
		if v, err := rs.Scalar(); err != nil || v != 200 {
			t.Errorf("sum: %v, %v", v, err)
		}
		wantEqual(t, "z", contents(t, z), []float32{20, 40, 60, 80})
		wantEqual(t, "shape of z", z.Shape(), []int{2, 2})
		_, err := y.Read()
		wantError(t, err, runtime.ErrStale, "read: the tensor is stale")
		if err := z.Close(); err != nil {
			t.Error(err)
		}
		wantError(t, z.Close(), runtime.ErrStale)

		u := testops.ScaleDeferred(b, x, 3) // the same batch again
		ru := runtime.Read(b, u)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "u", value(t, ru), []float32{3, 6, 9, 12})
		if n := d.Stats().Tensors; n != 1 {
			t.Errorf("%d tensors are left, want 1", n)
		}
	})
}

func TestReadIsACopyInProgramOrder(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w, g := from(t, d, []float32{1, 2}, 2), from(t, d, []float32{1, 1}, 2)
		b := d.Batch("order")
		before := runtime.Read(b, w)
		w2 := testops.SGDDeferred(b, w, g, 0.5)
		between := runtime.Read(b, w2)
		w3 := testops.SGDDeferred(b, w2, g, 0.5)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "before", value(t, before), []float32{1, 2})
		wantEqual(t, "between", value(t, between), []float32{0.5, 1.5})
		wantEqual(t, "after", contents(t, w3), []float32{0, 1})
		_, err := w.Read()
		wantError(t, err, runtime.ErrStale)
	})
}

func TestReadbackBeforeSync(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, []float32{1}, 1)
		b := d.Batch("early")
		r := runtime.Read(b, testops.ScaleDeferred(b, x, 2))
		_, err := r.Value()
		wantError(t, err, runtime.ErrNotSynced, `batch "early"`, "scale", "batch_test.go:")
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "first", value(t, r), []float32{2})
		wantEqual(t, "second", value(t, r), []float32{2})
	})
}

func TestImmediateCalls(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x, err := testops.Fill(d, 3, 2, 2)
		if err != nil {
			t.Fatal(err)
		}
		y, err := testops.Scale(x, 2)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "y", contents(t, y), repeat(6, 4))

		_, err = testops.Mul(x, from(t, d, []float32{1}, 1))
		wantError(t, err, runtime.ErrShape, "mul: ", "batch_test.go:")
		_, err = testops.Scale(tensor{}, 1)
		wantError(t, err, runtime.ErrStale)
	})
}

// An immediate call on a pending tensor runs what its batch has recorded, and
// the batch goes on, with its tape.
func TestImmediateCallOnPendingTensor(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, []float32{1, 2}, 2)
		b := d.Batch("outer")
		y := testops.MulDeferred(b, x, x)
		other := testops.ScaleDeferred(b, x, 5)
		early := runtime.Read(b, y)
		z, err := testops.Scale(y, 10)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "z", contents(t, z), []float32{10, 40})
		wantEqual(t, "early", value(t, early), []float32{1, 4})
		u := testops.AddDeferred(b, y, other)
		loss := testops.SumDeferred(b, u)
		g := runtime.GradOf(b, loss, x)
		ru, rg := runtime.Read(b, u), runtime.Read(b, g)
		_, err = ru.Value() // it belongs to the part that has not run
		wantError(t, err, runtime.ErrNotSynced)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "u", value(t, ru), []float32{6, 14})
		wantEqual(t, "g", value(t, rg), []float32{7, 9})
		_, err = other.Read()
		wantError(t, err, runtime.ErrStale)
		if n := d.Stats().Tensors; n != 2 {
			t.Errorf("%d tensors are left, want x and z", n)
		}
	})
}

func TestGradients(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		a, c := from(t, d, []float32{1, 2, 3}, 3), from(t, d, []float32{4, 5, 6}, 3)
		unused := from(t, d, []float32{7, 8}, 2)
		b := d.Batch("grad")
		p := testops.MulDeferred(b, a, c)
		q := testops.ScaleDeferred(b, p, 2)
		s := testops.AddDeferred(b, q, a) // 2ac + a
		loss := testops.SumDeferred(b, testops.MulDeferred(b, s, a))
		g := b.Grad(loss, a, c, unused, s)
		var reads []*runtime.Readback[float32]
		for _, h := range g {
			reads = append(reads, runtime.Read(b, runtime.As[float32](h)))
		}
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		// loss = sum 2a²c + a²
		wantEqual(t, "d_a", value(t, reads[0]), []float32{4*4 + 2, 8*5 + 4, 12*6 + 6})
		wantEqual(t, "d_c", value(t, reads[1]), []float32{2, 8, 18})
		wantEqual(t, "d_unused", value(t, reads[2]), []float32{0, 0})
		wantEqual(t, "d_s", value(t, reads[3]), []float32{1, 2, 3})
	})
}

func TestTrainingStep(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w := from(t, d, repeat(1, 8), 4, 2)
		ids := from(t, d, []int32{0, 3, 0}, 3)
		b := d.Batch("step")
		for step := range 3 {
			loss := testops.SumDeferred(b, testops.EmbeddingDeferred(b, ids, w))
			g := runtime.GradOf(b, loss, w)
			w = testops.SGDDeferred(b, w, g, 0.25)
			if err := b.Sync(background); err != nil {
				t.Fatal(err)
			}
			s := 0.25 * float32(step+1)
			wantEqual(t, "w", contents(t, w), []float32{1 - 2*s, 1 - 2*s, 1, 1, 1, 1, 1 - s, 1 - s})
		}
		p := d.Stats().Programs
		if p.Misses != 1 || p.Hits != 2 {
			t.Errorf("programs: %+v", p)
		}
	})
}
