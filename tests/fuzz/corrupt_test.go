//go:build proof

package fuzz

import (
	"testing"

	"github.com/kernelgen/kgen/gen/ir"
)

const sound = `doc = "A product."
source = "None."
dtypes = ["f16"]
[in.x]
shape = "R D"
doc = "An operand."
[in.w]
shape = "D"
doc = "An operand."
[out.y]
shape = "R D"
doc = "A result."
expr = "x * w + 0.25 * x"
[grad]
wrt = ["x"]
`

// TestCorrupt sees that a sound spec passes, and that a wrong operator in any of
// its kernels is found out, on the CPU and on the simulated GPU.
func TestCorrupt(t *testing.T) {
	b := newBench(t)
	b.lab.sim = b.sim
	s := specimen{text: sound, seed: 1, calls: 3}
	if found := b.lab.try([]specimen{s}); len(found) > 0 {
		t.Fatalf("the sound spec: %v", &found[0])
	}
	for at, name := range []string{"the program", "its gradient"} {
		if found := corrupted(t, b.lab, s, at, cKernels); len(found) == 0 {
			t.Errorf("a wrong C kernel of %s went unnoticed", name)
		}
		if found := corrupted(t, b.lab, s, at, mslKernels); len(found) == 0 {
			t.Errorf("a wrong Metal kernel of %s went unnoticed", name)
		}
	}
}

func cKernels(s *subject) []*ir.Func { return s.bound.C }

func mslKernels(s *subject) []*ir.Func { return s.bound.MSL }

// corrupted tries the specimen with a product in one kernel of program number at
// made a sum, and returns what is found.
func corrupted(t *testing.T, l *lab, s specimen, at int, kernels func(*subject) []*ir.Func) []finding {
	t.Helper()
	sub := spoiled(t, s, at, kernels)
	trials, err := s.trials(0, sub)
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) == 0 {
		t.Fatalf("no calls of program %d", at)
	}
	var st stats
	if kernels(sub)[0].SIMT {
		return l.sim.try(&st, trials)
	}
	return l.c.try(&st, trials)
}

// spoiled compiles program number at with the first product of floats in its
// first kernel corrupted. Corrupt counts operators of every kind, so it is asked
// for one after the other, each time of a fresh kernel.
func spoiled(t *testing.T, s specimen, at int, kernels func(*subject) []*ir.Func) *subject {
	t.Helper()
	for n := 0; ; n++ {
		subs, err := subjects(s.text, "corrupted")
		if err != nil {
			t.Fatal(err)
		}
		f := kernels(subs[at])[0]
		product := firstProduct(f)
		if product == nil {
			t.Fatalf("%s has no product of floats", f.Symbol)
		}
		did, ok := ir.Corrupt(f, n)
		if !ok {
			t.Fatalf("%s: Corrupt does not reach its product", f.Symbol)
		}
		if product.Op != ir.Mul {
			t.Logf("%s: %s", f.Symbol, did)
			return subs[at]
		}
	}
}

func firstProduct(f *ir.Func) *ir.Bin {
	var product *ir.Bin
	ir.WalkExprs(f.Body, func(e ir.Expr) {
		if b, ok := e.(*ir.Bin); ok && product == nil && b.Op == ir.Mul && b.Type().Elem == ir.F32 {
			product = b
		}
	})
	return product
}
