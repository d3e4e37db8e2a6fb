//go:build cgo

package cpu

/*
#cgo CFLAGS: -O3 -std=gnu11 -Wall -Wextra
#cgo LDFLAGS: -lpthread
#cgo noescape kgp_run
#cgo nocallback kgp_run
#cgo noescape kgp_submit
#cgo nocallback kgp_submit
#cgo nocallback kgp_wait
#cgo nocallback kgp_await
#include "pool.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Device is the CPU backend.
type Device struct {
	c     *C.kgp_device
	calls atomic.Int64
}

var isaNames = [...]string{"baseline", "avx2", "avx512"}

// Open starts a backend whose kernels use up to workers threads and the named
// instruction set, the best one if the name is empty.
func Open(workers int, isa string) (*Device, error) {
	best := int(C.kgp_isa())
	use := best
	if isa != "" {
		use = -1
		for i, name := range isaNames {
			if name == isa {
				use = i
			}
		}
		if use < 0 || use > best {
			return nil, fmt.Errorf("cpu: instruction set %s is not there, the best is %s", isa, isaNames[best])
		}
	}
	c := C.kgp_open(C.int32_t(workers), C.int32_t(use))
	if c == nil {
		return nil, errors.New("cpu: out of memory")
	}
	return &Device{c: c}, nil
}

// Name returns "cpu".
func (d *Device) Name() string { return "cpu" }

// Calls returns how often C was entered to run, submit or await a program.
func (d *Device) Calls() int64 { return d.calls.Load() }

// Threads returns how many threads the device has now.
func (d *Device) Threads() int { return int(C.kgp_threads(d.c)) }

// Alloc returns memory aligned to 64 bytes, nil if there is none.
func (d *Device) Alloc(bytes int64) unsafe.Pointer { return C.kgp_alloc(C.int64_t(bytes)) }

// Free releases memory that Alloc returned.
func (d *Device) Free(p unsafe.Pointer) { C.kgp_free(p) }

// Upload copies from the host to the device, which share memory.
func (d *Device) Upload(dst, src unsafe.Pointer, n int64) error {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
	return nil
}

// Download copies from the device to the host.
func (d *Device) Download(dst, src unsafe.Pointer, n int64) error { return d.Upload(dst, src, n) }

// Run executes a program on the calling thread.
func (d *Device) Run(seq uint64, in backend.Instance) backend.Result {
	p := in.(*instance).header()
	p.seq = C.uint64_t(seq)
	d.calls.Add(1)
	C.kgp_run(d.c, p)
	return result(p)
}

// Submit queues a program for the device's thread.
func (d *Device) Submit(seq uint64, in backend.Instance) {
	p := in.(*instance).header()
	p.seq = C.uint64_t(seq)
	d.calls.Add(1)
	if err := C.kgp_submit(d.c, p); err != 0 {
		// Without a thread the program runs here: later, but right.
		C.kgp_run(d.c, p)
	}
}

// Await waits for a program, but no longer than limit.
func (d *Device) Await(seq uint64, limit time.Duration) bool {
	d.calls.Add(1)
	return C.kgp_await(d.c, C.uint64_t(seq), C.int64_t(limit)) != 0
}

// Wait waits for a program.
func (d *Device) Wait(seq uint64, in backend.Instance) backend.Result {
	d.calls.Add(1)
	C.kgp_wait(d.c, C.uint64_t(seq))
	return result(in.(*instance).header())
}

// Now returns the time on the clock of Times.
func (d *Device) Now() int64 { return int64(C.kgp_now()) }

// Close ends all threads.
func (d *Device) Close() {
	C.kgp_close(d.c)
	d.c = nil
}

// result reads the outcome of a program that is complete.
func result(p *C.kgp_program) backend.Result {
	switch p.status {
	case C.KGP_SKIPPED:
		return backend.Result{Skipped: true}
	case C.KGP_NO_MEMORY:
		return backend.Result{Err: fmt.Errorf("%w for the scratch memory of a kernel: %w", backend.ErrMemory, syscall.ENOMEM)}
	case C.KGP_FAULT:
		f := &p.fault
		return backend.Result{Fault: backend.Fault{Set: true, Op: int32(f.op), Tensor: int32(f.tensor),
			Pos: int64(f.pos), Value: int64(f.value), Bound: int64(f.bound)}}
	}
	return backend.Result{}
}
