package runtime_test

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// step records a training step of n calls in each direction and runs it.
func step(t testing.TB, b *runtime.Batch, n int, w, x tensor) tensor {
	y := x
	for range n {
		y = testops.MulDeferred(b, y, w)
	}
	loss := testops.SumDeferred(b, y)
	g := runtime.GradOf(b, loss, w)
	w = testops.SGDDeferred(b, w, g, 1e-3)
	r := runtime.Read(b, loss)
	b.Keep(loss, w, g.Untyped())
	if err := b.Sync(background); err != nil {
		t.Fatal(err)
	}
	loss.Close()
	g.Close()
	if _, err := r.Scalar(); err != nil {
		t.Fatal(err)
	}
	return w
}

// A step allocates the same few objects whatever its length, and no device
// memory.
func TestAllocationsOfAStep(t *testing.T) {
	for _, opts := range append([][]runtime.Option{nil}, onGPUs()...) {
		allocationsOfAStep(t, open(t, opts...))
	}
}

func allocationsOfAStep(t *testing.T, d *runtime.Device) {
	for _, n := range []int{20, 200, 2000} {
		w, x := from(t, d, repeat(1, 16), 16), from(t, d, repeat(1, 16), 16)
		b := d.Batch("step")
		for range 3 {
			w = step(t, b, n, w, x)
		}
		misses := d.Stats().Pool.Misses
		allocs := testing.AllocsPerRun(20, func() { w = step(t, b, n, w, x) })
		if allocs > 16 {
			t.Errorf("%s, %d calls: %.0f allocations in a step, want at most 16", d.Name(), n, allocs)
		}
		if got := d.Stats().Pool.Misses - misses; got != 0 {
			t.Errorf("%s, %d calls: %d requests for device memory", d.Name(), n, got)
		}
	}
}

// Recording costs a few hundred nanoseconds a call at most, with the call site.
func BenchmarkRecord(b *testing.B) {
	d := open(b)
	x := from(b, d, repeat(1, 64), 64)
	for _, c := range []struct {
		name string
		call func(*runtime.Batch, tensor) tensor
	}{
		{"scale", func(r *runtime.Batch, y tensor) tensor { return testops.ScaleDeferred(r, y, 2) }},
		{"mul", func(r *runtime.Batch, y tensor) tensor { return testops.MulDeferred(r, y, x) }},
		{"sgd", func(r *runtime.Batch, y tensor) tensor { return testops.SGDDeferred(r, y, x, 2) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := d.Batch("record")
			b.ReportAllocs()
			y := testops.ScaleDeferred(r, x, 1)
			for i := 0; i < b.N; i++ {
				if i%1000 == 999 {
					b.StopTimer()
					r.Discard()
					y = testops.ScaleDeferred(r, x, 1)
					b.StartTimer()
				}
				y = c.call(r, y)
			}
			r.Discard()
		})
	}
}

// BenchmarkDependentAdds runs a program of 1000 additions that wait for each
// other, from the first recorded call to the result.
func BenchmarkDependentAdds(b *testing.B) {
	d := open(b)
	x := from(b, d, repeat(1, 64), 64)
	r := d.Batch("adds")
	b.ReportAllocs()
	var syncs time.Duration
	for i := 0; i < b.N; i++ {
		y := x
		for range 1000 {
			y = testops.AddDeferred(r, y, x)
		}
		back := runtime.Read(r, y)
		start := time.Now()
		mustSync(b, r)
		syncs += time.Since(start)
		if v := value(b, back); v[0] != 1001 {
			b.Fatal(v[0])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/add")
	b.ReportMetric(float64(syncs.Nanoseconds())/float64(b.N)/1000, "ns/add-in-sync")
}

// BenchmarkAddsOneByOne runs the additions of BenchmarkDependentAdds with a wait
// after each.
func BenchmarkAddsOneByOne(b *testing.B) {
	d := open(b)
	x := from(b, d, repeat(1, 64), 64)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		y := x
		for n := range 1000 {
			one := runtime.Immediate(y.Untyped(), x.Untyped())
			sum := testops.AddDeferred(one, y, x)
			if err := runtime.Finish(one, sum.Untyped()); err != nil {
				b.Fatal(err)
			}
			if n > 0 {
				y.Close()
			}
			y = sum
		}
		if v := contents(b, y); v[0] != 1001 {
			b.Fatal(v[0])
		}
		y.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/add")
}

// BenchmarkImmediate is one call that runs at once.
func BenchmarkImmediate(b *testing.B) {
	d := open(b)
	x := from(b, d, repeat(1, 64), 64)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		y, err := testops.Mul(x, x)
		if err != nil {
			b.Fatal(err)
		}
		y.Close()
	}
}

// BenchmarkStep is a training step of 100 calls.
func BenchmarkStep(b *testing.B) {
	d := open(b)
	w, x := from(b, d, repeat(1, 64), 64), from(b, d, repeat(1, 64), 64)
	r := d.Batch("step")
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		w = step(b, r, 100, w, x)
	}
}
