package parity_test

import (
	"testing"

	"github.com/kernelgen/kgen/tests/golden/exact"
)

// terms returns the terms of each result and gradient, results first; see
// exact.Terms.
func (g *goldenCase) terms(t *testing.T) [][]float64 {
	t.Helper()
	p := g.call.form.program
	v, err := exact.Terms(specs()[p.Name], p, g.Case, g.linear)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]float64
	for _, r := range results(p) {
		list = append(list, v.Outs[r.Name].Data)
	}
	for _, i := range g.wrt {
		list = append(list, v.Grads[p.Ins[i].Name].Data)
	}
	return list
}
