package nn

import "github.com/kernelgen/kgen/runtime"

// Float is the type that a layer computes in.
type Float interface {
	float32 | runtime.Float16 | runtime.BFloat16
}

// Round returns values in T, rounded to the nearest, ties to even.
func Round[T Float](values []float32) []T {
	to := make([]T, len(values))
	switch to := any(to).(type) {
	case []float32:
		copy(to, values)
	case []runtime.Float16:
		for i, v := range values {
			to[i] = runtime.ToFloat16(v)
		}
	case []runtime.BFloat16:
		for i, v := range values {
			to[i] = runtime.ToBFloat16(v)
		}
	}
	return to
}

// Widen returns values as float32, which is exact.
func Widen[T Float](values []T) []float32 {
	to := make([]float32, len(values))
	switch values := any(values).(type) {
	case []float32:
		copy(to, values)
	case []runtime.Float16:
		for i, v := range values {
			to[i] = v.Float32()
		}
	case []runtime.BFloat16:
		for i, v := range values {
			to[i] = v.Float32()
		}
	}
	return to
}
