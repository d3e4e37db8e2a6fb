package msl_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// subject is a program whose kernels the tests break, with calls that must show
// it.
type subject struct {
	program *expr.Program
	calls   []call
	// rounding are the operators that choose the order of a sum: another order
	// rounds differently and no worse than the tolerance.
	rounding []string
	small    bool // the form with small tiles is broken
}

// broken is the number of the kernel that is broken.
func (s subject) broken() form {
	if s.small {
		return 1
	}
	return 0
}

func subjects(t *testing.T) map[string]subject {
	f32 := expr.F32
	wide := repeat(0, 64)
	for i := range wide {
		wide[i] = float64(i%7) * 1e30 // the variance overflows
	}
	return map[string]subject{
		"rows": {instance(t, "layernorm", nil, f32), []call{
			{axes: ax{"R": {3}, "D": {8300}}},
			{axes: ax{"R": {1}, "D": {64}}, ins: in{"x": wide}},
			{axes: ax{"R": {1}, "D": {4}}, params: pm{"eps": oracle.Float(0.5)}},
		}, nil, false},
		"cols": {parsed(t, middleSum), []call{
			{axes: ax{"B": {2}, "L": {9000}, "H": {35}}, terms: 1000},
		}, []string{"mul(lanes, 1024)", "mul(lanes, 32)"}, false},
		"blocks": {parsed(t, rowBlocks), []call{
			{axes: ax{"R": {18}, "D": {600}}, terms: 600},
			{axes: ax{"R": {2}, "D": {4120}}, terms: 4120},
		}, []string{"sub(args.size_R_blocks, 1)"}, false}, // blocks that are larger hold all rows, too
		"inout": {parsed(t, inoutRow), []call{
			{axes: ax{"R": {2}, "D": {600}}, terms: 75},
			{axes: ax{"R": {1}, "D": {4120}}, terms: 75},
			{axes: ax{"R": {2}, "D": {333}}, terms: 75}, // ends within a run
			{axes: ax{"R": {1}, "D": {4121}}, terms: 75},
		}, nil, false},
		"matmul": {instance(t, "matmul_bias", transposed("n", "n"), f32), []call{
			{axes: ax{"Z": {2}, "M": {130}, "N": {47}, "K": {39}}},
		}, wholeRuns, false},
		"small matmul": {instance(t, "matmul_bias", transposed("n", "t"), f32), []call{
			{axes: ax{"Z": {2}, "M": {66}, "N": {47}, "K": {39}}},
		}, wholeRuns, true},
		"matrices": {instance(t, "matmul_bias", transposed("n", "n"), expr.F16), []call{
			{axes: ax{"Z": {2}, "M": {130}, "N": {47}, "K": {39}}},
		}, nil, false},
		"small matrices": {instance(t, "matmul_bias", transposed("t", "n"), expr.F16), []call{
			{axes: ax{"Z": {2}, "M": {66}, "N": {47}, "K": {39}}},
		}, nil, true},
	}
}

// wholeRuns are the operators that say how deep the sums are that a product forms before
// it adds them to the total.
var wholeRuns = []string{"mod(k_from, 32)", "eq(mod(k_from, 32), 0)"}

// A sum along the middle axis, and row sums with sums along the columns.
const (
	middleSum = `doc = "Probe."
dtypes = ["f32"]
[in.x]
shape = "B L H"
[out.y]
shape = "B H"
over = "L"
reduce = "sum"
expr = "x"
`
	rowBlocks = `doc = "Probe."
dtypes = ["f32"]
[in.x]
shape = "R D"
[let.total]
over = "D"
reduce = "sum"
expr = "x + 1"
[out.y]
shape = "R D"
expr = "x * total"
[out.s]
shape = "D"
over = "R"
reduce = "sum"
expr = "x * total"
`
)

// mutants makes copies of a form of the first kernel of s, each changed by
// change(f, n) for n = 0, step, … until that says that there is nothing more to change.
// It returns what was done to each, and a file with all of them, named mutant_0, mutant_1,
// …, and the kernels that follow.
func mutants(t *testing.T, s subject, of form, step int, change func(f *ir.Func, n int) (string, bool)) ([]string, []byte) {
	t.Helper()
	var did []string
	var kernels []*ir.Func
	for n := 0; ; n += step {
		f := bound(t, s.program).MSL[of]
		what, ok := change(f, n)
		if !ok {
			break
		}
		f.Symbol = fmt.Sprintf("mutant_%d", len(did))
		did, kernels = append(did, what), append(kernels, f)
	}
	others := bound(t, s.program).MSL
	return did, emit(t, s.program.File, append(kernels, slices.Delete(others, int(of), int(of)+1)...))
}

