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

// double is a reference backend, or that of a card, that completes late, and fails
// when told to: what a device that works on its own may do.
type double struct {
	backend.Backend
	delay time.Duration
	latch *latch // of a card: it is late by itself

	mu     sync.Mutex
	failAt map[uint64]error         // by sequence number
	builds error                    // of the next Build
	places error                    // of the next Instance
	allocs int                      // requests for memory until one fails, and with it all that follow; 0: none does
	out    bool                     // memory is out until something is freed
	gate   chan struct{}            // programs wait for it, if there is one
	held   map[uint64]chan struct{} // by sequence number: the gate of each

	longest int64 // transfers of more bytes fail; 0: none does
	copies  []int64
}

// A doubleOpener opens a device on a double.
type doubleOpener func(t testing.TB, delay time.Duration, opts ...runtime.Option) (*runtime.Device, *double)

// onDoubles runs a test on doubles of the reference device, and of the GPUs that the tests
// are built for.
func onDoubles(t *testing.T, test func(t *testing.T, open doubleOpener)) {
	t.Run("reference", func(t *testing.T) { test(t, openDouble) })
	for _, g := range gpus {
		t.Run(g.name, func(t *testing.T) { test(t, g.double) })
	}
}

func openDouble(t testing.TB, delay time.Duration, opts ...runtime.Option) (*runtime.Device, *double) {
	b := newDouble(runtime.NewReferenceBackend(), delay)
	d := runtime.OpenReferenceOn(b, opts...)
	t.Cleanup(func() { d.Close() })
	return d, b
}

func newDouble(b backend.Backend, delay time.Duration) *double {
	return &double{Backend: b, delay: delay, failAt: map[uint64]error{}, held: map[uint64]chan struct{}{}}
}

// hold makes programs that are submitted from now on incomplete until the returned
// function is called.
func (b *double) hold() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.latch != nil {
		return sync.OnceFunc(b.latch.close())
	}
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
	if b.latch != nil {
		p = b.latch.before(p, b.delay)
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
	in, err := c.Code.Instance()
	if err == nil && c.b.latch != nil {
		in = &latched{in, c.b.latch}
	}
	return in, err
}

func (b *double) fail(seq uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failAt[seq] = err
}

func (b *double) finish(seq uint64, r backend.Result) backend.Result {
	if b.latch == nil {
		time.Sleep(b.delay)
	}
	b.mu.Lock()
	gate, err := b.held[seq], b.failAt[seq]
	delete(b.held, seq)
	b.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if err != nil { // the error shows during the wait, not at submission
		r.Err = err
	}
	return r
}

// submitted notes what a program waits for, and returns the instance of the backend.
func (b *double) submitted(seq uint64, in backend.Instance) backend.Instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gate != nil {
		b.held[seq] = b.gate
	}
	return unlatched(in)
}

func (b *double) Run(seq uint64, in backend.Instance) backend.Result {
	return b.finish(seq, b.Backend.Run(seq, b.submitted(seq, in)))
}

func (b *double) Submit(seq uint64, in backend.Instance) {
	b.Backend.Submit(seq, b.submitted(seq, in))
}

func (b *double) Await(seq uint64, limit time.Duration) bool {
	b.mu.Lock()
	gate := b.held[seq]
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
	return b.finish(seq, b.Backend.Wait(seq, unlatched(in)))
}

func (b *double) Close() {
	if b.latch != nil {
		b.latch.free()
	}
	b.Backend.Close()
}
