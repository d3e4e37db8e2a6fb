package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
)

// State names resident tensors.
type State map[string]runtime.Handle

// Save writes tensors and metadata to a file, as a whole or not at all: whenever
// the process or the machine stops, the path holds what it held before or all of
// the new content. The tensors are read one piece after another, so nothing may
// change them meanwhile; Save waits for submitted work that computes them.
func Save(path string, state State, metadata map[string]string) error {
	var list []safetensors.Source
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(state)) {
		h := state[name]
		t, err := dtype(h.DType())
		if err == nil {
			err = h.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
			continue
		}
		list = append(list, safetensors.Source{Name: name, DType: t, Shape: h.Shape(), Data: reader{h}})
	}
	if len(errs) > 0 {
		return fmt.Errorf("checkpoint: %s is not written: %w", path, errors.Join(errs...))
	}
	if err := safetensors.WriteFile(path, metadata, list); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// reader reads the bytes of a tensor through views, so that no more than a piece
// of it is on the host.
type reader struct{ h runtime.Handle }

// ReadAt reads whole elements.
func (r reader) ReadAt(p []byte, off int64) (int, error) {
	size := r.h.DType().Size()
	v, err := r.h.View(int(off/size), len(p)/int(size))
	if err != nil {
		return 0, err
	}
	defer v.Close()
	if err := v.ReadBytes(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
