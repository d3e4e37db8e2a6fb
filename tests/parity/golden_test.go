package parity_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// TestGolden runs every generated function with the golden inputs, in each
// type, on each device, and compares results and gradients with PyTorch's. Then
// it checks that nothing was left out.
func TestGolden(t *testing.T) {
	devices := everywhere(t)
	ran := map[string]bool{}
	for _, op := range golden.Ops() {
		t.Run(op, func(t *testing.T) {
			file, err := golden.Load(op)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range file.Cases {
				for _, p := range served(t, op, c) {
					ran[programName(p)] = true
					g := newGoldenCase(t, p, c)
					for _, d := range devices {
						g.check(t, d)
					}
					g.checkImmediate(t, devices[0])
				}
			}
		})
	}
	t.Run("coverage", func(t *testing.T) { checkCoverage(t, ran) })
}

// served returns the programs that a case has inputs and values for: its
// choices, in all types. A case with an optional output serves the choice
// without it, too.
func served(t *testing.T, op string, c golden.Case) []*expr.Program {
	t.Helper()
	s := specs()[op]
	if s == nil {
		t.Fatalf("no spec %s", op)
	}
	var list []*expr.Program
	for _, p := range s.Instances {
		fits := !slices.ContainsFunc(p.Static, func(choice expr.Choice) bool {
			given, named := c.Static[choice.Name]
			_, isOut := c.Outs[choice.Name]
			return named && given != choice.Value && !(isOut && choice.Value == "without")
		})
		if fits {
			list = append(list, p)
		}
	}
	return list
}

// goldenCase is a case for one program.
type goldenCase struct {
	golden.Case
	call       call
	cotangents []array // for each result; nil when the case has no gradient
	wrt        []int   // inputs that it has gradients of
}

func newGoldenCase(t *testing.T, p *expr.Program, c golden.Case) *goldenCase {
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
	for i, r := range results(p) {
		if want, ok := g.Outs[r.Name]; ok {
			g.compare(t, d, r.Name, outs[i], typed(want, r.Type))
		}
	}
	for k, i := range g.wrt {
		in := p.Ins[i]
		g.compare(t, d, gradientOf(in.Name), grads[k], typed(g.Grads[in.Name], in.Type))
	}
}

func (g *goldenCase) compare(t *testing.T, d device, name string, got, want array) {
	t.Helper()
	msg := differ(got, want, nil)
	if msg != "" && got.dtype == runtime.F32 {
		msg = differ(got, want, g.terms(t)[name])
	}
	if msg != "" {
		t.Errorf("%s, %s on %s: %s: %s", programName(g.call.form.program), g.Name, d.name, name, msg)
	}
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

// checkCoverage wants every program to have run, and those without golden values
// to have values or a test by hand.
func checkCoverage(t *testing.T, ran map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(specs())) {
		for _, p := range specs()[name].Instances {
			hand := slices.ContainsFunc(byHand(), func(h handCases) bool { return h.serves(p) })
			switch {
			case !ran[programName(p)] && !hand:
				t.Errorf("%s was not run: it has neither golden values nor values by hand", programName(p))
			case ran[programName(p)] && hand:
				t.Errorf("%s has golden values: take it out of byHand", programName(p))
			}
		}
	}
}
