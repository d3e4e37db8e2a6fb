package runtime_test

import (
	"sync"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// double is a reference backend that completes late, and fails when told to:
// what a device that works on its own may do.
type double struct {
	backend.Backend
	delay time.Duration

	mu     sync.Mutex
	failAt map[uint64]error // by sequence number
	gate   chan struct{}    // programs wait for it, if there is one
}

func openDouble(t testing.TB, delay time.Duration) (*runtime.Device, *double) {
	b := &double{Backend: runtime.NewReferenceBackend(), delay: delay, failAt: map[uint64]error{}}
	d := runtime.OpenReferenceOn(b)
	t.Cleanup(func() { d.Close() })
	return d, b
}

// hold makes programs that are waited for from now on incomplete until the
// returned function is called.
func (b *double) hold() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gate := make(chan struct{})
	b.gate = gate
	return sync.OnceFunc(func() { close(gate) })
}

func (b *double) fail(seq uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failAt[seq] = err
}

func (b *double) finish(seq uint64, r backend.Result) backend.Result {
	time.Sleep(b.delay)
	b.mu.Lock()
	gate, err := b.gate, b.failAt[seq]
	b.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if err != nil { // the error shows during the wait, not at submission
		r.Err = err
	}
	return r
}

func (b *double) Run(seq uint64, in backend.Instance) backend.Result {
	return b.finish(seq, b.Backend.Run(seq, in))
}

func (b *double) Wait(seq uint64, in backend.Instance) backend.Result {
	return b.finish(seq, b.Backend.Wait(seq, in))
}
