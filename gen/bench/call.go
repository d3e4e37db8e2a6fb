package bench

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// call is one call of an op, as package program reads it.
type call struct {
	Op     int      `json:"op"` // in the list of descriptors
	Ins    []tensor `json:"ins"`
	Params []uint64 `json:"params"` // bits, as in a runtime.Scalar
	Free   [][]int  `json:"free"`
	Outs   []string `json:"outs"` // types
	Bytes  int64    `json:"bytes"`
}

// tensor is an input: integers are in [0, Bound).
type tensor struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Bound int64  `json:"bound"`
}

func (a *arguments) encode() (call, error) {
	p := a.program
	c := call{Ins: []tensor{}, Params: []uint64{}, Free: [][]int{}, Outs: []string{}}
	for i, t := range p.Ins {
		bound, err := oracle.Bound(p, a.sizes, a.params, t)
		if err != nil {
			return call{}, err
		}
		c.Ins = append(c.Ins, tensor{t.Type.String(), a.shapes[i], bound})
	}
	for i, q := range p.Params {
		c.Params = append(c.Params, bits(q.Type, a.params[i]))
	}
	for _, axis := range p.Axes {
		if axis.Free {
			c.Free = append(c.Free, a.free[axis.Name])
		}
	}
	for _, t := range p.Outs {
		c.Outs = append(c.Outs, t.Type.String())
	}
	return c, nil
}

func bits(t expr.ParamType, v oracle.Value) uint64 {
	switch t {
	case expr.ParamF32:
		return uint64(math.Float32bits(float32(v.F)))
	case expr.ParamU32, expr.ParamU64:
		return v.U
	case expr.ParamI32:
		return uint64(uint32(int32(v.I)))
	}
	return uint64(v.I)
}
