//go:build !cgo

package runtime

import "github.com/kernelgen/kgen/runtime/internal/backend"

// openCPU returns the reference backend: without cgo there are no kernels.
func openCPU(c config) (b backend.Backend, reference bool, err error) {
	if c.isa != "" {
		return nil, false, opError("open", ErrOption, "instruction set %s: built without cgo, only the reference device is there", c.isa)
	}
	return newReference(), true, nil
}
