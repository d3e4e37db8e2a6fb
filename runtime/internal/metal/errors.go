//go:build cgo && (darwin || (softmetal && linux))

package metal

/*
#include "bridge.h"
*/
import "C"

import (
	"fmt"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Error is what Metal reported.
type Error struct {
	What   string
	Text   string
	Domain string // of the NSError, "" where there was none
	Code   int
	memory bool
}

// Error formats the error as "metal: run: the program did not complete: …
// (MTLCommandBufferErrorDomain 8); …".
func (e *Error) Error() string {
	s := "metal: " + e.What + ": " + e.Text
	if e.Domain != "" {
		s += fmt.Sprintf(" (%s %d)", e.Domain, e.Code)
	}
	if e.Domain == "MTLCommandBufferErrorDomain" && hints[e.Code] != "" {
		s += "; " + hints[e.Code]
	}
	return s
}

// Unwrap returns backend.ErrMemory where more free memory would have helped.
func (e *Error) Unwrap() error {
	if e.memory {
		return backend.ErrMemory
	}
	return nil
}

const validate = "run the program with MTL_SHADER_VALIDATION=1 and MTL_DEBUG_LAYER=1 to see which kernel, and why"

// hints say what to do about a MTLCommandBufferError. 14 is not in the public header.
var hints = map[int]string{
	2:  "a program took longer than the system allows a GPU that draws its screen: split the batch",
	3:  "a kernel read or wrote outside of its memory: " + validate,
	4:  "the system has shut this process out after errors before this one: start it again",
	8:  "the GPU's memory did not suffice: the device's working set is smaller than what the program uses",
	9:  "a resource was gone before the program was complete: a bug in this backend, please report it",
	11: "the GPU was removed",
	12: "a kernel recursed too deep",
	14: "a program kept the GPU from drawing the screen: split the batch",
}

// taken returns an error of the bridge and frees what it holds, nil if there is none.
func taken(what string, e *C.kgm_error) error {
	if e.text == nil {
		return nil
	}
	err := &Error{What: what, Text: C.GoString(e.text), Domain: C.GoString(&e.domain[0]), Code: int(e.code), memory: e.memory != 0}
	C.kgm_free_text(e.text)
	e.text = nil
	return err
}
