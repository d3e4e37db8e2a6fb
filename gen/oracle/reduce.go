package oracle

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

// reduceFn gives the value of one element of a step: the reduction of value
// over the given axes, whose positions it leaves at zero.
type reduceFn func(fr *frame, axes []int, extents []int64, value floatFn) float64

// reducer returns the reduction op over n positions of values of kind k.
func reducer(op expr.ReduceOp, k expr.Kind, n int64) reduceFn {
	switch op {
	case expr.NoReduce:
		return func(fr *frame, _ []int, _ []int64, value floatFn) float64 { return value(fr) }
	case expr.Mean:
		return func(fr *frame, axes []int, extents []int64, value floatFn) float64 {
			return fold(fr, axes, extents, value, n, 0, add) / float64(max(n, 1))
		}
	case expr.Argmax:
		return position(n, func(x, best float64) bool { return x > best })
	case expr.Argmin:
		return position(n, func(x, best float64) bool { return x < best })
	}
	first, combine := monoid(op, k)
	return func(fr *frame, axes []int, extents []int64, value floatFn) float64 {
		return fold(fr, axes, extents, value, n, first, combine)
	}
}

func add(x, y float64) float64 { return x + y }

// monoid returns the value over nothing and the combination of two values.
func monoid(op expr.ReduceOp, k expr.Kind) (float64, func(x, y float64) float64) {
	lowest, highest := math.Inf(-1), math.Inf(1)
	if k == expr.Int {
		lowest, highest = math.MinInt32, math.MaxInt32
	}
	switch op {
	case expr.Prod:
		return 1, func(x, y float64) float64 { return x * y }
	case expr.Max:
		return lowest, func(x, y float64) float64 { return max(x, y) }
	case expr.Min:
		return highest, func(x, y float64) float64 { return min(x, y) }
	case expr.Any:
		return 0, func(x, y float64) float64 { return max(x, y) }
	case expr.All:
		return 1, func(x, y float64) float64 { return min(x, y) }
	}
	return 0, add
}

func fold(fr *frame, axes []int, extents []int64, value floatFn, n int64, acc float64, combine func(x, y float64) float64) float64 {
	if n == 0 {
		return acc
	}
	for more := true; more; more = advance(fr.index, axes, extents) {
		acc = combine(acc, value(fr))
	}
	return acc
}

// position returns the reduction to the position of the winner, counted over
// the reduced axes in row-major order: the first NaN, else the first element
// that none beats.
func position(n int64, beats func(x, best float64) bool) reduceFn {
	return func(fr *frame, axes []int, extents []int64, value floatFn) float64 {
		if n == 0 {
			return 0
		}
		at, best := 0, value(fr)
		for i := 1; advance(fr.index, axes, extents); i++ {
			x := value(fr)
			if !math.IsNaN(best) && (math.IsNaN(x) || beats(x, best)) {
				at, best = i, x
			}
		}
		return float64(at)
	}
}
