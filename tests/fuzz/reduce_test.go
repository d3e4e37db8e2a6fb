//go:build proof

package fuzz

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

// reduced is the span of a reduction of terms in any order.
func reduced(op expr.ReduceOp, k expr.Kind, terms []span) span {
	switch op {
	case expr.Sum:
		return sum(terms, k)
	case expr.Mean:
		if len(terms) == 0 {
			return exactly(0)
		}
		return over(sum(terms, k), exactly(float64(len(terms))))
	case expr.Argmax, expr.Argmin:
		return winner(terms, op == expr.Argmin)
	}
	r := first(op, k)
	for _, t := range terms {
		switch op {
		case expr.Prod:
			if k == expr.Float {
				r = times(r, t)
			} else {
				r = ints(expr.Mul, r, t)
			}
		case expr.Max, expr.Any:
			r = greater(r, t)
		case expr.Min, expr.All:
			r = lesser(r, t)
		}
	}
	return r
}

// first is the reduction of nothing.
func first(op expr.ReduceOp, k expr.Kind) span {
	lowest, highest := math.Inf(-1), math.Inf(1)
	if k == expr.Int {
		lowest, highest = math.MinInt32, math.MaxInt32
	}
	switch op {
	case expr.Prod, expr.All:
		return exactly(1)
	case expr.Max:
		return exactly(lowest)
	case expr.Min:
		return exactly(highest)
	}
	return exactly(0)
}

// sum adds in any order: each of n additions loses at most a unit of the sum of
// magnitudes. Sums of numbers with few bits are exact.
func sum(terms []span, k expr.Kind) span {
	total, magnitude, exact := exactly(0), 0.0, true
	for _, t := range terms {
		total = corners(total, t, func(x, y float64) float64 { return x + y })
		magnitude += math.Max(math.Abs(t.lo), math.Abs(t.hi))
		exact = exact && t.single() && t.lo == math.Trunc(t.lo*0x1p10)*0x1p-10
	}
	if k != expr.Float {
		return total.inInt()
	}
	if total.empty() || exact && magnitude < 0x1p13 {
		return total
	}
	if total.single() && math.IsInf(total.lo, 0) {
		return total
	}
	if magnitude > math.MaxFloat32 {
		return anything
	}
	loss := magnitude*opUnit*float64(len(terms)+1) + tiny
	return span{lo: total.lo - loss, hi: total.hi + loss, nan: total.nan}
}

// winner is the hull of the positions that can win.
func winner(terms []span, least bool) span {
	if len(terms) == 0 {
		return exactly(0)
	}
	at, found := span{}, false
	for i, t := range terms {
		if least {
			terms[i] = t.negated()
		}
	}
	for i := range terms {
		if !canWin(terms, i) {
			continue
		}
		if p := exactly(float64(i)); found {
			at = hull(at, p)
		} else {
			at, found = p, true
		}
	}
	return at
}

// canWin reports whether term i can be the first NaN, or where there is none the
// first of the greatest.
func canWin(terms []span, i int) bool {
	x := terms[i]
	for j, t := range terms {
		switch {
		case j == i:
		case t.empty() && (j < i || !x.nan): // a NaN that comes first, or is the only one
			return false
		case x.empty() || x.nan || t.nan:
		case j < i && t.lo >= x.hi, j > i && t.lo > x.hi:
			return false
		}
	}
	return true
}
