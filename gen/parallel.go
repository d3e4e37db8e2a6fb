package gen

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f for 0 … n-1, by as many goroutines as there are processors. The
// calls must not depend on each other; results go into slots of their own.
func each(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
