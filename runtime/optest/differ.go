package optest

import (
	"fmt"
	"math"

	"github.com/kernelgen/kgen/runtime"
)

// tolerance is what a value of a storage type may differ from the reference by.
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

// differ says in which elements got and want differ by more than the tolerance
// and what rounding makes of the inputs; "" if in none.
func differ(got, want array, spread []float64) string {
	if got.dtype != want.dtype || fmt.Sprint(got.shape) != fmt.Sprint(want.shape) {
		return fmt.Sprintf(" is %s%v, the reference gives %s%v", got.dtype, got.shape, want.dtype, want.shape)
	}
	bad, first := 0, -1
	for i, w := range want.data {
		if !near(got.data[i], w, want.dtype, spread[i]) {
			if bad++; first < 0 {
				first = i
			}
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%v is %v, the reference gives %v (and %d of %d elements differ)",
		position(first, want.shape), got.data[first], want.data[first], bad, len(want.data))
}

func near(got, want float64, t runtime.DType, spread float64) bool {
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
	return math.Abs(got-want) <= tolerance(t, want)+factor*spread
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
