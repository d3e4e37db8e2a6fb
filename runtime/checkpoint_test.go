package runtime_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// No gradient flows through a stopped value, and its memory is that of what was
// stopped.
func TestStopGradient(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(4), 4)
		b := d.Batch("stopped")
		square := testops.MulDeferred(b, x, x)
		stopped := runtime.StopGradient(b, square)
		loss := testops.SumDeferred(b, testops.MulDeferred(b, stopped, square)) // Σ c x², with c = x²
		alone := testops.SumDeferred(b, testops.MulDeferred(b, runtime.StopGradient(b, x), x))
		r := runtime.Read(b, runtime.GradOf(b, loss, x))
		of := runtime.Read(b, runtime.GradOf(b, loss, stopped))
		a := runtime.Read(b, runtime.GradOf(b, alone, x))
		wantCalls(t, "copies", b, "copy", 0)
		mustSync(t, b)
		wantEqual(t, "d_x of Σ c x²", value(t, r), []float32{0, 2, 16, 54})
		wantEqual(t, "d_c of Σ c x²", value(t, of), []float32{0, 1, 4, 9})
		wantEqual(t, "d_x of Σ c x", value(t, a), sequence(4))
	})
}

// tower records segments of products, marked or not, and the gradient of their sum.
func tower(t *testing.T, d *runtime.Device, marked bool, segments, calls, n int) (*runtime.Batch, []*runtime.Readback[float32]) {
	x, w := from(t, d, repeat(1.001, n), n), from(t, d, repeat(0.999, n), n)
	b := d.Batch("tower")
	y := x
	for range segments {
		block := func() {
			for range calls {
				y = testops.MulDeferred(b, testops.ScaleDeferred(b, y, 1.25), w)
			}
		}
		if marked {
			b.Checkpoint(block)
		} else {
			block()
		}
	}
	g := b.Grad(testops.SumDeferred(b, y), x, w)
	return b, []*runtime.Readback[float32]{runtime.Read(b, y), runtime.Read(b, runtime.As[float32](g[0])), runtime.Read(b, runtime.As[float32](g[1]))}
}

// while returns the bytes that a recorded program needs while it runs.
func while(t *testing.T, b *runtime.Batch) int {
	t.Helper()
	text, err := b.Explain()
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(text, " bytes while it runs")
	n, err := strconv.Atoi(before[strings.LastIndex(before, " ")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Marked segments give the same bits in less memory: what lives between the
// segments and within one of them, in place of all.
func TestCheckpointsSaveMemory(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		const segments, calls, n = 6, 6, 1024
		plain, want := tower(t, d, false, segments, calls, n)
		marked, got := tower(t, d, true, segments, calls, n)
		all, some := while(t, plain), while(t, marked)
		// A product keeps its operand: calls a segment, all of them or those of one.
		if most := (segments + calls + 8) * n * 4; some > most || all < segments*calls*n*4 {
			t.Errorf("%d bytes with marked segments, %d without; want at most %d and at least %d", some, all, most, segments*calls*n*4)
		}
		mustSync(t, plain)
		mustSync(t, marked)
		for i := range want {
			wantEqual(t, "result "+strconv.Itoa(i), value(t, got[i]), value(t, want[i]))
		}
	})
}

// Marked segments that take parts of values, and one that is run before its
// gradient is asked for.
func TestCheckpointsWithViews(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(4), 4)
		b := d.Batch("views")
		var y tensor
		b.Checkpoint(func() {
			square := testops.MulDeferred(b, x, x)
			b.Checkpoint(func() { y = testops.MulDeferred(b, view(t, square, 0, 2), view(t, square, 2, 2)) })
		})
		neg, err := testops.Scale(y, -1) // runs what is recorded so far
		if err != nil {
			t.Fatal(err)
		}
		neg.Close()
		r := runtime.Read(b, runtime.GradOf(b, testops.SumDeferred(b, y), x)) // Σ a² c², a = 0 1, c = 2 3
		mustSync(t, b)
		wantEqual(t, "gradient", value(t, r), []float32{0, 18, 0, 6})
	})
}

// A segment that cannot be computed again is an error that names the call.
func TestCheckpointOfAnUpdate(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x, z := from(t, d, sequence(4), 4), from(t, d, sequence(4), 4)
		b := d.Batch("update")
		b.Checkpoint(func() { testops.SGDDeferred(b, x, x, 1) })
		wantError(t, b.Sync(background), runtime.ErrCheckpoint, "sgd", "checkpoint_test.go", "outside")
		var y tensor
		b.Checkpoint(func() { y = testops.MulDeferred(b, testops.ScaleDeferred(b, z, 2), x) })
		testops.SGDDeferred(b, z, y, 1)
		b.Grad(testops.SumDeferred(b, y), x)
		wantError(t, b.Sync(background), runtime.ErrOverwritten, "made again", "sgd")
	})
}
