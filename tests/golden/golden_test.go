package golden_test

import (
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
	"github.com/kernelgen/kgen/gen/spec"
	"github.com/kernelgen/kgen/tests/golden"
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
// from the spec.
func TestOracle(t *testing.T) {
	if len(golden.Ops()) < 60 {
		t.Fatalf("golden values for %d ops only", len(golden.Ops()))
	}
	for _, op := range golden.Ops() {
		t.Run(op, func(t *testing.T) {
			file, err := golden.Load(op)
			if err != nil {
				t.Fatal(err)
			}
			s := specs()[op]
			if s == nil {
				t.Fatalf("no spec %s, or it has mistakes", op)
			}
			for _, c := range file.Cases {
				checkCase(t, s, c)
			}
		})
	}
}

func checkCase(t *testing.T, s *expr.Spec, c golden.Case) {
	t.Helper()
	p := instance(t, s, c.Static)
	call := oracle.Call{Params: params(t, p, c), Free: c.Free}
	for _, in := range p.Ins {
		v, ok := c.Ins[in.Name]
		if !ok {
			t.Fatalf("%s: no input %s", c.Name, in.Name)
		}
		call.Ins = append(call.Ins, oracle.Array{Shape: v.Shape, Data: v.Data})
	}
	res, err := oracle.Run(p, call)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	compare(t, c.Name, c.Outs, res.Named(p))
	if c.Grads != nil {
		compare(t, c.Name, c.Grads, gradients(t, s, p, c, call, res))
	}
}

// instance returns the instance of s with the given choices; all its types
// serve, since the oracle does not round.
func instance(t *testing.T, s *expr.Spec, static map[string]string) *expr.Program {
	t.Helper()
	for _, p := range s.Instances {
		fits := 0
		for _, c := range p.Static {
			if static[c.Name] == c.Value {
				fits++
			}
		}
		if fits == len(static) {
			return p
		}
	}
	t.Fatalf("%s has no instance with %v", s.Name, static)
	return nil
}

func params(t *testing.T, p *expr.Program, c golden.Case) []oracle.Value {
	t.Helper()
	values := oracle.Defaults(p)
	for name, v := range c.Params {
		i := slices.IndexFunc(p.Params, func(p *expr.Param) bool { return p.Name == name })
		if i < 0 {
			t.Fatalf("%s has no parameter %s", p.Name, name)
		}
		switch v := v.(type) {
		case bool:
			values[i] = oracle.Bool(v)
		case float64:
			values[i] = oracle.Value{F: v, I: int64(v)}
		}
	}
	return values
}

// gradients runs the derived gradient.
func gradients(t *testing.T, s *expr.Spec, p *expr.Program, c golden.Case, call oracle.Call, res *oracle.Result) map[string]oracle.Array {
	t.Helper()
	cotangents := map[string]oracle.Array{}
	for name, v := range c.Cotangents {
		cotangents[name] = oracle.Array{Shape: v.Shape, Data: v.Data}
	}
	grads, err := backward.Run(s, p, call, res, cotangents)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return grads
}

// compare wants the shapes to be equal and the values to be, up to the rounding
// of a few float64 operations.
func compare(t *testing.T, where string, want map[string]golden.Tensor, got map[string]oracle.Array) {
	t.Helper()
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("%s: no result %s", where, name)
			continue
		}
		if !slices.Equal(g.Shape, w.Shape) {
			t.Errorf("%s: %s has shape %v, want %v", where, name, g.Shape, w.Shape)
			continue
		}
		for i, v := range w.Data {
			if !approx(g.Data[i], v) {
				t.Errorf("%s: %s[%d] = %.17g, want %.17g", where, name, i, g.Data[i], v)
				break
			}
		}
	}
}

func approx(got, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= 1e-12+1e-11*math.Abs(want)
}
