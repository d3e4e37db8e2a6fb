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
	broken := errors.New("the compiler gave up")
	d, double := openDouble(t, 0)
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
}

// Whichever request for memory is the first to fail, the program runs after what is
// kept for reuse has gone back, or it fails and says so; nothing leaks.
func TestMemoryRunsOutAtEachRequest(t *testing.T) {
	failed, saved := 0, 0
	for n := 2; ; n++ {
		d, double := openDouble(t, 0)
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
}
