package parity_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

var part = flag.String("part", "", "`K/N`: of the golden cases of an operation every N-th alone, from the K-th, which other processes run the others beside")

// TestGolden runs every generated function with the golden inputs, in each
// type, on the reference device and the CPU with each instruction set, and
// compares results and gradients with PyTorch's. Then it checks that nothing was
// left out.
func TestGolden(t *testing.T) {
	devices := targets(t)
	ran := &coverage{by: map[string]map[string]bool{}}
	t.Run("ops", func(t *testing.T) {
		for _, op := range golden.Ops() {
			t.Run(op, func(t *testing.T) {
				t.Parallel()
				runGolden(t, op, devices, ran)
			})
		}
	})
	if *part == "" {
		t.Run("coverage", func(t *testing.T) { ran.check(t, devices) })
	}
}

// inPart reports whether this process is to run the i-th case of an operation.
func inPart(t *testing.T, i int) bool {
	t.Helper()
	if *part == "" {
		return true
	}
	var k, n int
	if _, err := fmt.Sscanf(*part, "%d/%d", &k, &n); err != nil || k < 1 || k > n {
		t.Fatalf("-part %s: must be K/N with K from 1 to N", *part)
	}
	return i%n == k-1
}

func runGolden(t *testing.T, op string, devices []device, ran *coverage) {
	t.Helper()
	immediate := map[*expr.Program]int{}
	eachGolden(t, op, func(g *goldenCase) {
		for _, d := range devices {
			g.check(t, d)
			ran.add(d, g.call.form.program)
		}
		if p := g.call.form.program; immediate[p] < 3 {
			immediate[p]++
			g.checkImmediate(t, devices[0])
		}
	})
}

// eachGolden calls f for each golden case of an op and each program that it
// serves, with all values in full.
func eachGolden(t *testing.T, op string, f func(*goldenCase)) {
	t.Helper()
	file, err := golden.Load(op)
	if err != nil {
		t.Fatal(err)
	}
	s := specs()[op]
	if s == nil {
		t.Fatalf("no spec %s", op)
	}
	for i, c := range file.Cases {
		if !inPart(t, i) {
			continue
		}
		inFull := map[string]golden.Case{} // the oracle does not round: one for all types
		for _, p := range exact.Served(s, c) {
			choice := choiceText(p)
			if _, ok := inFull[choice]; !ok {
				v, err := exact.Run(s, p, c)
				if err != nil {
					t.Fatal(err)
				}
				inFull[choice] = exact.Complete(c, v)
			}
			g := newGoldenCase(t, p, inFull[choice])
			g.linear = file.Linear
			f(g)
		}
	}
}

// coverage holds which programs ran on which device.
type coverage struct {
	mu sync.Mutex
	by map[string]map[string]bool // by names of devices and programs
}

func (c *coverage) add(d device, p *expr.Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[d.name] == nil {
		c.by[d.name] = map[string]bool{}
	}
	c.by[d.name][programName(p)] = true
}

// check wants every program to have run on every device.
func (c *coverage) check(t *testing.T, devices []device) {
	for _, name := range slices.Sorted(maps.Keys(specs())) {
		for _, p := range specs()[name].Instances {
			var missing []string
			for _, d := range devices {
				if !c.by[d.name][programName(p)] {
					missing = append(missing, d.name)
				}
			}
			if len(missing) > 0 {
				t.Errorf("%s did not run on %s: add golden values for it to tests/golden", programName(p), strings.Join(missing, ", "))
			}
		}
	}
}

// goldenCase is a case for one program.
type goldenCase struct {
	golden.Case
	linear     bool // see golden.File
	call       call
	cotangents []array // for each result; nil when the case has no gradient
	wrt        []int   // inputs that it has gradients of
}

