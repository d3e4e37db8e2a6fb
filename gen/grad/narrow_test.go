package grad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/sample"
)

// TestNarrowTypes runs the gradients of f16 and bf16 instances on rounded
// inputs, outputs and cotangents. They are as near to the gradient in float64 as
// the catalogue wants of any kernel, though some read a rounded output.
func TestNarrowTypes(t *testing.T) {
	specs, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if s.Grad == nil || len(s.TypeVars) != 1 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for i, p := range s.Instances {
				if p.Types[0] == expr.F32 {
					continue
				}
				wide := slices.IndexFunc(s.Instances, func(q *expr.Program) bool { return q.Types[0] == expr.F32 && slices.Equal(q.Static, p.Static) })
				narrow(t, s, s.Instances[wide], p, uint64(i))
			}
		})
	}
}

func narrow(t *testing.T, s *expr.Spec, wide, p *expr.Program, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	var call oracle.Call
	var outs []oracle.Array
	for k := uint64(0); outs == nil; k++ {
		var err error
		if call, err = sample.Call(p, seed*100+k); err != nil {
			t.Fatal(err)
		}
		outs = spread(t, p, call, rng)
	}
	for i, in := range p.Ins {
		rounded(call.Ins[i], in.Type)
	}
	exact := forward(t, wide, call)
	outs = forward(t, p, call)
	cot := make([]oracle.Array, len(outs))
	for i, o := range p.Outs {
		rounded(outs[i], o.Type)
		cot[i] = filled(outs[i].Shape, rng.NormFloat64)
		rounded(cot[i], o.Type)
	}
	want := backward(t, derive(t, wide, declOf(s)), call, exact, cot)
	got := backward(t, derive(t, p, declOf(s)), call, outs, cot)
	for k := range got {
		abs, rel := 1e-3, 2e-3
		if p.Types[0] == expr.BF16 {
			abs, rel = 1e-2, 8e-3
		}
		scale := largest(want[k].Data)
		for j, w := range want[k].Data {
			if g := got[k].Data[j]; !(math.Abs(g-w) <= abs*max(1, scale)+rel*math.Abs(w)) {
				t.Fatalf("%s %v %v: element %d of output %d is %v, want %v", p.Name, p.Types, p.Static, j, k, g, w)
			}
		}
	}
}

func rounded(a oracle.Array, d expr.DType) {
	for i, v := range a.Data {
		a.Data[i] = oracle.Round(v, d)
	}
}

func largest(xs []float64) float64 {
	m := 0.0
	for _, x := range xs {
		m = max(m, math.Abs(x))
	}
	return m
}
