package runtime_test

import (
	"errors"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// A program that does not end in time fails with the call it had come to, and so do
// those behind it and all later ones; what it uses cannot be touched. Once it ends
// after all, nothing is left of it.
func TestDeadline(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		goroutines := goruntime.NumGoroutine()
		d, double := open(t, 0, runtime.WithDeadline(20*time.Millisecond))
		x, w := from(t, d, []float32{1, 2}, 2), from(t, d, []float32{3, 4}, 2)
		other := from(t, d, []float32{5}, 1)
		release := double.hold()
		b := d.Batch("hangs")
		r := runtime.Read(b, testops.ScaleDeferred(b, x, 2))
		first := b.Submit()
		w1 := testops.SGDDeferred(b, w, x, 1)
		b.Keep(w1)
		second := b.Submit()

		at := "deadline_test.go:" // the reference device has run it, so it has come to the end
		if double.Name() != "reference" {
			at = "a command of batch" // the host does not see how far it is
		}
		wantError(t, first.Wait(background), runtime.ErrDeadline, `of batch "hangs" did not finish within 20ms: the device is lost`, at)
		wantError(t, second.Wait(background), runtime.ErrDeadline)
		if v, err := r.Value(); v != nil || !errors.Is(err, runtime.ErrDeadline) {
			t.Errorf("readback: %v, %v", v, err)
		}
		if _, err := w1.Read(); err == nil {
			t.Error("a result of a program that was given up can be read")
		}
		for _, held := range []tensor{x, w} {
			_, err := held.Read()
			wantError(t, err, runtime.ErrDeadline, "may still run")
			wantError(t, held.Write([]float32{0, 0}), runtime.ErrDeadline)
		}
		wantEqual(t, "a tensor that it does not use", contents(t, other), []float32{5})
		runtime.Read(b, testops.ScaleDeferred(b, other, 2))
		wantError(t, b.Sync(background), runtime.ErrDeadline, "failed earlier")
		_, err := testops.Scale(other, 2)
		wantError(t, err, runtime.ErrDeadline)
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if n := d.Stats().Pool.Blocks; n < 3 {
			t.Errorf("%d blocks in use: memory of a program that may still run was given away", n)
		}
		release()
		settle(t, "blocks after the program's end", 2, func() int { return int(d.Stats().Pool.Blocks) })
		wantEqual(t, "w", contents(t, w), contents(t, w)) // may be read again
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		settle(t, "goroutines", goroutines, goruntime.NumGoroutine)
	})
}

// Close does not wait for a program that was given up, and everything goes when it
// ends.
func TestCloseAfterDeadline(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		goroutines := goruntime.NumGoroutine()
		d, double := open(t, 0, runtime.WithDeadline(10*time.Millisecond))
		x := from(t, d, []float32{1, 2}, 2)
		release := double.hold()
		b := d.Batch("hangs")
		runtime.Read(b, testops.ScaleDeferred(b, x, 2))
		wantError(t, b.Sync(background), runtime.ErrDeadline)
		closed := make(chan error)
		go func() { closed <- d.Close() }()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Close hangs")
		}
		release()
		settle(t, "blocks", 0, func() int { return int(d.Stats().Pool.Blocks) })
		settle(t, "goroutines", goroutines, goruntime.NumGoroutine)
	})
}

// A program that ends in time is not touched, on any device, and one on the CPU that
// takes too long is named by a call of it.
func TestDeadlineOfRealPrograms(t *testing.T) {
	for _, opts := range append([][]runtime.Option{{}, {runtime.Reference()}}, onGPUs()...) {
		d := open(t, append(opts, runtime.WithDeadline(time.Minute))...)
		x := from(t, d, repeat(1, 64), 64)
		b := d.Batch("quick")
		for range 100 {
			r := runtime.Read(b, testops.ScaleDeferred(b, x, 2))
			mustSync(t, b)
			wantEqual(t, "r", value(t, r)[:1], []float32{2})
		}
	}
	d := open(t, runtime.WithDeadline(time.Millisecond))
	x := from(t, d, repeat(1, 1<<20), 1<<20)
	b := d.Batch("slow")
	y := x
	for range 50 {
		y = testops.MulDeferred(b, y, x)
	}
	r := runtime.Read(b, y)
	wantError(t, b.Sync(background), runtime.ErrDeadline, `mul (`, `of batch "slow"`)
	_, err := r.Value()
	wantError(t, err, runtime.ErrDeadline)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	settle(t, "blocks", 0, func() int { return int(d.Stats().Pool.Blocks) })
}
