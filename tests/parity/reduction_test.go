package parity_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/tests/golden"
)

// TestLongReductions: f32 sums of products are off by at most 1e-6 of the sum of
// the absolute values of their terms, however long they are.
func TestLongReductions(t *testing.T) {
	devices := targets(t)
	for _, op := range golden.Ops() {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			eachGolden(t, op, func(g *goldenCase) {
				p := g.call.form.program
				long := slices.ContainsFunc(g.call.ins, func(a array) bool { return len(a.data) > 1000 })
				if g.linear && long && len(p.Types) > 0 && !slices.ContainsFunc(p.Types, func(dt expr.DType) bool { return dt != expr.F32 }) {
					g.checkTerms(t, devices)
				}
			})
		})
	}
}

// checkTerms compares with the terms only.
func (g *goldenCase) checkTerms(t *testing.T, devices []device) {
	t.Helper()
	const reduction, rounding = 1e-6, 0x1p-24
	p := g.call.form.program
	names, want := g.wanted()
	terms := g.terms(t)
	for _, d := range devices {
		outs, grads, err := g.call.run(t, d.Device, g.cotangents, g.wrt)
		if err != nil {
			t.Errorf("%s, %s on %s: %v", programName(p), g.Name, d.name, err)
			continue
		}
		for i, got := range slices.Concat(outs, grads) {
			worst, at := 0.0, 0
			for j, w := range want[i].data {
				if off := math.Abs(got.data[j]-w) - rounding*math.Abs(w); off > 1e-30 && off/terms[i][j] > worst {
					worst, at = off/terms[i][j], j
				}
			}
			if worst > reduction {
				t.Errorf("%s, %s on %s: %s: element %d is %.9g, want %.9g: off by %.2g of the sum of its terms %.9g",
					programName(p), g.Name, d.name, names[i], at, got.data[at], want[i].data[at], worst, terms[i][at])
			}
		}
	}
}
