//go:build !cgo || (!darwin && !(softmetal && linux))

package metal

import (
	"errors"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Device is a GPU. There is none in this program.
type Device struct{ backend.Backend }

// Open says why there is no GPU.
func Open(int) (*Device, error) {
	return nil, errors.New("metal: this program was built without it: build on a Mac with CGO_ENABLED=1")
}

// OpenProducts is for a device that there is.
func (d *Device) OpenProducts() error { return nil }

// BeginCapture is for a device that there is.
func (d *Device) BeginCapture(string) error { return nil }

// EndCapture is for a device that there is.
func (d *Device) EndCapture() {}
