//go:build proof

package fuzz

import (
	"slices"
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

// everyPath are calls that between them run each path of a kernel: lanes along
// one axis and along the other, whole vectors and what is left, and a whole tile of a
// group of threads.
func everyPath() []shapes {
	return []shapes{{"R": {3}, "D": {67}}, {"R": {67}, "D": {1}}, {"R": {5}, "D": {3}}, {"R": {67}, "D": {67}}}
}

// TestCorrupt sees that a sound spec passes, and that each product of its
// kernels which is made a sum is found out, on the CPU and on the simulated GPU.
func TestCorrupt(t *testing.T) {
	b := newBench(t)
	b.lab.sim = b.sim
	for _, given := range everyPath() {
		if found := b.lab.try([]specimen{{text: sound, given: given}}); len(found) > 0 {
			t.Fatalf("the sound spec: %v", &found[0])
		}
	}
	for at, name := range []string{"the program", "its gradient"} {
		b.lab.corrupt(t, name+" in C", at, func(s *subject) []*ir.Func { return s.bound.C })
		b.lab.corrupt(t, name+" in Metal", at, func(s *subject) []*ir.Func { return s.bound.MSL })
	}
}

// corrupt tries program number at with one product after the other wrong, of
// those in its first kernel.
func (l *lab) corrupt(t *testing.T, name string, at int, kernels func(*subject) []*ir.Func) {
	t.Helper()
	tried := 0
	for n := 0; ; n++ {
		sub, did, ok := spoiled(t, at, n, kernels)
		if !ok {
			break
		}
		if did == "" {
			continue
		}
		tried++
		if !l.notices(t, sub, kernels(sub)[0].SIMT) {
			t.Errorf("%s: nobody noticed that %s", name, did)
		}
	}
	if tried == 0 {
		t.Errorf("%s: no product of floats to corrupt", name)
	}
	t.Logf("%s: %d wrong kernels", name, tried)
}

// spoiled compiles program number at and corrupts operator n of its first
// kernel. It returns no text where that is not a product of floats: a wrong
// count of a loop may never end. It returns false when there is no operator n.
func spoiled(t *testing.T, at, n int, kernels func(*subject) []*ir.Func) (*subject, string, bool) {
	t.Helper()
	subs, err := subjects(sound, "corrupted")
	if err != nil {
		t.Fatal(err)
	}
	f := kernels(subs[at])[0]
	before := products(f)
	did, ok := ir.Corrupt(f, n)
	if len(products(f)) == len(before) {
		did = ""
	}
	return subs[at], did, ok
}

// products are the products of floats in f.
func products(f *ir.Func) map[*ir.Bin]bool {
	set := map[*ir.Bin]bool{}
	ir.WalkExprs(f.Body, func(e ir.Expr) {
		if b, ok := e.(*ir.Bin); ok && b.Op == ir.Mul && b.Type().Elem == ir.F32 {
			set[b] = true
		}
	})
	return set
}

// notices reports whether any of the calls shows that sub is wrong.
func (l *lab) notices(t *testing.T, sub *subject, simt bool) bool {
	t.Helper()
	var trials []*trial
	for _, given := range everyPath() {
		s := specimen{text: sound, given: given}
		list, err := s.trials(0, sub)
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, list...)
	}
	if len(trials) != len(everyPath()) {
		t.Fatalf("%d calls of %d are accepted", len(trials), len(everyPath()))
	}
	var st stats
	if simt {
		return slices.ContainsFunc(l.sim.try(&st, trials), differs)
	}
	return slices.ContainsFunc(l.c.try(&st, trials), differs)
}

func differs(f finding) bool { return f.kind == "result differs" }
