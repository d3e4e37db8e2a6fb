package oracle

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/gen/expr"
)

// errRaw is the answer to a program without steps.
var errRaw = errors.New("its kernels are written by hand, and so is their reference")

// RunBy runs a program whose kernels are written by hand on call: all that a
// host does, as in Run, is done here, and compute gives the values of the
// outputs and then those of the inouts.
func RunBy(p *expr.Program, call Call, compute func(*Sizes) ([][]float64, error)) (*Result, error) {
	sizes, err := Check(p, call)
	if err != nil {
		return nil, err
	}
	if err := checkBounds(p, sizes, call); err != nil {
		return nil, err
	}
	values, err := compute(sizes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	r := &runner{compiler: &compiler{p: p}, written: map[*expr.Tensor][]float64{}}
	results := p.Outs[:len(p.Outs):len(p.Outs)]
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			results = append(results, t)
		}
	}
	for i, t := range results {
		r.written[t] = values[i]
	}
	return r.result(sizes, call.Round)
}
