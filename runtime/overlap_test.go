package runtime_test

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// wantInFlight checks how many programs have not completed.
func wantInFlight(t *testing.T, d *runtime.Device, want int) {
	t.Helper()
	if n := d.Stats().InFlight; n != want {
		t.Errorf("%d programs in flight, want %d", n, want)
	}
}

// A read-back is copied while later programs run or wait, and so are tensors that
// those do not use.
func TestTransfersBesidePrograms(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		const n = 1 << 16
		d, double := open(t, 0)
		x, other := from(t, d, sequence(n), n), from(t, d, repeat(7, n), n)
		b := d.Batch("first")
		first := runtime.Read(b, testops.ScaleDeferred(b, x, 2))
		done := b.Submit()
		release := double.hold()
		defer release()
		second := runtime.Read(b, testops.ScaleDeferred(b, x, 3))
		b.Submit()
		third := runtime.Read(b, testops.ScaleDeferred(b, x, 4))
		fence := b.Submit()
		if got := value(t, first); got[n-1] != 2*(n-1) {
			t.Errorf("the first read-back ends with %v", got[n-1])
		}
		if err := done.Wait(background); err != nil {
			t.Error(err)
		}
		wantInFlight(t, d, 2)
		if err := other.Write(sequence(n)); err != nil {
			t.Error(err)
		}
		wantEqual(t, "another tensor", contents(t, other), sequence(n))
		wantEqual(t, "a new one", contents(t, from(t, d, repeat(5, n), n)), repeat(5, n))
		wantInFlight(t, d, 2)
		select {
		case <-fence.Done():
			t.Error("complete while the device is held")
		case <-time.After(5 * time.Millisecond):
		}
		release()
		for factor, r := range map[float32]*runtime.Readback[float32]{3: second, 4: third} {
			if got := value(t, r); got[1] != factor || got[n-1] != factor*(n-1) {
				t.Errorf("%v, …, %v, want multiples of %v", got[1], got[n-1], factor)
			}
		}
	})
}

// Two batches are recorded by turns and are in flight at once, while a third is
// recorded; each gives its own values.
func TestTwoBatchesInFlight(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, double := open(t, 0)
		release := double.hold()
		defer release()
		x := from(t, d, []float32{1, 2, 3}, 3)
		a, b, c := d.Batch("a"), d.Batch("b"), d.Batch("c")
		y, z := x, x
		for range 20 {
			y = testops.AddDeferred(a, y, x)
			z = testops.ScaleDeferred(b, z, 2)
		}
		ry, rz := runtime.Read(a, y), runtime.Read(b, z)
		a.Keep(y)
		fences := []*runtime.Fence{a.Submit(), b.Submit()}
		rc := runtime.Read(c, testops.MulDeferred(c, x, y)) // y is not there yet
		wantInFlight(t, d, 2)
		for i, f := range fences {
			select {
			case <-f.Done():
				t.Errorf("program %d is complete while the device is held", i)
			default:
			}
		}
		release()
		mustSync(t, c)
		wantEqual(t, "a", value(t, ry), []float32{21, 42, 63})
		wantEqual(t, "b", value(t, rz), []float32{1 << 20, 2 << 20, 3 << 20})
		wantEqual(t, "c", value(t, rc), []float32{21, 84, 189})
	})
}

// What a program in flight uses is not given to others: not the memory of tensors
// that are closed meanwhile, nor its workspace, nor the place of its scalars.
func TestMemoryInFlightIsNotReused(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		const n, programs = 1 << 14, 6
		d, double := open(t, 0)
		b := d.Batch("same")
		record := func(x tensor, s float32) *runtime.Readback[float32] { // s² x² + x
			y := testops.ScaleDeferred(b, x, s)
			return runtime.Read(b, testops.AddDeferred(b, testops.MulDeferred(b, y, y), x))
		}
		x := from(t, d, repeat(2, n), n)
		r := record(x, 1)
		mustSync(t, b) // the program is known, and its memory there to be taken
		wantEqual(t, "alone", value(t, r), repeat(6, n))
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		release := double.hold()
		defer release()
		var reads []*runtime.Readback[float32]
		var last *runtime.Fence
		for i := range programs {
			x := from(t, d, repeat(float32(i+1), n), n)
			reads = append(reads, record(x, float32(i)))
			last = b.Submit()
			if err := x.Close(); err != nil {
				t.Error(err)
			}
			from(t, d, repeat(-100, n), n).Close() // where x was, if that were free
		}
		wantInFlight(t, d, programs)
		release()
		for i, r := range reads {
			x, s := float32(i+1), float32(i)
			wantEqual(t, "in flight", value(t, r), repeat(s*s*x*x+x, n))
		}
		if err := last.Wait(background); err != nil {
			t.Error(err)
		}
		if s := d.Stats(); s.Tensors != 0 || s.Pool.Live != 0 {
			t.Errorf("%d tensors and %d bytes are left", s.Tensors, s.Pool.Live)
		}
	})
}
