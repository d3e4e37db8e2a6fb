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
	// Linear says that results and gradients are sums of products of inputs, so
	// that the absolute values of inputs and cotangents give the sums of the
	// absolute values of the terms.
	Linear bool
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
// exact in f32, f16 and bf16. Of a long result Data is nil: it has samples and
// sums, with which Check compares an array.
type Tensor struct {
	Shape   []int
	Data    Floats
	Rule    *Rule     // made Data
	Samples []float64 // elements at the positions of samplePositions
	Sums    []float64 // of all elements with the weights of sumWeights
}

// Len is the number of elements.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
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

// Load returns the cases of one op, all inputs and cotangents with their Data.
func Load(op string) (*File, error) {
	data, err := files.ReadFile(op + ".json")
	if err != nil {
		return nil, fmt.Errorf("golden: no values for %s: %w", op, err)
	}
	f, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("golden: %s.json: %w", op, err)
	}
	return f, nil
}

// Parse reads a file of cases, all inputs and cotangents with their Data.
func Parse(data []byte) (*File, error) {
	f := &File{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, err
	}
	for _, c := range f.Cases {
		expand(c.Ins)
		expand(c.Cotangents)
	}
	return f, nil
}

// expand gives Data to the tensors that have a rule.
func expand(tensors map[string]Tensor) {
	for name, t := range tensors {
		if t.Rule != nil {
			t.Data = t.Rule.values(t.Len())
			tensors[name] = t
		}
	}
}
