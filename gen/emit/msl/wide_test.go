package msl_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// wholeTiles returns extents for the axes of p that every wide form takes, and more
// than one tile of a map.
func wholeTiles(p *expr.Program) []int {
	switch n := len(p.Axes); {
	case n <= 1:
		return []int{4104}
	case n == 2:
		return []int{40, 104}
	case n == 3:
		return []int{8, 24, 24}
	}
	return []int{8, 24, 16, 8}
}

// TestWideForms runs both forms of the kernels that know positions, or read at computed
// ones, where the wide form fits; device.launch compares their bits.
func TestWideForms(t *testing.T) {
	specs, err := allSpecs()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for name, s := range specs {
		p := s.Instances[0]
		set := newKernelSet(t, p)
		if !hasWide(set.f) && !hasWide(set.b) || !knowsPositions(p) && (set.backward == nil || !knowsPositions(set.backward)) {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			e := entry{spec: name, static: p.Static}
			program := build(t, name+".metal", e.text(t, []kernelSet{set}), sim.Address|sim.Undefined|sim.Quick)
			set.check(t, program, anyCall(p, wholeTiles(p)), 0)
		})
	}
	if ran < 10 {
		t.Errorf("only %d specs", ran)
	}
}

func hasWide(b *bind.Result) bool {
	return b != nil && slices.ContainsFunc(b.Op.Variants[0].Kernels, func(k bind.Kernel) bool { return k.Wide != nil })
}

// knowsPositions reports whether a step of p depends on where along an axis it is.
func knowsPositions(p *expr.Program) bool {
	found := false
	for _, s := range p.Steps {
		expr.Walk(s.Expr, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Index, *expr.Flat:
				found = true
			case *expr.Read:
				found = found || e.Idx != nil
			}
			return true
		})
	}
	return found
}

// anyCall gives the extents in turn to the axes of p, and values to its parameters. A
// second moment is never negative.
func anyCall(p *expr.Program, extents []int) call {
	c := call{axes: ax{}, params: pm{}, ins: in{}, terms: 50}
	for i, a := range p.Axes {
		if a.Extent == nil {
			c.axes[a.Name] = []int{extents[i%len(extents)]}
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
