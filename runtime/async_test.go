package runtime_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// Each goroutine reads its own value, whatever the device's pace.
func TestReadbacksAreOnesOwn(t *testing.T) {
	run := func(t *testing.T, d *runtime.Device, rounds int) {
		var wg sync.WaitGroup
		for id := range 16 {
			wg.Go(func() {
				b := d.Batch("own")
				for round := range rounds {
					want := float32(id*1000 + round)
					x := testops.FillDeferred(b, want, 37)
					r := runtime.Read(b, testops.ScaleDeferred(b, x, 1))
					var err error
					switch round % 3 {
					case 0:
						err = b.Sync(background)
					case 1:
						b.Submit()
					default:
						ctx, cancel := context.WithCancel(background)
						err = b.Sync(ctx)
						cancel()
					}
					got, verr := r.Value()
					if err != nil || verr != nil || got[0] != want || got[36] != want {
						t.Errorf("goroutine %d round %d: got %v, %v, %v", id, round, got, err, verr)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	onDevices(t, func(t *testing.T, d *runtime.Device) { run(t, d, 200) })
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, _ := open(t, 5*time.Millisecond/16)
		run(t, d, 6)
	})
}

func TestSubmitDoesNotWait(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, double := open(t, 0)
		release := double.hold()
		defer release()
		x := from(t, d, []float32{1, 2}, 2)
		b := d.Batch("first")
		y := testops.ScaleDeferred(b, x, 2)
		b.Keep(y)
		fence := b.Submit()

		// The next program uses the result before it is there.
		z := testops.ScaleDeferred(b, y, 5)
		r := runtime.Read(b, z)
		if err := x.Close(); err != nil { // the program still has it
			t.Error(err)
		}
		second := b.Submit()
		select {
		case <-fence.Done():
			t.Fatal("complete while the device is held")
		case <-time.After(5 * time.Millisecond):
		}
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		if err := second.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait: %v", err)
		}
		release()
		for range 2 {
			if err := second.Wait(background); err != nil {
				t.Error(err)
			}
		}
		wantEqual(t, "z", value(t, r), []float32{10, 20})
		wantEqual(t, "y", contents(t, y), []float32{2, 4})
	})
}

// A cancelled context ends the wait only: the buffers live until the work is
// complete, and the result is there afterwards.
func TestCancelledSync(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, double := open(t, 0)
		release := double.hold()
		defer release()
		x := from(t, d, repeat(3, 1000), 1000)
		b := d.Batch("slow")
		y := testops.ScaleDeferred(b, x, 2)
		b.Keep(y)
		r := runtime.Read(b, y)
		ctx, cancel := context.WithCancel(background)
		cancel()
		if err := b.Sync(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("sync: %v", err)
		}
		if s := d.Stats(); s.InFlight != 1 || s.Pool.Blocks < 3 {
			t.Errorf("the work's memory is gone: %+v", s)
		}
		release()
		wantEqual(t, "r", value(t, r)[:2], []float32{6, 6})
		wantEqual(t, "y", contents(t, y)[:2], []float32{6, 6})
	})
}

