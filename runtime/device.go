package runtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Device owns one compute device: its memory, its programs and the order of
// work. All of its methods, and those of its tensors, may be called from several
// goroutines.
type Device struct {
	backend   backend.Backend
	reference bool
	gpu       *gpu    // nil where kernels are C functions
	libraries bool    // a library may do the work of a kernel
	tf32      bool    // and round float32 to TF32
	sketch    *Sketch // whose tensors the device has, nil for a real device
	guards    bool
	workers   int
	deadline  time.Duration // 0: none

	mu      sync.Mutex
	changed sync.Cond // something that a method waits for
	closed  bool
	lost    error // the backend failed

	pool    *pool
	slab    slab
	cache   programCache
	planner planner

	runs      uint64 // made so far
	freeRuns  *run
	freeBatch []*Batch

	seq     uint64 // of the last submitted program
	queue   []*run // submitted, not retired, in order
	waiting bool   // the waiter goroutine exists
	limbo   *limbo // programs that were given up and may still run
	retired uint64 // sequence number of the last retired program
	host    int    // copies between host and device going on
	bases   []unsafe.Pointer
	after   []uint64
	stats   Stats

	trace atomic.Pointer[Trace] // nil unless one runs
}

// Stats are counters of a device.
type Stats struct {
	Pool     PoolStats
	Programs ProgramStats
	Tensors  int   // values that handles or programs refer to
	Runs     int64 // programs completed
	Faults   int64 // programs that ended with a fault
	InFlight int   // programs submitted and not complete
	Retries  int64 // transfers that failed and were tried again in smaller pieces
}

// Open opens a device: the CPU, a card where CUDA is given, a GPU where Metal is, or the
// reference device where Reference is given or the program was built without cgo. Several devices may
// be open. Close it when done.
func Open(opts ...Option) (*Device, error) {
	c := defaults()
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, err
		}
	}
	switch {
	case c.card >= 0 && c.metal >= 0:
		return nil, opError("open", ErrOption, "CUDA and Metal are two devices: give one of them")
	case c.libraries && c.generated:
		return nil, opError("open", ErrOption, "WithLibraries and WithoutLibraries: give one of them")
	case c.card >= 0:
		return openCUDA(c)
	case c.tf32:
		return nil, opError("open", ErrOption, "WithTF32 without CUDA: only a card has TF32")
	case c.metal >= 0:
		return openMetal(c)
	case c.libraries:
		return nil, opError("open", ErrOption, "WithLibraries without a GPU: the CPU multiplies by generated kernels")
	case c.reference:
		return newDevice(newReference(), true, c), nil
	}
	b, reference, err := openCPU(c)
	if err != nil {
		return nil, err
	}
	return newDevice(b, reference, c), nil
}

func newDevice(b backend.Backend, reference bool, c config) *Device {
	d := &Device{backend: b, reference: reference, guards: c.guards, workers: c.workers, deadline: c.deadline, pool: newPool(b, c.poolBytes, c.poolCount)}
	d.slab.dev = d
	d.changed.L = &d.mu
	d.cache = programCache{limit: c.programs, plans: map[uint64][]*plan{}}
	d.planner.passes = slices.DeleteFunc(passes(), func(p pass) bool { return slices.Contains(c.without, p.name) })
	return d
}

// Name returns the backend's name: "cpu", "cuda", "metal" or "reference".
func (d *Device) Name() string { return d.backend.Name() }

// Reference reports whether the device runs the reference functions.
func (d *Device) Reference() bool { return d.reference }

// Workers returns how many threads share the work of one kernel on the CPU.
func (d *Device) Workers() int { return d.workers }

// Lost returns why the device cannot be used any more, nil if it can.
func (d *Device) Lost() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// Stats returns the device's counters.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	s.Pool, s.Programs = d.pool.stats, d.cache.stats
	s.Tensors, s.InFlight = d.slab.used, len(d.queue)
	return s
}

// Trim gives the memory that is kept for reuse back to the system.
func (d *Device) Trim() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.pool.trim()
	}
}

// Close waits for running work and releases everything the device owns, its
// tensors too. Work that was given up at its deadline is not waited for: what it
// uses is released when it ends. Later uses of the device, its batches and its
// tensors are errors that wrap ErrClosed.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return opError("close", ErrClosed, "the device is closed already")
	}
	d.closed = true
	d.changed.Broadcast()
	for len(d.queue) > 0 || d.host > 0 || d.waiting {
		d.changed.Wait()
	}
	if d.limbo == nil {
		d.shut()
	}
	return nil
}

// shut releases what the device owns.
func (d *Device) shut() {
	d.cache.clear()
	d.pool.close()
	d.backend.Close()
}

// acquire returns memory for n bytes, and for guard bytes behind them. The
// caller holds d.mu.
func (d *Device) acquire(n int64) (lease, error) {
	if !d.guards {
		return d.pool.acquire(n)
	}
	l, err := d.pool.acquire(n + guardBytes)
	if err == nil {
		setEmpty(l.ptr, n)
		setGuard(unsafe.Add(l.ptr, n), l.bytes-n)
	}
	return l, err
}

// releaseBlock gives memory back. After Close there is nothing to give back.
func (d *Device) releaseBlock(l lease) {
	if d.closed && d.pool.closed {
		return
	}
	if err := d.pool.release(l); err != nil {
		panic("runtime: " + err.Error()) // the counts of users are wrong: a bug in this package
	}
}
