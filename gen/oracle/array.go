package oracle

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

// Array is a dense row-major tensor. Its elements are float64 whatever the
// storage type of the tensor it is given for: f32, f16, bf16, i32 and u8 values
// are all exact in float64. An empty Shape is a scalar with one element.
type Array struct {
	Shape []int
	Data  []float64
}

// NewArray returns an array of zeros.
func NewArray(shape ...int) Array {
	return Array{Shape: shape, Data: make([]float64, elements(shape))}
}

// Scalar returns an array without dimensions that holds v.
func Scalar(v float64) Array { return Array{Data: []float64{v}} }

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Value is a scalar argument: F for f32, I for i32 and bool (0 or 1), U for
// u32 and u64, as in expr.Const.
type Value struct {
	F float64
	I int64
	U uint64
}

// Bits returns what a parameter block holds of a parameter of type t: the bits of
// its float32, or the integer in the low end.
func (v Value) Bits(t expr.ParamType) uint64 {
	switch t {
	case expr.ParamF32:
		return uint64(math.Float32bits(float32(v.F)))
	case expr.ParamU32, expr.ParamU64:
		return v.U
	}
	return uint64(uint32(v.I))
}

// Bits returns the bits of each value of a list of parameters.
func Bits(params []*expr.Param, values []Value) []uint64 {
	bits := make([]uint64, len(params))
	for i, p := range params {
		bits[i] = values[i].Bits(p.Type)
	}
	return bits
}

// Float returns the value of an f32 parameter. It is not rounded: a caller that
// compares with a backend gives what the backend gets, float64(float32(v)).
func Float(v float64) Value { return Value{F: v} }

// Int returns the value of an i32 parameter.
func Int(v int64) Value { return Value{I: v} }

// Uint returns the value of a u32 or u64 parameter.
func Uint(v uint64) Value { return Value{U: v} }

// Bool returns the value of a bool parameter.
func Bool(v bool) Value {
	if v {
		return Value{I: 1}
	}
	return Value{}
}

// Defaults returns the default values of the parameters of p, zero where there
// is none, in the order of p.Params.
func Defaults(p *expr.Program) []Value {
	values := make([]Value, len(p.Params))
	for i, param := range p.Params {
		if d := param.Default; d != nil {
			values[i] = Value{F: d.F, I: d.I, U: d.U}
		}
	}
	return values
}

// Round returns the value that storage type t holds after v was computed in
// f32 and stored: rounded to nearest even for the float types, cut to the low
// bits for I32 and U8.
func Round(v float64, t expr.DType) float64 {
	switch t {
	case expr.F32:
		return float64(float32(v))
	case expr.F16:
		return roundTo(float64(float32(v)), 11, -14, 65504)
	case expr.BF16:
		return roundTo(float64(float32(v)), 8, -126, 0x1.FEp127)
	case expr.I32:
		return float64(int32(int64(v)))
	case expr.U8:
		return float64(uint8(int64(v)))
	}
	return v
}

// roundTo rounds v to a binary format of the given precision (implicit bit
// included), least normal exponent and largest finite value.
func roundTo(v float64, precision, minExp int, largest float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	_, e := math.Frexp(v) // |v| in [2^(e-1), 2^e)
	ulp := math.Ldexp(1, max(e-1, minExp)-precision+1)
	r := math.RoundToEven(v/ulp) * ulp
	if math.Abs(r) > largest {
		return math.Copysign(math.Inf(1), v)
	}
	return r
}
