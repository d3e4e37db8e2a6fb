package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/sample"
)

// tolerance is the largest deviation from central differences, over the largest
// gradient.
const tolerance = 1e-6

// TestCatalogue compares every derived gradient of the shipped specs with
// central differences of the forward program in float64.
func TestCatalogue(t *testing.T) {
	specs, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, s := range specs {
		if s.Grad == nil {
			continue
		}
		seen++
		t.Run(s.Name, func(t *testing.T) {
			for i, p := range s.Instances {
				if len(p.Types) > 0 && slices.Contains(p.Types, expr.F32) {
					compare(t, p, declOf(s), uint64(i))
				} else {
					derive(t, p, declOf(s))
				}
			}
		})
	}
	if seen < 30 {
		t.Errorf("only %d specs have a gradient", seen)
	}
}

// compare checks the gradient of p on several drawn calls. Those with infinite
// outputs (a maximum over nothing) are passed over.
func compare(t *testing.T, p *expr.Program, d grad.Decl, seed uint64) {
	t.Helper()
	r := derive(t, p, d)
	done := 0
	for k := uint64(0); done < 3; k++ {
		rng := rand.New(rand.NewPCG(seed, k))
		call, err := sample.Call(p, seed*32+k)
		if err != nil {
			t.Fatal(err)
		}
		outs := spread(t, p, call, rng)
		if outs == nil {
			if k > 30 {
				t.Fatalf("%s: no inputs found with finite outputs", p.Name)
			}
			continue
		}
		done++
		cot := make([]oracle.Array, len(outs))
		for i, o := range outs {
			cot[i] = filled(o.Shape, rng.NormFloat64)
		}
		got := backward(t, r, call, outs, cot)
		check(t, p, r, call, cot, got, rng)
	}
}

// spread replaces the float inputs of call by values without ties, such that
// the outputs are finite, and returns the outputs, or nil.
func spread(t *testing.T, p *expr.Program, call oracle.Call, rng *rand.Rand) []oracle.Array {
	t.Helper()
	draw := rng.NormFloat64
	for range 2 {
		for i, in := range p.Ins {
			if expr.ValueKind(in) == expr.Float {
				call.Ins[i] = filled(call.Ins[i].Shape, draw)
			}
		}
		outs := forward(t, p, call)
		if finite(outs) {
			return outs
		}
		draw = func() float64 { return 0.1 + math.Abs(rng.NormFloat64()) }
	}
	return nil
}

func finite(arrays []oracle.Array) bool {
	for _, a := range arrays {
		for _, v := range a.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}

// check compares got with differences along single elements, and along random
// directions where there are many.
func check(t *testing.T, p *expr.Program, r *grad.Result, call oracle.Call, cot, got []oracle.Array, rng *rand.Rand) {
	t.Helper()
	var largest, worst float64
	var where string
	for k, i := range r.Outs {
		for _, dir := range directions(len(got[k].Data), rng) {
			want, smooth := difference(t, p, call, i, dir, r, cot)
			if !smooth {
				continue
			}
			have := 0.0
			for j, v := range dir {
				have += v * got[k].Data[j]
			}
			largest = max(largest, math.Abs(want), math.Abs(have))
			if e := math.Abs(want - have); e > worst || math.IsNaN(e) {
				worst = e
				where = fmt.Sprintf("%s along %v: gradient %v, difference %v", r.Program.Outs[k].Name, dir, have, want)
			}
		}
	}
	if worst > tolerance*max(largest, 1e-4) || math.IsNaN(worst) {
		t.Errorf("%s %v: off by %g of %g in %s\n%s", p.Name, p.Static, worst, largest, where, r.Program.Format())
	}
}

func directions(n int, rng *rand.Rand) [][]float64 {
	var dirs [][]float64
	if n <= 24 {
		for i := range n {
			dir := make([]float64, n)
			dir[i] = 1
			dirs = append(dirs, dir)
		}
		return dirs
	}
	for range 4 {
		dirs = append(dirs, filled([]int{n}, rng.NormFloat64).Data)
	}
	return dirs
}

// difference is the derivative of the sum of cotangent times output along dir
// of input i, by a central difference of fourth order. It is not smooth where
// two steps disagree: at a kink or a jump.
func difference(t *testing.T, p *expr.Program, call oracle.Call, i int, dir []float64, r *grad.Result, cot []oracle.Array) (d float64, smooth bool) {
	t.Helper()
	at := func(step float64) float64 {
		moved := call
		moved.Ins = slices.Clone(call.Ins)
		x := oracle.Array{Shape: call.Ins[i].Shape, Data: slices.Clone(call.Ins[i].Data)}
		for j, v := range dir {
			x.Data[j] += step * v
		}
		moved.Ins[i] = x
		outs := forward(t, p, moved)
		sum := 0.0
		for _, s := range r.In {
			if s.Kind != grad.FromCotangent {
				continue
			}
			for j, v := range outs[s.Index].Data {
				sum += v * cot[s.Index].Data[j]
			}
		}
		return sum
	}
	central := func(h float64) float64 { return (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h) }
	d = central(1e-4)
	return d, math.Abs(d-central(7e-5)) <= 1e-7*max(math.Abs(d), 1e-2)
}
