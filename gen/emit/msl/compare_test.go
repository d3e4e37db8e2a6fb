package msl_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
)

// accepted fails the test where the stand-in for Apple's compiler has anything
// to say about the text.
func accepted(t testing.TB, name string, text []byte) {
	t.Helper()
	simtest.Need(t)
	findings, err := sim.Check(context.Background(), name, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("%s.metal:%s", name, f)
	}
}

// tolerance is how far an element may lie from the exact value.
func tolerance(d expr.DType, want, terms float64) float64 {
	tol := oracle.Tolerance(d, want)
	if d == expr.F32 {
		tol += 1e-6 * terms
	}
	return tol
}

// difference says where got is not near want, "" where it is.
func difference(d expr.DType, got, want oracle.Array, terms float64) string {
	if len(got.Data) != len(want.Data) {
		return fmt.Sprintf("%d elements, want %d", len(got.Data), len(want.Data))
	}
	for i, w := range want.Data {
		g := got.Data[i]
		if d == expr.F16 && math.Abs(w) > 65504 && math.Abs(g) > 65504 && (g > 0) == (w > 0) {
			continue // an infinity of the storage type
		}
		near := math.Abs(g-w) <= tolerance(d, w, terms)
		if g == w || near || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		return fmt.Sprintf("element %d is %v, want %v", i, g, w)
	}
	return ""
}
