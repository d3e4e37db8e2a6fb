//go:build !linux || !cgo

package cuda

import (
	"errors"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Device is a card. There is none in this program.
type Device struct{ backend.Backend }

// Open says why there is no card.
func Open(int) (*Device, error) {
	return nil, errors.New("cuda: this program was built without it: build on Linux with CGO_ENABLED=1")
}
