//go:build linux && cgo

package cuda

/*
#cgo CFLAGS: -O2 -std=gnu11 -Wall -Wextra
#cgo LDFLAGS: -lpthread -ldl
#cgo noescape kgc_upload
#cgo nocallback kgc_upload
#cgo noescape kgc_download
#cgo nocallback kgc_download
#cgo noescape kgc_submit
#cgo nocallback kgc_submit
#cgo noescape kgc_wait
#cgo nocallback kgc_wait
#cgo nocallback kgc_await
#include <stdlib.h>
#include "device.h"
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Device is the CUDA backend.
type Device struct {
	c *C.kgc_device

	mu       sync.Mutex        // guards what follows
	modules  map[string]module // by source
	compiled int               // sources that NVRTC compiled
	spare    map[int64][]twins // by size
	products map[productKey]*C.kgc_product

	copy, restore, fill kernel // functions of kernels.cu
}

// Open opens the card with this number, as CUDA counts them.
func Open(ordinal int) (*Device, error) {
	d := &Device{c: C.kgc_new(), modules: map[string]module{}, spare: map[int64][]twins{}}
	if d.c == nil {
		return nil, backend.ErrMemory
	}
	if err := d.open(ordinal); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Device) open(ordinal int) error {
	if err := d.openDriver(); err != nil {
		return err
	}
	if err := d.openCompiler(); err != nil {
		return err
	}
	if err := d.err(C.kgc_open(d.c, C.int32_t(ordinal))); err != nil {
		return err
	}
	return d.loadFrame()
}

// Name returns "cuda".
func (d *Device) Name() string { return "cuda" }

// Replays returns how many runs were replays of a graph.
func (d *Device) Replays() int64 { return int64(C.kgc_replays(d.c)) }

// Compiled returns how many sources were compiled, not found in the cache.
func (d *Device) Compiled() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiled
}

// address is memory of the card as the runtime holds it.
func address(p C.uint64_t) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func number(p unsafe.Pointer) C.uint64_t { return C.uint64_t(uintptr(p)) }

// Alloc returns memory of the card, aligned to 256 bytes, nil if there is none.
func (d *Device) Alloc(bytes int64) unsafe.Pointer {
	var p C.uint64_t
	if s := C.kgc_alloc(d.c, C.int64_t(bytes), &p); s.code != 0 {
		return nil
	}
	return address(p)
}

// Free releases memory that Alloc returned. It does not wait for programs.
func (d *Device) Free(p unsafe.Pointer) { C.kgc_free(d.c, number(p)) }

// Upload copies from the host to the card.
func (d *Device) Upload(dst, src unsafe.Pointer, n int64) error {
	return d.err(C.kgc_upload(d.c, number(dst), src, C.int64_t(n)))
}

// Download copies from the card to the host.
func (d *Device) Download(dst, src unsafe.Pointer, n int64) error {
	return d.err(C.kgc_download(d.c, dst, number(src), C.int64_t(n)))
}

// Run queues a program and waits for it.
func (d *Device) Run(seq uint64, in backend.Instance) backend.Result {
	d.Submit(seq, in)
	return d.Wait(seq, in)
}

// Submit queues a program on the card.
func (d *Device) Submit(seq uint64, in backend.Instance) {
	i := in.(*instance)
	C.kgc_submit(d.c, &i.c, unsafe.SliceData(i.code.cmds), C.int64_t(len(i.code.cmds)), C.uint64_t(seq))
}

// Await waits for a program, but no longer than limit.
func (d *Device) Await(seq uint64, limit time.Duration) bool {
	return C.kgc_await(d.c, C.uint64_t(seq), C.int64_t(limit)) != 0
}

// Wait waits for a program.
func (d *Device) Wait(seq uint64, in backend.Instance) backend.Result {
	i := in.(*instance)
	if s := C.kgc_wait(d.c, &i.c, C.uint64_t(seq)); s.code != 0 {
		return backend.Result{Err: d.runError(s)}
	}
	return i.result()
}

// Now returns the time on the clock of Times.
func (d *Device) Now() int64 { return int64(C.kgc_now()) }

// Close releases everything.
func (d *Device) Close() {
	for _, m := range d.modules {
		C.kgc_unload_module(d.c, m.handle)
	}
	for _, p := range d.products {
		if p != nil {
			C.kgc_free_product(d.c, p)
		}
	}
	for _, list := range d.spare {
		for _, t := range list {
			C.kgc_free_twins(d.c, t.host, t.dev)
		}
	}
	C.kgc_close(d.c)
	d.c = nil
}
