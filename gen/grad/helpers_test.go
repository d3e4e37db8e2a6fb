package grad_test

import (
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/spec"
)

// catalogue returns the checked specs of the repository, but for those whose
// kernels, and gradients, are written by hand.
var catalogue = sync.OnceValues(func() ([]*expr.Spec, error) {
	set, list := spec.Load(os.DirFS("../.."), "specs")
	specs, more := expr.Check(set)
	specs = slices.DeleteFunc(specs, func(s *expr.Spec) bool { return s.Raw != nil })
	return specs, append(list, more...).Err()
})

// shipped returns the spec with the given name.
func shipped(t *testing.T, name string) *expr.Spec {
	t.Helper()
	specs, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(specs, func(s *expr.Spec) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no spec %s", name)
	}
	return specs[i]
}

// written checks a spec given as text.
func written(t *testing.T, toml string) *expr.Spec {
	t.Helper()
	toml = "doc = \"A test.\"\nsource = \"None.\"\ndtypes = [\"f32\"]\n" + toml
	set, list := spec.Load(fstest.MapFS{"specs/test/sample.toml": {Data: []byte(toml)}}, "specs")
	specs, more := expr.Check(set)
	if err := append(list, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return specs[0]
}

func declOf(s *expr.Spec) grad.Decl {
	return grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From}
}

// derive derives and verifies the gradient of p.
func derive(t *testing.T, p *expr.Program, d grad.Decl) *grad.Result {
	t.Helper()
	r, list := grad.Derive(p, d)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if err := expr.Verify(r.Program); err != nil {
		t.Fatalf("%v\n%s", err, r.Program.Format())
	}
	return r
}

// forward runs p and returns its outputs.
func forward(t *testing.T, p *expr.Program, call oracle.Call) []oracle.Array {
	t.Helper()
	r, err := oracle.Run(p, call)
	if err != nil {
		t.Fatal(err)
	}
	return r.Outs
}

// backward runs gradient r of p on call, with cot the cotangent of each output
// of p, and returns the cotangents of the wrt inputs.
func backward(t *testing.T, r *grad.Result, call oracle.Call, outs, cot []oracle.Array) []oracle.Array {
	t.Helper()
	g := oracle.Call{Free: call.Free}
	for _, s := range r.In {
		from := map[grad.SourceKind][]oracle.Array{grad.FromIn: call.Ins, grad.FromOut: outs, grad.FromCotangent: cot}
		g.Ins = append(g.Ins, from[s.Kind][s.Index])
	}
	for _, i := range r.Params {
		g.Params = append(g.Params, call.Params[i])
	}
	got, err := oracle.Run(r.Program, g)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Program.Format())
	}
	return got.Outs
}

// gradient runs p and its gradient with every cotangent drawn by next.
func gradient(t *testing.T, p *expr.Program, d grad.Decl, call oracle.Call, next func() float64) []oracle.Array {
	t.Helper()
	outs := forward(t, p, call)
	cot := make([]oracle.Array, len(outs))
	for i, o := range outs {
		cot[i] = filled(o.Shape, next)
	}
	return backward(t, derive(t, p, d), call, outs, cot)
}

func filled(shape []int, next func() float64) oracle.Array {
	a := oracle.NewArray(shape...)
	for i := range a.Data {
		a.Data[i] = next()
	}
	return a
}

func array(shape []int, data ...float64) oracle.Array {
	return oracle.Array{Shape: shape, Data: data}
}

func row(data ...float64) oracle.Array { return array([]int{len(data)}, data...) }

// counting returns a function that gives values one after the other, from the
// start again when they are used up.
func counting(values ...float64) func() float64 {
	i := -1
	return func() float64 {
		i++
		return values[i%len(values)]
	}
}

// near compares with the given absolute error; NaN wants NaN and an infinity
// itself.
func near(t *testing.T, what string, got, want []float64, eps float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		switch {
		case math.IsNaN(w) && math.IsNaN(g), g == w, math.Abs(g-w) <= eps:
		default:
			t.Errorf("%s[%d] is %v, want %v", what, i, g, w)
		}
	}
}
