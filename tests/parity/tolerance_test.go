package parity_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/runtime"
)

// tolerance is how far a value of a storage type may be from the float64 one.
func tolerance(t runtime.DType, want float64) float64 {
	switch t {
	case runtime.F32:
		return 1e-6 + 1e-5*math.Abs(want)
	case runtime.F16:
		return 1e-3 + 2e-3*math.Abs(want)
	case runtime.BF16:
		return 1e-2 + 8e-3*math.Abs(want)
	}
	return 0
}

// largest is the largest finite number of a storage type.
func largest(t runtime.DType) float64 {
	if t == runtime.F16 {
		return 65504
	}
	return math.MaxFloat32 // bf16: nearly
}

// reductionError is what a long sum may be off by, relative to the sum of the
// absolute values of its terms.
const reductionError = 1e-6

// differ says where got is not want, "" if nowhere. terms holds for each element
// the sum of the absolute values of what is summed there; nil: nothing is.
func differ(got, want array, terms []float64) string {
	if !slices.Equal(got.shape, want.shape) || got.dtype != want.dtype {
		return fmt.Sprintf("is %v, want %v", got, want)
	}
	for i, w := range want.data {
		if math.Abs(w) > largest(got.dtype) {
			w = math.Copysign(math.Inf(1), w)
		}
		tol := tolerance(got.dtype, w)
		if terms != nil {
			tol += reductionError * math.Abs(terms[i])
		}
		if !near(got.data[i], w, tol) {
			return fmt.Sprintf("element %d of %v is %.9g, want %.9g", i, want.shape, got.data[i], w)
		}
	}
	return ""
}

func near(got, want, tol float64) bool {
	if math.IsNaN(want) || math.IsNaN(got) {
		return math.IsNaN(want) && math.IsNaN(got)
	}
	return got == want || math.Abs(got-want) <= tol
}

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
