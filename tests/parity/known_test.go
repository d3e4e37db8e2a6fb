package parity_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// known is a call with the results and gradients that it must have.
type known struct {
	golden.Case
	spec   string
	choice string
	types  []runtime.DType // of the first type variable; nil: all
	exact  bool            // the values have no rounding error
	tol    float64         // absolute; 0: what the storage type allows
}

var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	only = func(t ...runtime.DType) []runtime.DType { return t }
)

// programOf returns the program of a spec for a choice and a type.
func programOf(t testing.TB, spec, choice string, dt runtime.DType) *expr.Program {
	t.Helper()
	for _, p := range specs()[spec].Instances {
		if choiceText(p) == choice && (len(p.Types) == 0 || dtypeOf(p.Types[0]) == dt) {
			return p
		}
	}
	t.Fatalf("no program %s[%s] %s", spec, choice, dt)
	return nil
}

// verify runs the call on every device and in every type.
func (k known) verify(t *testing.T, devices []device) {
	t.Helper()
	types := k.types
	if types == nil {
		types = []runtime.DType{runtime.F32, runtime.F16, runtime.BF16}
	}
	if k.Name == "" {
		k.Name = k.spec
	}
	if k.Grads != nil && k.Cotangents == nil {
		k.Cotangents = tensors{}
		for name, v := range k.Outs {
			k.Cotangents[name] = constant(1, v.Shape...)
		}
	}
	for _, dt := range types {
		p := programOf(t, k.spec, k.choice, dt)
		g := newGoldenCase(t, p, k.Case)
		for _, d := range devices {
			outs, grads, err := g.call.run(t, d.Device, g.cotangents, g.wrt)
			if err != nil {
				t.Errorf("%s %s on %s: %v", k.Name, programName(p), d.name, err)
				continue
			}
			for i, r := range results(p) {
				if want, ok := k.Outs[r.Name]; ok {
					k.compare(t, p, d, r.Name, outs[i], typed(want, r.Type))
				}
			}
			for n, i := range g.wrt {
				in := p.Ins[i]
				k.compare(t, p, d, gradientOf(in.Name), grads[n], typed(k.Grads[in.Name], in.Type))
			}
		}
	}
}

func (k known) compare(t *testing.T, p *expr.Program, d device, name string, got, want array) {
	t.Helper()
	msg := ""
	switch {
	case k.exact || k.tol != 0:
		msg = within(got, want, k.tol)
	default:
		msg = differ(got, want, nil)
	}
	if msg != "" {
		t.Errorf("%s: %s on %s: %s %s", k.Name, programName(p), d.name, name, msg)
	}
}

// within says where got is further from want than an absolute tolerance.
func within(got, want array, tol float64) string {
	if !slices.Equal(got.shape, want.shape) || got.dtype != want.dtype {
		return fmt.Sprintf("is %v, want %v", got, want)
	}
	for i, w := range want.data {
		if !near(got.data[i], w, tol) {
			return fmt.Sprintf("element %d of %v is %.9g, want %.9g", i, want.shape, got.data[i], w)
		}
	}
	return ""
}

// constant is a tensor of one value.
func constant(v float64, shape ...int) golden.Tensor {
	t := golden.Tensor{Shape: shape, Data: make(golden.Floats, count(shape))}
	for i := range t.Data {
		t.Data[i] = v
	}
	return t
}

// matrix is a tensor of equal rows.
func matrix(rows ...[]float64) golden.Tensor {
	t := golden.Tensor{Shape: []int{len(rows), len(rows[0])}}
	for _, r := range rows {
		t.Data = append(t.Data, r...)
	}
	return t
}

func row(v ...float64) []float64 { return v }

// spaced are the numbers from first to last in steps.
func spaced(first, last, step float64) []float64 {
	var v []float64
	for x := first; x <= last; x += step {
		v = append(v, x)
	}
	return v
}

// run1 runs a call of one type on one device.
func run1(t testing.TB, d device, spec, choice string, dt runtime.DType, c golden.Case) ([]array, error) {
	t.Helper()
	g := &goldenCase{Case: c}
	p := programOf(t, spec, choice, dt)
	g.call = call{form: formOf(t, p), params: goldenParams(t, p, c)}
	for _, in := range p.Ins {
		v, ok := c.Ins[in.Name]
		if !ok {
			t.Fatalf("%s: no input %s", spec, in.Name)
		}
		g.call.ins = append(g.call.ins, typed(v, in.Type))
	}
	outs, _, err := g.call.run(t, d.Device, nil, nil)
	return outs, err
}

// mentions reports whether an error is of a kind and its text has all the parts.
func mentions(err, kind error, parts ...string) string {
	if err == nil {
		return "no error"
	}
	if kind != nil && !errors.Is(err, kind) {
		return fmt.Sprintf("the error %q is not of the kind %q", err, kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			return fmt.Sprintf("the error %q does not say %q", err, part)
		}
	}
	return ""
}