func newGoldenCase(t testing.TB, p *expr.Program, c golden.Case) *goldenCase {
	t.Helper()
	g := &goldenCase{Case: c, call: call{form: formOf(t, p), params: goldenParams(t, p, c)}}
	for i, in := range p.Ins {
		v, ok := c.Ins[in.Name]
		if !ok {
			t.Fatalf("%s: no input %s", c.Name, in.Name)
		}
		g.call.ins = append(g.call.ins, typed(v, in.Type))
		if _, ok := c.Grads[in.Name]; ok {
			g.wrt = append(g.wrt, i)
		}
	}
	for _, a := range p.Axes {
		if a.Free {
			g.call.free = append(g.call.free, c.Free[a.Name])
		}
	}
	if len(g.wrt) != len(c.Grads) {
		t.Fatalf("%s: gradients of %v, which are not all inputs", c.Name, slices.Sorted(maps.Keys(c.Grads)))
	}
	if c.Grads != nil {
		g.cotangents = make([]array, len(p.Outs))
		for i, out := range p.Outs {
			if v, ok := c.Cotangents[out.Name]; ok {
				g.cotangents[i] = typed(v, out.Type)
			}
		}
	}
	return g
}

func typed(v golden.Tensor, t expr.DType) array {
	return array{dtype: dtypeOf(t), shape: v.Shape, data: v.Data}
}

// goldenParams returns the case's parameters, the defaults where it has none.
func goldenParams(t testing.TB, p *expr.Program, c golden.Case) []any {
	t.Helper()
	var params []any
	for _, q := range p.Params {
		v := c.Params[q.Name]
		if v == nil {
			if q.Default == nil {
				t.Fatalf("%s: no parameter %s", c.Name, q.Name)
			}
			v = cmp.Or(q.Default.F, float64(q.Default.I), float64(q.Default.U))
		}
		params = append(params, scalar(q.Type, v))
	}
	return params
}

// scalar gives a number or a truth value a parameter's own type.
func scalar(t expr.ParamType, v any) any {
	if b, ok := v.(bool); ok {
		return b
	}
	f := v.(float64)
	switch t {
	case expr.ParamF32:
		return f32(f)
	case expr.ParamI32:
		return int32(f)
	case expr.ParamU32:
		return uint32(f)
	case expr.ParamU64:
		return uint64(f)
	}
	return f != 0
}

// check compares results and gradients on one device.
func (g *goldenCase) check(t *testing.T, d device) {
	t.Helper()
	p := g.call.form.program
	outs, grads, err := g.call.run(t, d.Device, g.cotangents, g.wrt)
	if err != nil {
		t.Errorf("%s, %s on %s: %v", programName(p), g.Name, d.name, err)
		return
	}
	names, want := g.wanted()
	terms := sync.OnceValue(func() [][]float64 { return g.terms(t) })
	for i, got := range slices.Concat(outs, grads) {
		if names[i] == "" {
			continue
		}
		msg := differ(got, want[i], nil)
		if msg != "" && got.dtype == runtime.F32 && p.Raw == nil {
			msg = differ(got, want[i], terms()[i])
		}
		if msg != "" {
			t.Errorf("%s, %s on %s: %s: %s", programName(p), g.Name, d.name, names[i], msg)
		}
	}
}

// wanted returns what the call must give, results first, by name; a result that
// the case does not name has none.
func (g *goldenCase) wanted() (names []string, list []array) {
	p := g.call.form.program
	for _, r := range results(p) {
		want, ok := g.Outs[r.Name]
		if !ok {
			names, list = append(names, ""), append(list, array{})
			continue
		}
		names, list = append(names, r.Name), append(list, typed(want, r.Type))
	}
	for _, i := range g.wrt {
		in := p.Ins[i]
		names, list = append(names, "gradient of "+in.Name), append(list, typed(g.Grads[in.Name], in.Type))
	}
	return names, list
}

// checkImmediate wants the immediate form to give the bits of the deferred one.
func (g *goldenCase) checkImmediate(t *testing.T, d device) {
	t.Helper()
	p := g.call.form.program
	want, _, err := g.call.run(t, d.Device, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.call.immediate(t, d.Device)
	if err != nil {
		t.Errorf("%s, %s: the immediate form: %v", programName(p), g.Name, err)
		return
	}
	for i, r := range results(p) {
		if msg := identical(got[i], want[i]); msg != "" {
			t.Errorf("%s, %s: %s of the immediate form: %s", programName(p), g.Name, r.Name, msg)
		}
	}
}
