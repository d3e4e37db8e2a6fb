package metalsim_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/backward"
	"github.com/kernelgen/kgen/gen/simrun"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

// run is a case for one variant of an op.
type run struct {
	golden.Case
	spec    *gen.Spec
	op      *gen.Op
	variant int
	linear  bool
	// near says where values of a storage type are not those wanted; nil: by the
	// tolerances of the types.
	near func(t expr.DType, got, want []float64) string
}

// check runs the kernels of the op, and those of its gradient if the case has
// one, and compares results and gradients.
func (m *module) check(t *testing.T, r run) {
	t.Helper()
	p := r.op.Programs[r.variant]
	call, err := exact.Call(p, r.Case)
	if err != nil {
		t.Fatal(err)
	}
	res := m.launch(t, r, r.op, call)
	if res == nil {
		return
	}
	named := res.Named(p)
	for _, x := range slices.Concat(p.Outs, p.Ins) {
		if want, ok := r.Outs[x.Name]; ok && x.Role != expr.In {
			r.compare(t, x, x.Name, named[x.Name], want)
		}
	}
	if r.Grads == nil {
		return
	}
	g := r.op.Grad
	back := m.launch(t, r, g.Op, backward.Call(g.From, p, call, res, exact.Arrays(r.Cotangents)))
	if back == nil {
		return
	}
	for i, in := range g.From.Outs {
		x := p.Ins[in]
		r.compare(t, x, "gradient of "+x.Name, back.Outs[i], r.Grads[x.Name])
	}
}

// launch runs the kernels of an op; nil after an error that it reports.
func (m *module) launch(t *testing.T, r run, op *gen.Op, call oracle.Call) *oracle.Result {
	t.Helper()
	o, err := simrun.Run(context.Background(), m.program(t, op), op.Bound.Op, r.variant, call)
	if err != nil {
		t.Fatalf("%s, %s: %v", label(op, r.variant), r.Name, err)
	}
	for _, report := range o.Reports {
		t.Errorf("%s, %s: %s", label(op, r.variant), r.Name, report)
	}
	if o.Faulted {
		t.Errorf("%s, %s: a fault", label(op, r.variant), r.Name)
		return nil
	}
	return o.Result
}

func (r run) compare(t *testing.T, x *expr.Tensor, what string, got oracle.Array, want golden.Tensor) {
	t.Helper()
	if !slices.Equal(got.Shape, want.Shape) {
		t.Errorf("%s, %s: %s has shape %v, want %v", label(r.op, r.variant), r.Name, what, got.Shape, want.Shape)
		return
	}
	near := r.near
	if near == nil {
		near = func(dt expr.DType, got, want []float64) string { return exact.Differ(dt, got, want, nil) }
	}
	msg := near(x.Type, got.Data, want.Data)
	if msg != "" && r.near == nil && x.Type == expr.F32 && r.op.Programs[r.variant].Raw == nil {
		msg = exact.Differ(x.Type, got.Data, want.Data, r.terms(t, x, what))
	}
	if msg != "" {
		t.Errorf("%s, %s: %s: %s", label(r.op, r.variant), r.Name, what, msg)
	}
}

// terms returns the sums of the absolute values of the terms of a result, or of
// the gradient of an input.
func (r run) terms(t *testing.T, x *expr.Tensor, what string) []float64 {
	t.Helper()
	v, err := exact.Terms(r.spec.Spec, r.op.Programs[r.variant], r.Case, r.linear)
	if err != nil {
		t.Fatal(err)
	}
	if what == x.Name {
		return v.Outs[x.Name].Data
	}
	return v.Grads[x.Name].Data
}
