package golden_test

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/spec"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

var specs = sync.OnceValue(func() map[string]*expr.Spec {
	set, _ := spec.Load(os.DirFS("../.."), "specs")
	checked, _ := expr.Check(set)
	byName := map[string]*expr.Spec{}
	for _, s := range checked {
		byName[s.Name] = s
	}
	return byName
})

// TestOracle compares the oracle with PyTorch: outputs, and gradients derived
// from the spec. One of the types serves, since the oracle does not round. Specs
// with kernels by hand have no program for the oracle.
func TestOracle(t *testing.T) {
	for _, op := range golden.Ops() {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			file, err := golden.Load(op)
			if err != nil {
				t.Fatal(err)
			}
			s := specs()[op]
			if s == nil {
				t.Fatalf("no spec %s, or it has mistakes", op)
			}
			for _, c := range file.Cases {
				programs := exact.Served(s, c)
				if len(programs) == 0 {
					t.Fatalf("%s: no program for %v", c.Name, c.Static)
				}
				if _, err := exact.Run(s, programs[0], c); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestEverySpecHasValues: each spec has golden values, in each of its choices,
// and a gradient for each input that its derived gradient has one for.
func TestEverySpecHasValues(t *testing.T) {
	for name, s := range specs() {
		file, err := golden.Load(name)
		if err != nil {
			t.Errorf("%v: add it to make.py and run it", err)
			continue
		}
		served := map[*expr.Program]bool{}
		var grads []string
		for _, c := range file.Cases {
			for _, p := range exact.Served(s, c) {
				served[p] = true
			}
			for in := range c.Grads {
				grads = append(grads, in)
			}
		}
		for _, p := range s.Instances {
			if !served[p] {
				t.Errorf("%s with %v %v has no golden values", name, p.Static, p.Types)
			}
			for _, in := range gradientsOf(s, p) {
				if !slices.Contains(grads, in) {
					t.Errorf("%s: no golden gradient of %s", name, in)
				}
			}
		}
	}
}

// gradientsOf returns the names of the inputs that the spec's gradient is taken
// with respect to; of a list, those of its tensors.
func gradientsOf(s *expr.Spec, p *expr.Program) []string {
	if s.Grad == nil {
		return nil
	}
	var names []string
	for _, in := range p.Ins {
		list := in.List > 0 && slices.ContainsFunc(s.Grad.Wrt, func(w string) bool { return len(in.Name) > len(w) && in.Name[:len(w)+1] == w+"_" })
		if list || slices.Contains(s.Grad.Wrt, in.Name) {
			names = append(names, in.Name)
		}
	}
	return names
}

// TestCheckFindsOneWrongElement: sums and samples tell a long tensor from one
// with an element changed, with two exchanged, and with all of them off by one
// place.
func TestCheckFindsOneWrongElement(t *testing.T) {
	file, err := golden.Load("softmax")
	if err != nil {
		t.Fatal(err)
	}
	last := file.Cases[len(file.Cases)-1]
	s := specs()["softmax"]
	v, err := exact.Run(s, s.Instances[0], last)
	if err != nil {
		t.Fatal(err)
	}
	want, y := last.Outs["y"], v.Outs["y"]
	if n := len(y.Data); n < 200000 {
		t.Fatalf("the last case of softmax has %d elements, want a long one", n)
	}
	const at = 31234
	for name, change := range map[string]func(d []float64) []float64{
		"one element off by 1e-4 of itself": func(d []float64) []float64 { d[at] *= 1 + 1e-4; return d },
		"two exchanged":                     func(d []float64) []float64 { d[at], d[at+1] = d[at+1], d[at]; return d },
		"one place on":                      func(d []float64) []float64 { return append(d[1:], d[0]) },
		"one NaN":                           func(d []float64) []float64 { d[at] /= 0; d[at] -= d[at]; return d },
	} {
		if want.Check(y.Shape, change(slices.Clone(y.Data))) == nil {
			t.Errorf("%s: not found", name)
		}
	}
	if err := want.Check(y.Shape, y.Data); err != nil {
		t.Error(err)
	}
}
