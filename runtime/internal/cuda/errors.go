//go:build linux && cgo

package cuda

/*
#include "device.h"
*/
import "C"

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Error is what a call of the driver returned.
type Error struct {
	Call string
	Code int    // the CUresult
	Name string // CUDA_ERROR_…
	Text string // what the driver says of it
}

// Error formats the error as "cuda: cuInit: CUDA_ERROR_NO_DEVICE (100): …".
func (e *Error) Error() string {
	s := fmt.Sprintf("cuda: %s: %s (%d)", e.Call, e.Name, e.Code)
	if e.Text != "" {
		s += ": " + e.Text
	}
	if h := hints[e.Code]; h != "" {
		s += "; " + h
	}
	return s
}

// Unwrap returns backend.ErrMemory where that is what it is.
func (e *Error) Unwrap() error {
	if e.Code == C.CUDA_ERROR_OUT_OF_MEMORY {
		return backend.ErrMemory
	}
	return nil
}

const sanitize = "run the program under compute-sanitizer to see which kernel, and its line"

// hints say what to do about a CUresult.
var hints = map[int]string{
	100: "nvidia-smi lists the cards, and CUDA_VISIBLE_DEVICES may hide them",
	101: "there are fewer cards: they count from 0, and CUDA_VISIBLE_DEVICES may hide some",
	209: "the compiled kernel is for another card: empty the folder kgen/cuda in the user's cache",
	700: "a kernel read or wrote outside of its memory: " + sanitize,
	716: "a kernel used an address that is not aligned: " + sanitize,
	701: "a kernel needs more registers than its threads may have",
	702: "a kernel took longer than the display driver allows",
	719: "a kernel failed: " + sanitize,
	803: "the driver and its library are of different versions: restart the machine",
	804: "the library libcuda.so.1 that was found is newer than the driver and not for this card",
	999: "see whether nvidia-smi works; after a driver update, restart the machine",
}

// err turns a status into an error, nil for success.
func (d *Device) err(s C.kgc_status) error {
	if s.code == 0 {
		return nil
	}
	return &Error{
		Call: C.GoString(s.call), Code: int(s.code),
		Name: C.GoString(C.kgc_error_name(d.c, s.code)), Text: C.GoString(C.kgc_error_text(d.c, s.code)),
	}
}

// runError is the error of a run. Whatever it is, part of the program may have
// changed memory, so it does not wrap backend.ErrMemory: the device is lost.
func (d *Device) runError(s C.kgc_status) error { return errors.New(d.err(s).Error()) }
