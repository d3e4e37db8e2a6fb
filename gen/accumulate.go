package gen

import (
	_ "embed"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/spec"
)

// accumulateSpec is the sum of two cotangents of one tensor, which every
// generated package with gradients holds for the runtime.
//
//go:embed accumulate.toml
var accumulateSpec []byte

// accumulateVar is the Go variable of its descriptor.
const accumulateVar = "kgenAccumulateOp"

// accumulate compiles the sum of cotangents.
func accumulate() (*Spec, error) {
	set, list := spec.ParseSet("kgen/kgen_accumulate.toml", accumulateSpec)
	checked, wrong := expr.Check(set)
	if err := append(list, wrong...).Err(); err != nil {
		return nil, err
	}
	s, wrong := newSpec(set, checked[0])
	s.internal = true
	s.File = SpecDir // no file of the module: all specs give it together
	return s, wrong.Err()
}
