package mutation

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/ir"
)

var full = flag.Bool("full", false, "exchange every operator, not one of each kernel")

// shapes are the kernel shapes that the specs in testdata stand for.
var shapes = map[string][]string{
	"gated":       {"map"},
	"standardize": {"rows"},
	"column_mean": {"cols"},
	"energy":      {"reduce", "rows"}, // chunks, then their sum
	"dense":       {"matmul"},
	"collect":     {"scatter"},
}

// The specs have the kernels that they are there for.
func TestShapes(t *testing.T) {
	res := newModule(t).compile(t)
	if len(res.Specs) != len(shapes) {
		t.Errorf("%d specs, want %d", len(res.Specs), len(shapes))
	}
	for _, s := range res.Specs {
		var got []string
		for _, k := range s.Ops[0].Bound.Plans[0].Kernels {
			got = append(got, k.Shape.String())
		}
		if !slices.Equal(got, shapes[s.Name]) {
			t.Errorf("%s has kernels of shape %v, want %v", s.Name, got, shapes[s.Name])
		}
	}
}

// Every parity test passes, and fails once its kernel is wrong.
func TestMutants(t *testing.T) {
	m := newModule(t)
	m.sameSources(t, m.compile(t))
	tests := m.build(t, m.compile(t), "intact").all(t)
	list := mutants(t, m.compile(t))
	for i, v := range variants(m.compile(t)) {
		if !slices.Contains(tests, v.test) {
			t.Fatalf("there is no test %s among %v", v.test, tests)
		}
		if !*full {
			list[i] = list[i][len(list[i])-1:]
		}
	}
	seen := map[*exchange]bool{}
	for n := 0; slices.ContainsFunc(list, func(ms []mutant) bool { return n < len(ms) }); n++ {
		t.Run(fmt.Sprint("round ", n), func(t *testing.T) { m.round(t, list, n, seen) })
	}
	for _, x := range harmless {
		if *full && !seen[x] {
			t.Errorf("no kernel has the harmless exchange %s", x.did)
		}
	}
}

// round makes mutant n of every variant that has so many, one of each kernel, and
// runs their tests, but where the exchange is harmless: it adds that one to seen.
func (m *module) round(t *testing.T, list [][]mutant, n int, seen map[*exchange]bool) {
	res := m.compile(t)
	all := variants(res)
	did := make([]string, len(all))
	wrong := map[*ir.Func]bool{} // variants may share a kernel
	for i, v := range all {
		if n < len(list[i]) && !wrong[v.kernels[list[i][n].kernel]] {
			did[i] = v.corrupt(t, list[i][n])
			wrong[v.kernels[list[i][n].kernel]] = true
		}
	}
	bin := m.build(t, res, "mutant")
	for i, v := range all {
		if did[i] == "" {
			continue
		}
		if x := isHarmless(did[i]); x != nil {
			seen[x] = true
			continue
		}
		t.Run(v.test, func(t *testing.T) {
			t.Log(did[i])
			if bin.passes(t, v.test) {
				t.Error("the test passes all the same")
			}
		})
	}
}
