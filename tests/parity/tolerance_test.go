package parity_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

// differ says where got is not want by the tolerance of its storage type, ""
// if nowhere; see exact.Differ.
func differ(got, want array, terms []float64) string {
	if !slices.Equal(got.shape, want.shape) || got.dtype != want.dtype {
		return fmt.Sprintf("is %v, want %v", got, want)
	}
	if msg := exact.Differ(storage(got.dtype), got.data, want.data, terms); msg != "" {
		return fmt.Sprintf("%s: of %v, %s", got.dtype, want.shape, msg)
	}
	return ""
}

// tolerance is how far a value of a storage type may be from the float64 one.
func tolerance(t runtime.DType, want float64) float64 { return oracle.Tolerance(storage(t), want) }

func near(got, want, tol float64) bool { return exact.Near(got, want, tol) }

// identical says where two arrays differ in a bit, "" if nowhere.
func identical(got, want array) string {
	if !slices.Equal(got.shape, want.shape) || got.dtype != want.dtype {
		return fmt.Sprintf("is %v, want %v", got, want)
	}
	for i, w := range want.data {
		if math.Float64bits(got.data[i]) != math.Float64bits(w) {
			return fmt.Sprintf("element %d of %v is %v, want %v", i, want.shape, got.data[i], w)
		}
	}
	return ""
}
