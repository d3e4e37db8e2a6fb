package runtime

import (
	"math"
	"unsafe"
)

// This file holds what generated reference functions (Variant.Ref) call beside
// package math: their arithmetic is float64, int64, uint32, uint64 and bool.

// RefSlice returns buffer i of c as its elements.
func RefSlice[T any](c *RefCall, i int) []T {
	return unsafe.Slice((*T)(c.Buf[i]), c.Len[i])
}

// RefInBounds reports whether all elements of buffer i of c, whose elements are
// ids, lie in [0, bound) or are one of except. Else it sets the fault of c to
// the first that does not.
func RefInBounds[T int32 | uint8](c *RefCall, i uint8, ids []T, bound int64, except ...int64) bool {
next:
	for pos, id := range ids {
		v := int64(id)
		if v >= 0 && v < bound {
			continue
		}
		for _, e := range except {
			if v == e {
				continue next
			}
		}
		c.Fault = Fault{Set: true, Tensor: i, Pos: int64(pos), Value: v, Bound: bound}
		return false
	}
	return true
}

// RefValue returns v. Generated code uses it where a constant expression would
// be refused by the Go compiler, such as a division by zero.
func RefValue[V float64 | int64 | uint32 | uint64 | bool](v V) V { return v }

// RefSigmoid returns the logistic function of x.
func RefSigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// RefRsqrt returns 1/sqrt(x).
func RefRsqrt(x float64) float64 { return 1 / math.Sqrt(x) }

// RefSign returns -1, 0 or 1, or NaN for NaN.
func RefSign[V float64 | int64](x V) V {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// RefBit returns 1 for true and 0 for false.
func RefBit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// RefTruncate rounds x towards zero. NaN gives 0, and what lies outside int32
// the nearest end of its range.
func RefTruncate(x float64) int64 {
	if math.IsNaN(x) {
		return 0
	}
	return int64(min(max(x, math.MinInt32), math.MaxInt32))
}

// RefShl returns x << n; shifts by less than 0 or more than 63 places give 0.
func RefShl(x, n int64) int64 { return x << uint64(n) }

// RefShr returns x >> n; shifts by less than 0 or more than 63 places leave
// copies of the sign.
func RefShr(x, n int64) int64 { return x >> uint64(n) }

// RefPhilox returns the first word of Philox4x32-10 with the 64-bit key seed at
// a 64-bit counter (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3,
// 2011).
func RefPhilox(seed, counter uint64) uint32 {
	const (
		mul0, mul1   = 0xD2511F53, 0xCD9E8D57
		weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85
	)
	c0, c1, c2, c3 := uint32(counter), uint32(counter>>32), uint32(0), uint32(0)
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 10 {
		p0, p1 := mul0*uint64(c0), mul1*uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += weyl0
		k1 += weyl1
	}
	return c0
}

// RefUniform turns a random word into a number in [0, 1) of 24 bits.
func RefUniform(u uint32) float64 { return float64(u>>8) * 0x1p-24 }

// RefArg finds the position of the largest or the smallest of some values: the
// lowest of equals, and the first NaN before all others. The zero RefArg has
// seen none; its position is 0.
type RefArg struct {
	n, at int64
	best  float64
}

// Max takes the next value of which the largest is looked for.
func (a *RefArg) Max(v float64) { a.next(v, v > a.best) }

// Min takes the next value of which the smallest is looked for.
func (a *RefArg) Min(v float64) { a.next(v, v < a.best) }

func (a *RefArg) next(v float64, wins bool) {
	if a.n == 0 || !math.IsNaN(a.best) && (wins || math.IsNaN(v)) {
		a.at, a.best = a.n, v
	}
	a.n++
}

// Pos returns the position of the winner.
func (a *RefArg) Pos() int64 { return a.at }
