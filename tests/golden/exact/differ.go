package exact

import (
	"fmt"
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// reductionError is what a long sum may be off by, relative to the sum of the
// absolute values of its terms.
const reductionError = 1e-6

// Differ says where values of a storage type are not those of float64, "" if
// nowhere. terms holds for each element the sum of the absolute values of what
// is summed there, which counts in f32; nil: nothing is.
func Differ(t expr.DType, got, want, terms []float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("there are %d elements, want %d", len(got), len(want))
	}
	for i, w := range want {
		if math.Abs(w) >= overflow(t) {
			w = math.Copysign(math.Inf(1), w)
		}
		tol := oracle.Tolerance(t, w)
		if terms != nil && t == expr.F32 {
			tol += reductionError * math.Abs(terms[i])
		}
		if !Near(got[i], w, tol) {
			return fmt.Sprintf("element %d is %.9g, want %.9g", i, got[i], w)
		}
	}
	return ""
}

// overflow is the least number that a storage type rounds to infinity.
func overflow(t expr.DType) float64 {
	if t == expr.F16 {
		return 65520
	}
	return math.MaxFloat32 // nearly
}

// Near compares two numbers; NaN is near NaN only, and an infinity near itself.
func Near(got, want, tol float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(got)
	case math.IsInf(want, 0):
		return got == want
	}
	return math.Abs(got-want) <= tol
}
