package msl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/spec"
)

// allSpecs checks the project's own specs, once for all tests.
var allSpecs = sync.OnceValues(func() (map[string]*expr.Spec, error) {
	set, list := spec.Load(os.DirFS("../../.."), "specs")
	specs, wrong := expr.Check(set)
	if list = append(list, wrong...); len(list) > 0 {
		return nil, fmt.Errorf("specs: %d mistakes, the first: %w", len(list), list[0])
	}
	byName := map[string]*expr.Spec{}
	for _, s := range specs {
		if s.Raw == nil { // what is written by hand has no program for the oracle
			byName[s.Name] = s
		}
	}
	return byName, nil
})

func findSpec(t testing.TB, name string) *expr.Spec {
	t.Helper()
	specs, err := allSpecs()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := specs[name]
	if !ok {
		t.Fatalf("no spec %s", name)
	}
	return s
}

// instance returns the program of a spec for the given types and choices.
func instance(t testing.TB, name string, static []expr.Choice, types ...expr.DType) *expr.Program {
	t.Helper()
	for _, p := range findSpec(t, name).Instances {
		if slices.Equal(p.Types, types) && slices.Equal(p.Static, static) {
			return p
		}
	}
	t.Fatalf("%s has no instance for types %v and choices %v", name, types, static)
	return nil
}

// gradient derives the gradient of p, nil where the spec has none.
func gradient(t testing.TB, p *expr.Program) *grad.Result {
	t.Helper()
	g := findSpec(t, p.Name).Grad
	if g == nil {
		return nil
	}
	r, list := grad.Derive(p, grad.Decl{Name: g.Name, Wrt: g.Wrt, From: g.From})
	if len(list) > 0 {
		t.Fatal(list[0])
	}
	return r
}

// shape of a tensor for the given extents; a group has a shape of its own.
func shape(t *expr.Tensor, axes map[string][]int) []int {
	s := []int{}
	for _, d := range t.Shape {
		if len(d) == 1 && d[0].Group {
			s = append(s, axes[d[0].Name]...)
			continue
		}
		n := 1
		for _, a := range d {
			n *= count(axes[a.Name])
		}
		s = append(s, n)
	}
	return s
}

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// random gives values that tensor t can hold, in [-1, 1) for floats, below the
// bound for ids.
func random(r *rand.Rand, t *expr.Tensor, shape []int, bound int64) oracle.Array {
	a := oracle.NewArray(shape...)
	for i := range a.Data {
		switch {
		case expr.ValueKind(t) == expr.Float:
			a.Data[i] = oracle.Round(2*r.Float64()-1, t.Type)
		case t.Type == expr.U8:
			a.Data[i] = float64(r.IntN(2))
		case bound > 0:
			a.Data[i] = float64(r.Int64N(bound))
		default:
			a.Data[i] = float64(1 + r.IntN(3))
		}
	}
	return a
}
