package grad_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
)

// TestSecondOrder derives the gradients of derived gradients: they are programs
// like any other, with gathers, scatters and guards that no spec has.
func TestSecondOrder(t *testing.T) {
	specs, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if s.Grad == nil {
			continue
		}
		p := s.Instances[0]
		if slices.ContainsFunc(p.Types, func(d expr.DType) bool { return d != expr.F32 }) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			g := derive(t, p, declOf(s)).Program
			var d grad.Decl
			for _, in := range g.Ins {
				if expr.ValueKind(in) == expr.Float {
					d.Wrt = append(d.Wrt, in.Name)
				}
			}
			compare(t, g, d, 7)
		})
	}
}