// form is a form of the first kernel of a program, as its number among the functions.
type form int

// forms runs test for each form of the first kernel of each subject.
func forms(t *testing.T, test func(t *testing.T, name string, s subject, b *bind.Result, of form)) {
	for name, s := range subjects(t) {
		b := bound(t, s.program)
		t.Run(name, func(t *testing.T) { test(t, name, s, b, s.broken()) })
		if b.Op.Variants[0].Kernels[0].Wide != nil {
			t.Run(name+"_wide", func(t *testing.T) { test(t, name+"_wide", s, b, 1) })
		}
	}
}

// runMutant runs the program of s with a form of its kernel exchanged for mutant n. A
// mutant that does not come to an end gives no results.
func runMutant(t *testing.T, s subject, program *sim.Program, b *bind.Result, of form, n int, c oracle.Call) ([]sim.Report, map[string]oracle.Array) {
	t.Helper()
	d := newDevice(program, b)
	first := b.MSL[of].Symbol
	d.one, d.small, d.wide = true, s.small, of > 0 && !s.small
	d.symbol = func(s string) string {
		if s == first {
			return fmt.Sprintf("mutant_%d", n)
		}
		return s
	}
	d.limit = 4 * time.Second
	got := d.run(t, s.program, c)
	if d.late {
		return nil, nil
	}
	return d.reports, got
}

// dropBarrier removes the n-th barrier of f.
func dropBarrier(f *ir.Func, n int) (string, bool) {
	done := false
	var visit func(body *[]ir.Stmt)
	visit = func(body *[]ir.Stmt) {
		for i := 0; i < len(*body) && !done; i++ {
			s := (*body)[i]
			if _, ok := s.(*ir.Barrier); ok {
				if n == 0 {
					*body = slices.Delete(*body, i, i+1)
					done = true
					return
				}
				n--
			}
			for _, b := range ir.Blocks(s) {
				visit(b)
			}
		}
	}
	visit(&f.Body)
	return "barrier removed", done
}

// Every barrier is needed: without any one of them the thread sanitizer reports
// a race.
func TestEveryBarrierIsNeeded(t *testing.T) {
	forms(t, func(t *testing.T, name string, s subject, b *bind.Result, of form) {
		did, text := mutants(t, s, of, 1, dropBarrier)
		if len(did) == 0 {
			t.Fatal("the kernel has no barrier")
		}
		program := build(t, name+"_mutants.metal", text, sim.Thread|sim.Quick)
		c := s.calls[0].inputs(t, rand.New(rand.NewPCG(1, 2)), s.program)
		for n := range did {
			reports, _ := runMutant(t, s, program, b, of, n, c)
			if !slices.ContainsFunc(reports, func(r sim.Report) bool { return r.Kind == sim.DataRace && r.Line > 0 }) {
				t.Errorf("barrier %d removed: no race with a place among %v", n, reports)
			}
		}
	})
}

// Every operator counts: with any one exchanged, the sanitizers have something
// to say or a value is off. make test exchanges some of them.
func TestEveryOperatorCounts(t *testing.T) {
	forms(t, func(t *testing.T, name string, s subject, b *bind.Result, of form) {
		did, text := mutants(t, s, of, operatorStep, ir.Corrupt)
		if len(did)*operatorStep < 5 {
			t.Fatalf("only %d operators to corrupt", len(did))
		}
		address := build(t, name+"_mutants.metal", text, sim.Address|sim.Undefined|sim.Quick)
		races := sync.OnceValue(func() *sim.Program { return build(t, name+"_mutants.metal", text, sim.Thread|sim.Quick) })
		for n, what := range did {
			if slices.ContainsFunc(s.rounding, func(op string) bool { return strings.HasPrefix(what, op+" became") }) {
				continue
			}
			if !s.foundOut(t, address, b, of, n) && !s.foundOut(t, races(), b, of, n) {
				t.Errorf("not found out: %s", what)
			}
		}
	})
}

// foundOut reports whether any call of s shows mutant n to be wrong.
func (s subject) foundOut(t *testing.T, program *sim.Program, b *bind.Result, of form, n int) bool {
	t.Helper()
	for i, c := range s.calls {
		oc := c.inputs(t, rand.New(rand.NewPCG(uint64(i), 2)), s.program)
		want, err := oracle.Run(s.program, oc)
		if err != nil {
			t.Fatal(err)
		}
		reports, got := runMutant(t, s, program, b, of, n, oc)
		if len(reports) > 0 || got == nil {
			return true
		}
		named := want.Named(s.program)
		for _, x := range results(s.program) {
			if difference(x.Type, got[x.Name], named[x.Name], c.terms) != "" {
				return true
			}
		}
	}
	return false
}
