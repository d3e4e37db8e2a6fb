package nn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/runtime"
)

// Weight is a parameter on the host, as a file of weights has it: row-major, in one of
// the types F32, F16 and BF16.
type Weight[T Float] struct {
	Name  string
	Shape []int
	Data  []T
}

// Bytes returns the elements as files have them, little-endian.
func (w *Weight[T]) Bytes() []byte {
	data, err := binary.Append(nil, binary.LittleEndian, w.Data)
	if err != nil {
		panic(err) // numbers have a size
	}
	return data
}

// Export returns the values of parameters, rounded to T, in their order. A value that
// is finite and is not so in T is an error. It waits for submitted work.
func Export[T Float](list []Named) ([]Weight[T], error) {
	weights := make([]Weight[T], len(list))
	for i, p := range list {
		values, err := p.Values()
		if err != nil {
			return nil, fmt.Errorf("export: %s: %w", p.Name, err)
		}
		data := Round[T](values)
		for j, v := range Widen(data) {
			if math.IsInf(float64(v), 0) && !math.IsInf(float64(values[j]), 0) {
				return nil, fmt.Errorf("export: %s: element %d is %v, too large for %v", p.Name, j, values[j], runtime.TypeOf[T]())
			}
		}
		weights[i] = Weight[T]{p.Name, p.Shape(), data}
	}
	return weights, nil
}

// Load sets parameters to weights of the same names, in any order; 16-bit types are
// widened, which is exact. Each parameter must have one weight of its shape and each
// weight a parameter: if not, the error says all that is missing, unexpected or of
// another shape, and nothing is changed. It waits for submitted work.
func Load[T Float](list []Named, weights []Weight[T]) error {
	given := map[string]*Weight[T]{}
	var errs []error
	for i := range weights {
		w := &weights[i]
		if given[w.Name] != nil {
			errs = append(errs, fmt.Errorf("load: %s is given twice", w.Name))
		}
		given[w.Name] = w
	}
	for _, p := range list {
		w := given[p.Name]
		delete(given, p.Name)
		switch {
		case w == nil:
			errs = append(errs, fmt.Errorf("load: %s is missing", p.Name))
		case !slices.Equal(w.Shape, p.shape):
			errs = append(errs, fmt.Errorf("load: %s has shape %v, the model's is %v", p.Name, w.Shape, p.shape))
		case len(w.Data) != p.Len():
			errs = append(errs, fmt.Errorf("load: %s has %d elements, its shape %v has %d", p.Name, len(w.Data), w.Shape, p.Len()))
		}
	}
	for _, w := range weights {
		if given[w.Name] != nil {
			errs = append(errs, fmt.Errorf("load: %s is not a parameter of the model", w.Name))
			delete(given, w.Name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return set(list, weights)
}

// set sets parameters to weights that fit them.
func set[T Float](list []Named, weights []Weight[T]) error {
	at := map[string]int{}
	for i, w := range weights {
		at[w.Name] = i
	}
	for _, p := range list {
		if err := p.Set(Widen(weights[at[p.Name]].Data)); err != nil {
			return fmt.Errorf("load: %s: %w", p.Name, err)
		}
	}
	return nil
}
