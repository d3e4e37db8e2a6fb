// Package golden holds forward results and gradients of the shipped kernels,
// computed by PyTorch in float64 with make.py. Op names come in, cases with
// inputs and wanted outputs go out; what is compared with them is up to tests.
package golden

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// File holds the cases of one op.
type File struct {
	Op     string // name of the spec
	Source string // what made the values
	Cases  []Case
}

// Case is one call of an op. Tensors and parameters are keyed by the names of
// the spec; a choice, parameter or output that a case does not name has its
// first value, has its default or is not compared.
type Case struct {
	Name       string
	Static     map[string]string
	Params     map[string]any // float64 or bool; float parameters are exact in f32
	Free       map[string][]int
	Ins, Outs  map[string]Tensor
	Cotangents map[string]Tensor // of outputs; nil when the case has no gradient
	Grads      map[string]Tensor // of inputs
}

// Tensor is a dense row-major tensor. The elements of inputs and cotangents are
// exact in f32, f16 and bf16, but for the state of optimisers.
type Tensor struct {
	Shape []int
	Data  Floats
}

// Floats is decoded from numbers and the strings "inf", "-inf" and "nan".
type Floats []float64

// UnmarshalJSON decodes the numbers.
func (f *Floats) UnmarshalJSON(data []byte) error {
	var values []any
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	special := map[string]float64{"inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN()}
	*f = make(Floats, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			(*f)[i] = v
		case string:
			x, ok := special[v]
			if !ok {
				return fmt.Errorf("element %d is %q, no number", i, v)
			}
			(*f)[i] = x
		default:
			return fmt.Errorf("element %d is no number", i)
		}
	}
	return nil
}

// Ops returns the names of the ops that have golden values, sorted.
func Ops() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Load returns the cases of one op.
func Load(op string) (*File, error) {
	data, err := files.ReadFile(op + ".json")
	if err != nil {
		return nil, fmt.Errorf("golden: no values for %s: %w", op, err)
	}
	f := &File{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("golden: %s.json: %w", op, err)
	}
	return f, nil
}
