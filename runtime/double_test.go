package runtime_test

import (
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"

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
	builds error            // of the next Build
	places error            // of the next Instance
	allocs int              // requests for memory until one fails, and with it all that follow; 0: none does
	out    bool             // memory is out until something is freed
	gate   chan struct{}    // programs wait for it, if there is one

	longest int64 // transfers of more bytes fail; 0: none does
	copies  []int64
}

func openDouble(t testing.TB, delay time.Duration, opts ...runtime.Option) (*runtime.Device, *double) {
	b := &double{Backend: runtime.NewReferenceBackend(), delay: delay, failAt: map[uint64]error{}}
	d := runtime.OpenReferenceOn(b, opts...)
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

// Alloc has no memory from a given request on, until some is freed.
func (b *double) Alloc(bytes int64) unsafe.Pointer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.allocs > 0 {
		if b.allocs--; b.allocs == 0 {
			b.out = true
		}
	}
	if b.out {
		return nil
	}
	return b.Backend.Alloc(bytes)
}

func (b *double) Free(p unsafe.Pointer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out = false
	b.Backend.Free(p)
}

// errTransfer is what a transfer that is too long gives.
var errTransfer = errors.New("the bus gave up")

func (b *double) Upload(dst, src unsafe.Pointer, n int64) error {
	if err := b.transfer(n); err != nil {
		return err
	}
	return b.Backend.Upload(dst, src, n)
}

func (b *double) Download(dst, src unsafe.Pointer, n int64) error {
	if err := b.transfer(n); err != nil {
		return err
	}
	return b.Backend.Download(dst, src, n)
}

func (b *double) transfer(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.longest > 0 && n > b.longest {
		return errTransfer
	}
	b.copies = append(b.copies, n)
	return nil
}

// once returns an error that was to occur once.
func (b *double) once(err *error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := *err
	*err = nil
	return e
}

func (b *double) Build(p *backend.Program) (backend.Code, error) {
	if err := b.once(&b.builds); err != nil {
		return nil, err
	}
	c, err := b.Backend.Build(p)
	return doubleCode{c, b}, err
}

type doubleCode struct {
	backend.Code
	b *double
}

func (c doubleCode) Instance() (backend.Instance, error) {
	if err := c.b.once(&c.b.places); err != nil {
		return nil, err
	}
	return c.Code.Instance()
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

func (b *double) Await(seq uint64, limit time.Duration) bool {
	b.mu.Lock()
	gate := b.gate
	b.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-time.After(limit):
			return false
		}
	}
	return b.Backend.Await(seq, limit)
}

func (b *double) Wait(seq uint64, in backend.Instance) backend.Result {
	return b.finish(seq, b.Backend.Wait(seq, in))
}
