package exact

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/tests/golden"
)

// runRaw is run for a program whose kernels are written by hand: it has no steps
// that the oracle could run.
func runRaw(p *expr.Program, c golden.Case) (*Values, error) {
	if p.Name != "cumsum" {
		return nil, fmt.Errorf("add its values in float64 to tests/golden/exact/raw.go")
	}
	reverse := slices.Contains(p.Static, expr.Choice{Name: "direction", Value: "reverse"})
	v := &Values{Outs: map[string]oracle.Array{"y": runningSums(c.Ins["x"], reverse)}}
	if c.Grads != nil {
		v.Grads = map[string]oracle.Array{"x": runningSums(c.Cotangents["y"], !reverse)}
	}
	return v, nil
}

// runningSums adds up each row from its start, or from its end.
func runningSums(x golden.Tensor, reverse bool) oracle.Array {
	y := oracle.Array{Shape: x.Shape, Data: slices.Clone(x.Data)}
	if len(y.Data) == 0 {
		return y
	}
	for row := range slices.Chunk(y.Data, x.Shape[len(x.Shape)-1]) {
		if reverse {
			slices.Reverse(row)
		}
		for i := 1; i < len(row); i++ {
			row[i] += row[i-1]
		}
		if reverse {
			slices.Reverse(row)
		}
	}
	return y
}
