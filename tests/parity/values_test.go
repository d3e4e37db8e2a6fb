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

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

type tensors = map[string]golden.Tensor

func vector(v ...float64) golden.Tensor              { return golden.Vector(v...) }
func number(v float64) golden.Tensor                 { return golden.Number(v) }
func constant(v float64, shape ...int) golden.Tensor { return golden.Constant(v, shape...) }
func matrix(rows ...[]float64) golden.Tensor         { return golden.Matrix(rows...) }
func row(v ...float64) []float64                     { return v }
func spaced(first, last, step float64) []float64     { return golden.Spaced(first, last, step) }

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
