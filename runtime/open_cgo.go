//go:build cgo

package runtime

import (
	"github.com/kernelgen/kgen/runtime/internal/backend"
	"github.com/kernelgen/kgen/runtime/internal/cpu"
)

// openCPU returns the CPU backend.
func openCPU(c config) (b backend.Backend, reference bool, err error) {
	b, err = cpu.Open(c.workers, c.isa)
	if err != nil {
		return nil, false, &Error{Op: "open", Err: err, Text: err.Error()}
	}
	return b, false, nil
}
