package runtime

import (
	"math"
	"math/bits"
	"strconv"
)

// Float16 is an IEEE 754 binary16 number, as its bits.
type Float16 uint16

// ToFloat16 rounds v to the nearest Float16, ties to even. Values of 65520 and
// more become infinite; a NaN stays a NaN.
func ToFloat16(v float32) Float16 {
	b := math.Float32bits(v)
	sign := Float16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 | Float16(abs>>13&0x1ff)
	case abs >= 0x477ff000: // 65520: the midpoint between the largest value and 2^16
		return sign | 0x7c00
	case abs >= 0x38800000: // 2^-14: normal
		return sign | Float16(roundShift(abs-0x38000000, 13))
	case abs < 0x33000000: // below half of the smallest subnormal
		return sign
	}
	shift := 126 - abs>>23
	return sign | Float16(roundShift(abs&0x7fffff|0x800000, shift))
}

// roundShift returns v / 2^shift, rounded to nearest even.
func roundShift(v, shift uint32) uint32 {
	odd := v >> shift & 1
	return (v + (1<<(shift-1) - 1) + odd) >> shift
}

// Float32 returns the same value as a float32; it is exact.
func (h Float16) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	man := uint32(h & 0x3ff)
	switch {
	case exp == 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
	case man == 0:
		return math.Float32frombits(sign)
	}
	n := uint32(bits.LeadingZeros32(man)) - 21 // places to the implicit bit
	return math.Float32frombits(sign | (113-n)<<23 | man<<n&0x3ff<<13)
}

// String formats the value as a decimal number.
func (h Float16) String() string { return formatFloat(h.Float32()) }

// BFloat16 is the upper half of a float32: eight bits of exponent, seven of
// mantissa.
type BFloat16 uint16

// ToBFloat16 rounds v to the nearest BFloat16, ties to even; a NaN stays a NaN.
func ToBFloat16(v float32) BFloat16 {
	b := math.Float32bits(v)
	if b&0x7fffffff > 0x7f800000 {
		return BFloat16(b>>16 | 0x40)
	}
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 returns the same value as a float32; it is exact.
func (h BFloat16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// String formats the value as a decimal number.
func (h BFloat16) String() string { return formatFloat(h.Float32()) }

func formatFloat(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
