package parity_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
)

// terms returns for each element of each result and gradient, by name, the sum
// over all elements x of float inputs of |x * d(result)/dx|: for a sum the sum of
// the absolute values of its terms, and for anything else what takes its place,
// the change for a relative change of 1 in every input. It is found by
// differences in float64.
func (g *goldenCase) terms(t *testing.T) map[string][]float64 {
	t.Helper()
	base := g.oracle(t, g.Ins)
	sum := map[string][]float64{}
	for name, v := range base {
		sum[name] = make([]float64, len(v.Data))
	}
	const step = 0x1p-20
	for _, in := range g.call.form.program.Ins {
		if in.Type == expr.I32 || in.Type == expr.U8 {
			continue
		}
		for j := range g.Ins[in.Name].Data {
			moved := g.oracle(t, g.moved(in.Name, j, step))
			for name, v := range moved {
				for k, y := range v.Data {
					if gap := math.Abs(y-base[name].Data[k]) / step; !math.IsNaN(gap) {
						sum[name][k] += gap
					}
				}
			}
		}
	}
	return sum
}

// moved returns the inputs with one element moved by a relative step.
func (g *goldenCase) moved(name string, j int, step float64) tensors {
	ins := tensors{}
	for k, v := range g.Ins {
		if k == name {
			v.Data = slices.Clone(v.Data)
			v.Data[j] *= 1 + step
		}
		ins[k] = v
	}
	return ins
}

// oracle runs the case in float64 and returns results and gradients, the latter
// under the name that compare knows them by.
func (g *goldenCase) oracle(t *testing.T, ins tensors) map[string]oracle.Array {
	t.Helper()
	p := g.call.form.program
	call := oracle.Call{Free: g.Free}
	for _, v := range g.call.params {
		call.Params = append(call.Params, oracleValue(v))
	}
	for _, in := range p.Ins {
		call.Ins = append(call.Ins, oracle.Array{Shape: ins[in.Name].Shape, Data: ins[in.Name].Data})
	}
	res, err := oracle.Run(p, call)
	if err != nil {
		t.Fatal(err)
	}
	all := res.Named(p)
	if g.Grads == nil {
		return all
	}
	cotangents := map[string]oracle.Array{}
	for name, v := range g.Cotangents {
		cotangents[name] = oracle.Array{Shape: v.Shape, Data: v.Data}
	}
	grads, err := backward.Run(specs()[p.Name], p, call, res, cotangents)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range grads {
		all[gradientOf(name)] = v
	}
	return all
}

func gradientOf(name string) string { return "gradient of " + name }

func oracleValue(v any) oracle.Value {
	switch v := v.(type) {
	case f32:
		return oracle.Float(float64(v))
	case int32:
		return oracle.Int(int64(v))
	case uint32:
		return oracle.Uint(uint64(v))
	case uint64:
		return oracle.Uint(v)
	}
	return oracle.Bool(v.(bool))
}
