//go:build cgo && (darwin || (softmetal && linux))

package metal

/*
#cgo noescape kgm_upload
#cgo nocallback kgm_upload
#cgo noescape kgm_download
#cgo nocallback kgm_download
#cgo nocallback kgm_submit
#cgo nocallback kgm_wait
#cgo nocallback kgm_await
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Device is the Metal backend.
type Device struct {
	c    *C.kgm_device
	name string

	mu        sync.Mutex                // guards what follows
	memory    []*C.kgm_memory           // of Alloc, by address
	libraries map[string]unsafe.Pointer // by source
	pipelines map[pipelineKey]*C.kgm_pipeline
	spare     map[int64][]*C.kgm_memory // of instances, by size

	products   map[C.kgm_shape]*C.kgm_product // nil unless OpenProducts was called
	multiplied int
	scratch    []*C.kgm_memory // of products: the last one, and smaller ones of older programs

	history *C.kgm_memory // which of the last programs failed
	frame   frame
}

// Open opens a device: 0 is the system's default one, the others follow as the system
// lists them.
func Open(number int) (*Device, error) {
	var e C.kgm_error
	c := C.kgm_open(C.int32_t(number), &e)
	if c == nil {
		return nil, taken("open", &e)
	}
	d := &Device{c: c, libraries: map[string]unsafe.Pointer{}, pipelines: map[pipelineKey]*C.kgm_pipeline{}, spare: map[int64][]*C.kgm_memory{}}
	if err := d.open(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Device) open() error {
	var is C.kgm_description
	C.kgm_describe(d.c, &is)
	d.name = C.GoString(&is.name[0])
	d.history = newMemory()
	if C.kgm_alloc_shared(d.c, C.KGM_HISTORY*4, d.history) == 0 {
		C.free(unsafe.Pointer(d.history))
		d.history = nil
		return fmt.Errorf("metal: open: %w", backend.ErrMemory)
	}
	return d.loadFrame()
}

// newMemory returns a struct of C for memory.
func newMemory() *C.kgm_memory { return (*C.kgm_memory)(C.calloc(1, C.sizeof_kgm_memory)) }

// Name returns "metal".
func (d *Device) Name() string { return "metal" }

// Alloc returns memory of the device, aligned to 256 bytes, nil if there is none. The
// address is one of the host's memory only where the host shares it with the GPU.
func (d *Device) Alloc(bytes int64) unsafe.Pointer {
	m := newMemory()
	if C.kgm_alloc(d.c, C.int64_t(bytes), m) == 0 {
		C.free(unsafe.Pointer(m))
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i, _ := slices.BinarySearchFunc(d.memory, address(m), byAddress)
	d.memory = slices.Insert(d.memory, i, m)
	return unsafe.Pointer(m.address)
}

func address(m *C.kgm_memory) uintptr { return uintptr(unsafe.Pointer(m.address)) }

func byAddress(m *C.kgm_memory, at uintptr) int {
	switch a := address(m); {
	case a < at:
		return -1
	case a > at:
		return 1
	}
	return 0
}

// find returns the memory that an address lies in, and how far. The caller holds d.mu.
func (d *Device) find(p unsafe.Pointer) (*C.kgm_memory, int64) {
	at := uintptr(p)
	i, exact := slices.BinarySearchFunc(d.memory, at, byAddress)
	if !exact {
		i--
	}
	if i < 0 || at-address(d.memory[i]) >= uintptr(d.memory[i].bytes) {
		panic(fmt.Sprintf("metal: no memory at %#x", at)) // the runtime's count of users is wrong
	}
	return d.memory[i], int64(at - address(d.memory[i]))
}

func (d *Device) memoryAt(p unsafe.Pointer) (*C.kgm_memory, C.int64_t) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, off := d.find(p)
	return m, C.int64_t(off)
}

// Free releases memory that Alloc returned.
func (d *Device) Free(p unsafe.Pointer) {
	d.mu.Lock()
	m, _ := d.find(p)
	i, _ := slices.BinarySearchFunc(d.memory, uintptr(p), byAddress)
	d.memory = slices.Delete(d.memory, i, i+1)
	d.mu.Unlock()
	d.free(m)
}

func (d *Device) free(m *C.kgm_memory) {
	C.kgm_free(d.c, m)
	C.free(unsafe.Pointer(m))
}

// Upload copies from the host to the device.
func (d *Device) Upload(dst, src unsafe.Pointer, n int64) error {
	m, off := d.memoryAt(dst)
	var e C.kgm_error
	C.kgm_upload(d.c, m, off, src, C.int64_t(n), &e)
	return taken("upload", &e)
}

// Download copies from the device to the host.
func (d *Device) Download(dst, src unsafe.Pointer, n int64) error {
	m, off := d.memoryAt(src)
	var e C.kgm_error
	C.kgm_download(d.c, dst, m, off, C.int64_t(n), &e)
	return taken("download", &e)
}

// Run queues a program and waits for it.
func (d *Device) Run(seq uint64, in backend.Instance) backend.Result {
	d.Submit(seq, in)
	return d.Wait(seq, in)
}

// Submit queues a program.
func (d *Device) Submit(seq uint64, in backend.Instance) {
	i := in.(*instance)
	C.kgm_submit(d.c, i.c, unsafe.SliceData(i.code.cmds), C.int64_t(len(i.code.cmds)), unsafe.SliceData(i.code.binds), C.uint64_t(seq))
}

// Await waits for a program, but no longer than limit.
func (d *Device) Await(seq uint64, limit time.Duration) bool {
	return C.kgm_await(d.c, C.uint64_t(seq), C.int64_t(limit)) != 0
}

// Wait waits for a program.
func (d *Device) Wait(seq uint64, in backend.Instance) backend.Result {
	C.kgm_wait(d.c, C.uint64_t(seq))
	return in.(*instance).result()
}

// Now returns the time on the clock of Times.
func (d *Device) Now() int64 { return int64(C.kgm_now()) }

// BeginCapture writes what the GPU does from now on to a new .gputrace file, for
// Xcode, until EndCapture.
func (d *Device) BeginCapture(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var e C.kgm_error
	C.kgm_begin_capture(d.c, p, &e)
	return taken("capture", &e)
}

// EndCapture ends a capture.
func (d *Device) EndCapture() { C.kgm_end_capture(d.c) }

// Close releases everything.
func (d *Device) Close() {
	for _, p := range d.pipelines {
		C.kgm_free_pipeline(p)
		C.free(unsafe.Pointer(p))
	}
	for _, l := range d.libraries {
		C.kgm_release(l)
	}
	for _, p := range d.products {
		if p != nil {
			C.kgm_free_product(p)
		}
	}
	for _, list := range d.spare {
		for _, m := range list {
			d.free(m)
		}
	}
	for _, m := range d.scratch {
		d.free(m)
	}
	for _, m := range d.memory {
		d.free(m)
	}
	if d.history != nil {
		d.free(d.history)
	}
	C.kgm_close(d.c)
	d.c = nil
}
