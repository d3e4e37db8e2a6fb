//go:build proof

package msl_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// TestEverySpec runs each spec that the catalogue does not have, for each of its
// choices (of which the first three), in its first types on random values.
func TestEverySpec(t *testing.T) {
	specs, err := allSpecs()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range specs {
		if slices.ContainsFunc(catalogue, func(e entry) bool { return e.spec == name }) {
			continue
		}
		var tried [][]expr.Choice
		for _, p := range s.Instances {
			same := func(c []expr.Choice) bool { return slices.Equal(c, p.Static) }
			if len(tried) == 3 || slices.ContainsFunc(tried, same) {
				continue
			}
			tried = append(tried, p.Static)
			e := entry{spec: name, static: p.Static, types: [][]expr.DType{p.Types}, calls: []call{anyCall(p)}}
			t.Run(name, e.run)
		}
	}
}

// anyCall gives small extents to the axes of p and values to its parameters. A
// second moment is never negative.
func anyCall(p *expr.Program) call {
	c := call{axes: ax{}, params: pm{}, ins: in{}, terms: 50}
	for i, a := range p.Axes {
		if a.Extent == nil {
			c.axes[a.Name] = []int{[]int{5, 37, 9, 3}[i%4]}
		}
	}
	for _, q := range p.Params {
		if q.Default == nil {
			c.params[q.Name] = oracle.Value{F: 0.5, I: 1, U: 1}
		}
	}
	for _, x := range p.Ins {
		if x.Role == expr.InOut && x.Name == "v" {
			c.ins["v"] = repeat(0.5, count(shape(x, c.axes)))
		}
	}
	return c
}
