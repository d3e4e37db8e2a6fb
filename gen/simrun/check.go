package simrun

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// Outcome is what running one variant has shown.
type Outcome struct {
	Calls   int // calls made
	Reports []sim.Report
	// Differences says, a line each, where results are not those of the oracle.
	Differences []string
}

// Clean reports whether nothing was found.
func (o *Outcome) Clean() bool { return len(o.Reports) == 0 && len(o.Differences) == 0 }

// A Reference computes what a call should give.
type Reference func(p *expr.Program, call oracle.Call) (*oracle.Result, error)

// Check runs a variant of op, whose kernels are in program, on several shapes,
// with extents of one and of zero among them, and compares the results with
// those of the oracle. The error says that it could not be run.
func Check(ctx context.Context, program *sim.Program, op *bind.Op, variant int) (*Outcome, error) {
	return CheckBy(ctx, program, op, variant, oracle.Run)
}

// CheckBy is Check with another reference than the oracle.
func CheckBy(ctx context.Context, program *sim.Program, op *bind.Op, variant int, ref Reference) (*Outcome, error) {
	v := &op.Variants[variant]
	o := &Outcome{}
	for round := range rounds {
		call, sizes, ok := newCall(v.Program, round)
		if !ok {
			continue
		}
		l := newLauncher(program, op, v, call, sizes)
		if err := l.run(ctx); err != nil {
			return nil, err
		}
		o.Calls++
		o.Reports = append(o.Reports, l.reports...)
		diffs, err := l.compare(sizes, ref)
		if err != nil {
			return nil, err
		}
		o.Differences = append(o.Differences, diffs...)
	}
	if o.Calls == 0 {
		return nil, fmt.Errorf("%s: found no arguments that meet its conditions", op.Name)
	}
	return o, nil
}

// compare returns a line for each result that is not the oracle's.
func (l *launcher) compare(sizes *oracle.Sizes, ref Reference) ([]string, error) {
	p := l.variant.Program
	want, err := ref(p, l.call)
	var bounds *oracle.BoundsError
	if errors.As(err, &bounds) {
		// Where nothing is computed a kernel may read no value and find none.
		if !l.faulted() && !l.empty() {
			return []string{fmt.Sprintf("%s: no fault, the reference gives: %v", l.describe(), err)}, nil
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if l.faulted() {
		return []string{l.describe() + ": a fault, the reference gives none"}, nil
	}
	expected := append(want.Outs, want.InOuts...)
	spread, err := l.spread(expected, ref)
	if err != nil {
		return nil, err
	}
	var lines []string
	got := l.results(sizes)
	for i, t := range resultTensors(p) {
		if line := differ(t, got[i], expected[i], spread[i]); line != "" {
			lines = append(lines, l.describe()+": "+line)
		}
	}
	return lines, nil
}

func (l *launcher) empty() bool {
	for _, n := range l.extent {
		if n == 0 {
			return true
		}
	}
	return false
}

// resultTensors lists the outputs, then the inouts.
func resultTensors(p *expr.Program) []*expr.Tensor {
	var list []*expr.Tensor
	list = append(list, p.Outs...)
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, t)
		}
	}
	return list
}

// spread returns how far each result moves when the f32 inputs move by a
// rounding error: what no f32 computation can be expected to do better than.
func (l *launcher) spread(at []oracle.Array, ref Reference) ([][]float64, error) {
	spread := make([][]float64, len(at))
	for i := range at {
		spread[i] = make([]float64, len(at[i].Data))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const moves = 4
	for range moves {
		r, err := ref(l.variant.Program, moved(rng, l.variant.Program, l.call))
		if err != nil {
			return nil, err
		}
		for i, a := range append(r.Outs, r.InOuts...) {
			for j, v := range a.Data {
				if g := gap(v, at[i].Data[j]); g > spread[i][j] || math.IsNaN(g) {
					spread[i][j] = g
				}
			}
		}
	}
	return spread, nil
}

// differ says where a result differs from the oracle's by more than the
// tolerance of its storage type and what rounding makes of the inputs.
func differ(t *expr.Tensor, got, want oracle.Array, spread []float64) string {
	bad, first := 0, -1
	for i, w := range want.Data {
		if !near(got.Data[i], w, t.Type, spread[i]) {
			if bad++; first < 0 {
				first = i
			}
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%s%v is %v, the reference gives %v (%d of %d elements differ)",
		t.Name, position(first, want.Shape), got.Data[first], want.Data[first], bad, len(want.Data))
}

func near(got, want float64, t expr.DType, spread float64) bool {
	switch {
	case got == want:
		return true
	case math.IsNaN(want):
		return math.IsNaN(got)
	case math.IsNaN(spread) || math.IsInf(spread, 0): // a rounding error decides whether this is a finite number
		return true
	case math.IsInf(want, 0):
		return false
	}
	const factor = 64 // of a rounding error: about 1e-5, as for a single value
	return math.Abs(got-want) <= oracle.Tolerance(t, want)+factor*spread
}

// gap is how far two results are apart: NaN if one of them is no number.
func gap(v, w float64) float64 {
	if v == w || math.IsNaN(v) && math.IsNaN(w) {
		return 0
	}
	return math.Abs(v - w)
}

// position turns a row-major index into one for each dimension.
func position(at int, shape []int) []int {
	pos := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		pos[i] = at % shape[i]
		at /= shape[i]
	}
	return pos
}

// describe names the call in messages: the shapes of its inputs.
func (l *launcher) describe() string {
	var parts []string
	for i, t := range l.variant.Program.Ins {
		parts = append(parts, fmt.Sprintf("%s%v", t.Name, l.call.Ins[i].Shape))
	}
	return l.op.Name + "(" + strings.Join(parts, " ") + ")"
}
