package runtime_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

func mustSync(t testing.TB, b *runtime.Batch) {
	t.Helper()
	if err := b.Sync(background); err != nil {
		t.Fatal(err)
	}
}

// The values of scalars are not part of a program's structure, shapes are.
func TestProgramsAreReused(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		b := d.Batch("scaled")
		run := func(n int, s float32) {
			x := from(t, d, repeat(1, n), n)
			y := testops.ScaleDeferred(b, testops.ScaleDeferred(b, x, s), 2)
			r := runtime.Read(b, y)
			mustSync(t, b)
			wantEqual(t, "y", value(t, r), repeat(2*s, n))
			x.Close()
		}
		for i := range 5 {
			run(100, float32(i))
		}
		if p := d.Stats().Programs; p.Misses != 1 || p.Hits != 4 || p.Cached != 1 {
			t.Errorf("same structure: %+v", p)
		}
		run(101, 3)
		run(100, 3)
		if p := d.Stats().Programs; p.Misses != 2 || p.Hits != 5 {
			t.Errorf("another shape: %+v", p)
		}
	})
}

// The same calls on another pattern of arguments are another program.
func TestAliasPatternIsPartOfTheStructure(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x, y := from(t, d, []float32{2}, 1), from(t, d, []float32{3}, 1)
		b := d.Batch("alias")
		for _, c := range []struct {
			a, b tensor
			want float32
		}{{x, y, 6}, {x, x, 4}, {y, y, 9}, {y, x, 6}} {
			r := runtime.Read(b, testops.MulDeferred(b, c.a, c.b))
			mustSync(t, b)
			wantEqual(t, "product", value(t, r), []float32{c.want})
		}
		if p := d.Stats().Programs; p.Misses != 2 {
			t.Errorf("%+v, want one program for two tensors and one for the same twice", p)
		}
	})
}

func TestProgramCacheIsBounded(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		b := d.Batch("sizes")
		for n := 1; n <= 20; n++ {
			testops.FillDeferred(b, 1, n)
			y := testops.FillDeferred(b, 2, n)
			r := runtime.Read(b, y)
			mustSync(t, b)
			wantEqual(t, "y", value(t, r), repeat(2, n))
		}
		if p := d.Stats().Programs; p.Cached != 4 || p.Evictions != 16 {
			t.Errorf("%+v", p)
		}
	}, runtime.WithProgramCap(4))
}

// A chain of results that nobody keeps lives in the room of two.
func TestMemoryIsReusedInsideAProgram(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		const n = 1 << 16
		x := from(t, d, repeat(1, n), n)
		b := d.Batch("chain")
		y := x
		for range 100 {
			y = testops.AddDeferred(b, y, x)
		}
		r := runtime.Read(b, testops.SumDeferred(b, y))
		mustSync(t, b)
		wantEqual(t, "sum", value(t, r), []float32{101 * n})
		if peak := d.Stats().Pool.Peak; peak > 4*4*n {
			t.Errorf("%d bytes at the peak, three arrays have %d", peak, 3*4*n)
		}
	})
}

// What nobody reads is not computed: the gradient of an unused branch, and the
// kernel for the half of a gradient that nobody asked for.
func TestDeadWorkIsDropped(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w := from(t, d, sequence(4), 2, 2)
		bad := from(t, d, []int32{7}, 1)
		b := d.Batch("dead")
		testops.EmbeddingDeferred(b, bad, w) // would be a fault
		r := runtime.Read(b, testops.ScaleDeferred(b, w, 2))
		mustSync(t, b)
		wantEqual(t, "r", value(t, r), []float32{0, 2, 4, 6})
	})
}

// The order of commands is the order of the record, also where one reads what
// a later one overwrites.
func TestInPlaceChains(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		n := 1_000_000
		if interpreted(d) {
			n = 10_000
		}
		x, one := from(t, d, repeat(0, n), n), from(t, d, repeat(1, n), n)
		b := d.Batch("chain")
		before := testops.SumDeferred(b, x)
		for range 200 {
			x = testops.SGDDeferred(b, x, one, -1)
		}
		r, rx := runtime.Read(b, before), runtime.Read(b, x)
		mustSync(t, b)
		wantEqual(t, "before", value(t, r), []float32{0})
		for i, v := range value(t, rx) {
			if v != 200 {
				t.Fatalf("element %d is %g", i, v)
			}
		}
	})
}

// The same bits for any number of workers of the CPU device.
func TestWorkersDoNotChangeResults(t *testing.T) {
	var want []float32
	x := make([]float32, 300_001)
	for i := range x {
		x[i] = 1 / float32(i+1)
	}
	for _, workers := range []int{1, 2, 3, 7, 16} {
		d := open(t, runtime.WithWorkers(workers))
		b := d.Batch("sum")
		in := from(t, d, x, len(x))
		for range 20 {
			r := runtime.Read(b, testops.SumDeferred(b, testops.MulDeferred(b, in, in)))
			mustSync(t, b)
			if want == nil {
				want = value(t, r)
			}
			wantEqual(t, "sum", value(t, r), want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []runtime.Option{runtime.WithWorkers(0), runtime.WithPoolCap(-1), runtime.WithProgramCap(0), runtime.WithISA("sse9")} {
		_, err := runtime.Open(o)
		wantError(t, err, runtime.ErrOption, "open: ")
	}
	d := open(t, runtime.WithPoolCap(0))
	for range 3 {
		from(t, d, sequence(100), 100).Close()
	}
	if s := d.Stats().Pool; s.Cached != 0 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
}

func TestDiscardedAndEmptyBatches(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		b := d.Batch("empty")
		mustSync(t, b)
		b.Discard()
		w, g := from(t, d, sequence(2), 2), from(t, d, sequence(2), 2)
		w2 := testops.SGDDeferred(b, w, g, 1)
		r := runtime.Read(b, w2)
		b.Discard()
		_, err := r.Value()
		wantError(t, err, runtime.ErrDiscarded)
		wantEqual(t, "w", contents(t, w), sequence(2))
		wantError(t, w2.Err(), runtime.ErrStale)
	})
}
