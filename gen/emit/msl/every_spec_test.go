//go:build proof

package msl_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
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
			e := entry{spec: name, static: p.Static, types: [][]expr.DType{p.Types}, calls: []call{anyCall(p, []int{5, 37, 9, 3}), anyCall(p, wholeTiles(p))}}
			t.Run(name, e.run)
		}
	}
}
