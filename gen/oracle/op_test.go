package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
)

var inf, nan = math.Inf(1), math.NaN()

// arrays holds tensors by name.
type arrays map[string]oracle.Array

// op is a call of a shipped spec by names.
type op struct {
	name    string
	choices []string // pairs of name and value
	ins     arrays
	params  map[string]oracle.Value // default where not given
	free    map[string][]int
	round   bool
	dtype   expr.DType // of the first type variable; f32 when not given
}

// vec returns an array of one dimension.
func vec(v ...float64) oracle.Array { return oracle.Array{Shape: []int{len(v)}, Data: v} }

// mat returns an array of the given shape.
func mat(shape []int, v ...float64) oracle.Array { return oracle.Array{Shape: shape, Data: v} }

// repeat returns n copies of v.
func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// prepare finds the program and its call.
func (o op) prepare(t *testing.T) (*expr.Program, oracle.Call) {
	t.Helper()
	p := program(t, o.name, o.choices...)
	if o.dtype != expr.InvalidDType {
		p = withType(t, o.name, p, o.dtype)
	}
	call := oracle.Call{Params: oracle.Defaults(p), Free: o.free, Round: o.round}
	for i, param := range p.Params {
		if v, ok := o.params[param.Name]; ok {
			call.Params[i] = v
		}
	}
	for _, in := range p.Ins {
		v, ok := o.ins[in.Name]
		if !ok {
			t.Fatalf("%s: no input %s given", o.name, in.Name)
		}
		call.Ins = append(call.Ins, v)
	}
	return p, call
}

// withType returns the instance with the choices of p and another first type.
func withType(t *testing.T, name string, p *expr.Program, dtype expr.DType) *expr.Program {
	t.Helper()
	specs, _ := checked()
	for _, q := range specs[name].Instances {
		if q.Types[0] == dtype && slices.Equal(q.Static, p.Static) {
			return q
		}
	}
	t.Fatalf("%s has no instance of that type", name)
	return nil
}

// run returns the results by name.
func (o op) run(t *testing.T) arrays {
	t.Helper()
	p, call := o.prepare(t)
	res, err := oracle.Run(p, call)
	if err != nil {
		t.Fatal(err)
	}
	return res.Named(p)
}

// fails returns the error of a call that must not succeed.
func (o op) fails(t *testing.T) error {
	t.Helper()
	p, call := o.prepare(t)
	_, err := oracle.Run(p, call)
	if err == nil {
		t.Errorf("%s: no error", o.name)
	}
	return err
}

// back returns the derived gradients for the cotangents of the outputs.
func (o op) back(t *testing.T, cotangents arrays) arrays {
	t.Helper()
	p, call := o.prepare(t)
	res, err := oracle.Run(p, call)
	if err != nil {
		t.Fatal(err)
	}
	specs, _ := checked()
	grads, err := backward.Run(specs[o.name], p, call, res, cotangents)
	if err != nil {
		t.Fatal(err)
	}
	return grads
}

// near wants values within 1e-9 of those given; zero and infinite values must
// be met exactly, of either sign of zero.
func near(t *testing.T, what string, got oracle.Array, want ...float64) {
	t.Helper()
	within(t, what, 1e-9, got, want...)
}

func within(t *testing.T, what string, tolerance float64, got oracle.Array, want ...float64) {
	t.Helper()
	if len(got.Data) != len(want) {
		t.Errorf("%s has %d elements, want %d", what, len(got.Data), len(want))
		return
	}
	for i, w := range want {
		g := got.Data[i]
		ok := g == w || math.IsNaN(g) && math.IsNaN(w) || w != 0 && math.Abs(g-w) <= tolerance*math.Abs(w)
		if !ok {
			t.Errorf("%s[%d] = %.12g, want %.12g", what, i, g, w)
		}
	}
}
