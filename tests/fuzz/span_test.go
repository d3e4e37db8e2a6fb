//go:build proof

package fuzz

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// span is every value that an expression can have where it is computed in f32:
// an interval, and whether it can be NaN. A value that is certainly NaN has an
// empty interval. Ints and bools are exact in float64; unsigned values are known
// or not.
type span struct {
	lo, hi float64
	nan    bool
	u      uint64
	known  bool // u is the value
}

// The units by which results are widened: one unit in the last place of f32 and
// a half for an operation, sixteen for an intrinsic, and what is lost where
// results are subnormal.
const (
	opUnit   = 0x1.8p-24
	callUnit = 0x1p-20
	tiny     = 0x1p-125
)

var (
	anything = span{lo: math.Inf(-1), hi: math.Inf(1), nan: true}
	notANum  = span{lo: math.Inf(1), hi: math.Inf(-1), nan: true}
	anyInt   = span{lo: math.MinInt32, hi: math.MaxInt32}
	anyBool  = span{lo: 0, hi: 1}
)

func exactly(v float64) span {
	if math.IsNaN(v) {
		return notANum
	}
	return span{lo: v, hi: v}
}

func word(u uint64) span { return span{u: u, known: true} }

func truth(b bool) span {
	if b {
		return exactly(1)
	}
	return exactly(0)
}

// single reports whether the value is one certain number.
func (s span) single() bool { return s.lo == s.hi && !s.nan }

func (s span) empty() bool { return s.lo > s.hi }

// certain reports whether the value is the given one.
func (s span) certain(v float64) bool { return s.single() && s.lo == v }

// hull holds the values of both.
func hull(s, t span) span {
	if s == t {
		return s
	}
	return span{lo: math.Min(s.lo, t.lo), hi: math.Max(s.hi, t.hi), nan: s.nan || t.nan}
}

// inF32 is s rounded to f32, where it is not exact, by an operation that loses
// unit of its magnitude.
func (s span) inF32(unit float64) span {
	if s.empty() || s.single() && unit <= opUnit && float64(float32(s.lo)) == s.lo {
		return s
	}
	if !math.IsInf(s.lo, 0) {
		s.lo -= math.Abs(s.lo)*unit + tiny
	}
	if !math.IsInf(s.hi, 0) {
		s.hi += math.Abs(s.hi)*unit + tiny
	}
	if s.hi > math.MaxFloat32 {
		s.hi = math.Inf(1)
	}
	if s.lo < -math.MaxFloat32 {
		s.lo = math.Inf(-1)
	}
	return s
}

// inInt is s as an int, whose width beyond 32 bits is the target's choice: what
// does not fit those may be any int.
func (s span) inInt() span {
	if s.lo < math.MinInt32 || s.hi > math.MaxInt32 {
		return hull(s, anyInt)
	}
	return s
}

// stored is s after a store to t.
func (s span) stored(t expr.DType) span {
	switch t {
	case expr.F16, expr.BF16, expr.F32:
		if !s.empty() {
			s.lo, s.hi = oracle.Round(s.lo, t), oracle.Round(s.hi, t)
		}
	case expr.U8:
		if s.single() {
			return exactly(oracle.Round(s.lo, t))
		}
		if s.lo < 0 || s.hi > 255 {
			return span{lo: 0, hi: 255}
		}
	}
	return s
}

// holds reports whether s has v among its values.
func (s span) holds(v float64) bool {
	if math.IsNaN(v) {
		return s.nan
	}
	return s.lo <= v && v <= s.hi
}

// narrow reports whether s says enough about a float to tell right from wrong.
func (s span) narrow() bool {
	if s.empty() {
		return true
	}
	return s.single() || s.hi-s.lo <= 1e-4+1e-3*math.Max(math.Abs(s.lo), math.Abs(s.hi))
}

// corners is the span of f over the corners of x and y: that of any f which is
// monotone in each operand.
func corners(x, y span, f func(x, y float64) float64) span {
	if x.empty() || y.empty() {
		return notANum
	}
	r := span{lo: math.Inf(1), hi: math.Inf(-1), nan: x.nan || y.nan}
	for _, v := range [4]float64{f(x.lo, y.lo), f(x.lo, y.hi), f(x.hi, y.lo), f(x.hi, y.hi)} {
		if math.IsNaN(v) {
			if x.single() && y.single() {
				return notANum
			}
			return anything
		}
		r.lo, r.hi = math.Min(r.lo, v), math.Max(r.hi, v)
	}
	return r
}

// rising is the span of a monotone f over x.
func rising(x span, f func(float64) float64) span {
	if x.empty() {
		return x
	}
	lo, hi := f(x.lo), f(x.hi)
	switch {
	case math.IsNaN(hi):
		return notANum
	case math.IsNaN(lo):
		return span{lo: math.Inf(-1), hi: hi, nan: true}
	}
	return span{lo: math.Min(lo, hi), hi: math.Max(lo, hi), nan: x.nan}
}

func (s span) negated() span { return span{lo: -s.hi, hi: -s.lo, nan: s.nan} }

// around reports whether v is one of several values.
func (s span) around(v float64) bool { return s.lo < v && v < s.hi }

func (s span) infinite() bool { return math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0) }

func plus(x, y span) span {
	return corners(x, y, func(x, y float64) float64 { return x + y }).inF32(opUnit)
}

// times may be NaN where zero lies inside one span and an infinity in the other.
func times(x, y span) span {
	if x.around(0) && y.infinite() || y.around(0) && x.infinite() {
		x.nan = true
	}
	return corners(x, y, func(x, y float64) float64 { return x * y }).inF32(opUnit)
}

func over(x, y span) span {
	if y.lo <= 0 && y.hi >= 0 {
		return anything // what a zero of unknown sign gives
	}
	return corners(x, y, func(x, y float64) float64 { return x / y }).inF32(callUnit)
}

// less is whether x < y, or with orEqual x <= y.
func less(x, y span, orEqual bool) span {
	no := x.nan || y.nan
	if x.empty() || y.empty() {
		return exactly(0)
	}
	yes := x.lo < y.hi || orEqual && x.lo <= y.hi
	no = no || x.hi > y.lo || !orEqual && x.hi >= y.lo
	return possible(yes, no)
}

func equal(x, y span) span {
	if x.empty() || y.empty() {
		return exactly(0)
	}
	same := x.single() && y.single() && x.lo == y.lo
	return possible(x.lo <= y.hi && y.lo <= x.hi, !same)
}

func possible(yes, no bool) span {
	switch {
	case yes && no:
		return anyBool
	case yes:
		return exactly(1)
	}
	return exactly(0)
}

func not(x span) span { return span{lo: 1 - x.hi, hi: 1 - x.lo} }

func lesser(x, y span) span {
	if x.empty() || y.empty() {
		return notANum
	}
	return span{lo: math.Min(x.lo, y.lo), hi: math.Min(x.hi, y.hi), nan: x.nan || y.nan}
}

func greater(x, y span) span { return lesser(x.negated(), y.negated()).negated() }
