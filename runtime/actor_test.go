package runtime_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// Sixty-four goroutines share one device: each gets its own values, whether it waits
// or submits ahead, and none is left behind.
func TestSixtyFourGoroutines(t *testing.T) {
	const goroutines = 64
	limit := 4 * time.Second // a dozen turns of each on two processors: Go lets one run for 10 ms
	if testing.Short() {
		limit /= 8
	}
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		done := make([]int, goroutines)
		var wg sync.WaitGroup
		end := time.Now().Add(limit)
		for id := range goroutines {
			wg.Go(func() {
				b := d.Batch("shared")
				w, err := runtime.FromSlice(d, repeat(float32(id), 33), 33)
				if err != nil {
					t.Error(err)
					return
				}
				for n := 0; n == 0 || time.Now().Before(end); n++ {
					w = testops.SGDDeferred(b, w, testops.FillDeferred(b, -1, 33), 1) // w += 1
					r := runtime.Read(b, testops.ScaleDeferred(b, w, 2))
					if n%3 == 2 {
						b.Submit()
					} else if err := b.Sync(background); err != nil {
						t.Errorf("goroutine %d: %v", id, err)
						return
					}
					want := 2 * float32(id+n+1)
					if got, err := r.Value(); err != nil || got[0] != want || got[32] != want {
						t.Errorf("goroutine %d, program %d: %v, %v, want %v", id, n, got, err, want)
						return
					}
					done[id] = n + 1
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		slices.Sort(done)
		total := 0
		for _, n := range done {
			total += n
		}
		if mean := total / goroutines; !testing.Short() && done[0] < mean/5 {
			t.Errorf("programs of each goroutine: the fewest %v, the mean %d", done[:4], mean)
		}
		if s := d.Stats(); s.Tensors != 0 || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
	})
}