// A failure that shows during the wait reaches every read-back of the program,
// and later programs fail at once.
func TestDeviceFailure(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, double := open(t, 0)
		broken := errors.New("device fell off the bus")
		double.fail(1, broken)
		x := from(t, d, []float32{1}, 1)
		b := d.Batch("doomed")
		var reads []*runtime.Readback[float32]
		for i := range 3 {
			reads = append(reads, runtime.Read(b, testops.ScaleDeferred(b, x, float32(i))))
		}
		wantError(t, b.Sync(background), broken)
		for range 2 {
			for _, r := range reads {
				if v, err := r.Value(); v != nil || !errors.Is(err, broken) {
					t.Errorf("got %v, %v", v, err)
				}
			}
		}
		r := runtime.Read(b, testops.ScaleDeferred(b, x, 4))
		wantError(t, b.Sync(background), broken, "failed earlier")
		_, err := r.Value()
		wantError(t, err, broken)
		if err := b.Submit().Wait(background); err != nil { // nothing was recorded
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A program that uses a result of one that fails is not run, and neither is one
// after that.
func TestFailureReachesDependentPrograms(t *testing.T) {
	run := func(t *testing.T, d *runtime.Device, submitted func(), early bool) {
		w, g := from(t, d, []float32{1, 2}, 2), from(t, d, []float32{1, 1}, 2)
		table := from(t, d, sequence(4), 2, 2)
		ids := from(t, d, []int32{5}, 1)
		b := d.Batch("chain")
		runtime.Read(b, testops.EmbeddingDeferred(b, ids, table))
		w1 := testops.SGDDeferred(b, w, g, 1)
		first := b.Submit()
		w2 := testops.SGDDeferred(b, w1, g, 1)
		second := b.Submit()
		w3 := testops.SGDDeferred(b, w2, g, 1)
		r := runtime.Read(b, w3)
		third := b.Submit()
		submitted()
		var fault *runtime.FaultError
		for i, f := range []*runtime.Fence{first, second, third} {
			err := f.Wait(background)
			// A program that is recorded after the failure finds its input gone.
			if !errors.As(err, &fault) && !(early && i > 0 && errors.Is(err, runtime.ErrStale)) {
				t.Errorf("program %d: got %v, want the fault", i, err)
			}
			if !early && i > 0 {
				wantError(t, err, runtime.ErrDepends, "ids[0] is 5")
			}
		}
		if v, err := r.Value(); err == nil {
			t.Errorf("got %v from a program that was not to run", v)
		}
		wantEqual(t, "w", contents(t, w), []float32{1, 2})
		for _, x := range []tensor{w1, w2, w3} {
			if _, err := x.Read(); err == nil {
				t.Error("a result of a failed program can be read")
			}
		}
		w1 = testops.SGDDeferred(b, w, g, 1)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "w after", contents(t, w1), []float32{0, 1})
		if n := d.Stats().Tensors; n != 4 {
			t.Errorf("%d tensors, want w1, g, table and ids", n)
		}
	}
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		run(t, d, func() {}, true)
	})
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, double := open(t, 0)
		run(t, d, double.hold(), false)
	})
}

func TestCloseWaitsForRunningWork(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, repeat(1, 1<<16), 1<<16)
		b := d.Batch("pending")
		y := x
		for range 50 {
			y = testops.ScaleDeferred(b, y, 1)
		}
		r := runtime.Read(b, y)
		b.Submit()
		late := runtime.Read(b, testops.ScaleDeferred(b, x, 1))
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if v := value(t, r); len(v) != 1<<16 || v[9] != 1 {
			t.Error("the running program did not finish")
		}
		_, err := late.Value()
		wantError(t, err, runtime.ErrNotSynced)
		wantError(t, b.Sync(background), runtime.ErrClosed)
		_, err = late.Value()
		wantError(t, err, runtime.ErrClosed)
		_, err = x.Read()
		wantError(t, err, runtime.ErrClosed)
		wantError(t, x.Close(), runtime.ErrClosed)
		wantError(t, x.Write(repeat(0, 1<<16)), runtime.ErrClosed)
		_, err = runtime.FromSlice(d, []float32{1}, 1)
		wantError(t, err, runtime.ErrClosed)
		_, err = testops.Scale(x, 1)
		wantError(t, err, runtime.ErrClosed)
		wantError(t, d.Close(), runtime.ErrClosed)
		testops.ScaleDeferred(b, x, 1)
		wantError(t, b.Sync(background), runtime.ErrClosed)
	})
}

// Abandoned read-backs, cancelled waits and fences that nobody asks leave
// nothing behind.
func TestNothingIsLeftBehind(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(256), 256)
		goroutines, live := goruntime.NumGoroutine(), d.Stats().Pool.Live
		cancelled, cancel := context.WithCancel(background)
		cancel()
		b := d.Batch("loop")
		for i := range 1000 {
			r := runtime.Read(b, testops.ScaleDeferred(b, x, 2))
			switch i % 4 {
			case 0:
				b.Submit()
			case 1:
				b.Sync(cancelled)
			case 2:
				b.Sync(background)
				value(t, r)
			default:
				b.Discard()
			}
		}
		settle(t, "goroutines", goroutines, goruntime.NumGoroutine)
		settle(t, "bytes", int(live), func() int { return int(d.Stats().Pool.Live) })
		if n := d.Stats().Tensors; n != 1 {
			t.Errorf("%d tensors, want 1", n)
		}
	})
}
