package runtime_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/backend"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// injected runs a program that updates w and reads two results of it, and reports
// what Sync and the read-backs say.
func injected(t *testing.T, d *runtime.Device, w, g tensor) (tensor, error) {
	t.Helper()
	b := d.Batch("injected")
	updated := testops.SGDDeferred(b, w, g, 1)
	big := testops.AddDeferred(b, updated, g)
	b.Keep(big)
	reads := []*runtime.Readback[float32]{runtime.Read(b, testops.ScaleDeferred(b, big, 2)), runtime.Read(b, updated)}
	err := b.Sync(background)
	for _, r := range reads {
		if v, e := r.Value(); !errors.Is(e, err) || (v == nil) != (err != nil) {
			t.Errorf("Sync says %v, a read-back %v, %v", err, v, e)
		}
	}
	if err != nil {
		if _, e := big.Read(); e == nil {
			t.Error("a result of a program that failed can be read")
		}
		return w, err
	}
	if e := big.Close(); e != nil {
		t.Error(e)
	}
	return updated, nil
}

// A program that cannot be compiled, or for which there is no room beside its
// tensors, fails with the cause and its batch; nothing has changed, and the next
// attempt succeeds.
func TestProgramsThatCannotBeMade(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		broken := errors.New("the compiler gave up")
		d, double := open(t, 0)
		w, g := from(t, d, []float32{5, 6}, 2), from(t, d, []float32{1, 1}, 2)
		double.builds = broken
		w, err := injected(t, d, w, g)
		wantError(t, err, broken, `batch "injected"`)
		wantEqual(t, "w", contents(t, w), []float32{5, 6})
		double.places = broken
		w, err = injected(t, d, w, g)
		wantError(t, err, broken, `batch "injected"`)
		wantEqual(t, "w", contents(t, w), []float32{5, 6})
		double.places = fmt.Errorf("%w for a test", backend.ErrMemory) // once: the second attempt finds room
		if w, err = injected(t, d, w, g); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "w", contents(t, w), []float32{4, 5})
		if n := d.Stats().Tensors; n != 2 {
			t.Errorf("%d tensors, want w and g", n)
		}
	})
}

// Whichever request for memory is the first to fail, the program runs after what is
// kept for reuse has gone back, or it fails and says so; nothing leaks.
func TestMemoryRunsOutAtEachRequest(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		failed, saved := 0, 0
		for n := 2; ; n++ {
			d, double := open(t, 0)
			w, g := from(t, d, repeat(5, 3000), 3000), from(t, d, repeat(1, 3000), 3000)
			if n%2 == 0 { // something is kept that can be given back
				spare := from(t, d, repeat(0, 1<<16), 1<<16)
				if err := spare.Close(); err != nil {
					t.Fatal(err)
				}
			}
			double.allocs = n / 2
			before := d.Stats()
			w, err := injected(t, d, w, g)
			hit := double.allocs == 0
			double.allocs, double.out = 0, false
			want := float32(4)
			if err != nil {
				failed++
				want = 5
				var memory *runtime.MemoryError
				if !errors.As(err, &memory) {
					t.Errorf("request %d: %v", n/2, err)
				}
				wantError(t, err, memory, `batch "injected"`)
			} else if hit {
				saved++
			}
			wantEqual(t, "w", contents(t, w)[:1], []float32{want})
			if s := d.Stats(); s.Tensors != before.Tensors || s.Pool.Live != before.Pool.Live {
				t.Errorf("request %d: %+v, were %+v", n/2, s, before)
			}
			if w, err = injected(t, d, w, g); err != nil {
				t.Errorf("request %d, again: %v", n/2, err)
			}
			wantEqual(t, "w", contents(t, w)[:1], []float32{want - 1})
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if s := d.Stats(); s.Pool.Live != 0 || s.Pool.Cached != 0 {
				t.Errorf("request %d: after Close %+v", n/2, s.Pool)
			}
			if !hit && n%2 == 1 {
				break // the program needs no more
			}
		}
		if failed < 2 || saved < 2 {
			t.Errorf("%d programs failed and %d were saved: the test reaches too little", failed, saved)
		}
	})
}

// A long transfer that fails goes in pieces; when short ones fail too, the cause is
// told, and nothing of the program is seen.
func TestTransfersInPieces(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		const n = 1 << 18 // 1 MiB
		d, double := open(t, 0)
		double.longest = 300 << 10
		data := sequence(n)
		x := from(t, d, data, n)
		wantEqual(t, "pieces up", double.copies, []int64{256 << 10, 256 << 10, 256 << 10, 256 << 10})
		double.copies = nil
		wantEqual(t, "x", contents(t, x), data)
		wantEqual(t, "pieces down", double.copies, []int64{256 << 10, 256 << 10, 256 << 10, 256 << 10})
		if got := d.Stats().Retries; got != 4 {
			t.Errorf("%d retries, want 2 up and 2 down", got)
		}
		b := d.Batch("long")
		r := runtime.Read(b, testops.ScaleDeferred(b, x, 2))
		mustSync(t, b)
		if got := value(t, r); got[n-1] != 2*data[n-1] {
			t.Errorf("the last element is %v", got[n-1])
		}

		double.longest = 1
		_, err := runtime.FromSlice(d, data, n)
		wantError(t, err, errTransfer, "from slice: 1048576 of 1048576 bytes could not be copied to the device, in pieces of 65536 bytes neither")
		_, err = x.Read()
		wantError(t, err, errTransfer, "read: ", "from the device")
		wantError(t, x.Write(data), errTransfer, "write: ")
		_, err = runtime.Zeros[float32](d, n)
		wantError(t, err, errTransfer, "zeros: ")
		if s := d.Stats(); s.Tensors != 1 {
			t.Errorf("%d tensors, want x alone", s.Tensors)
		}
		b = d.Batch("lost")
		small := runtime.Read(b, testops.SumDeferred(b, x))
		long := runtime.Read(b, x)
		double.longest = 4
		err = b.Sync(background)
		wantError(t, err, errTransfer, `batch "lost"`)
		if _, e := small.Value(); !errors.Is(e, errTransfer) {
			t.Errorf("a read-back beside one that was lost: %v", e)
		}
		if _, e := long.Value(); !errors.Is(e, errTransfer) {
			t.Errorf("a read-back that was lost: %v", e)
		}
		double.longest = 0
		b.Keep(testops.ScaleDeferred(b, x, 2))
		wantError(t, b.Sync(background), errTransfer, "the device failed earlier") // what a program changed cannot be undone
	})
}
