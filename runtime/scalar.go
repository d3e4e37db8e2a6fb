package runtime

import "math"

// ScalarOf returns v as a Scalar.
func ScalarOf[V float32 | int32 | uint32 | uint64 | bool](v V) Scalar {
	switch v := any(v).(type) {
	case float32:
		return Scalar(math.Float32bits(v))
	case int32:
		return Scalar(uint32(v))
	case uint32:
		return Scalar(v)
	case uint64:
		return Scalar(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// F32 returns the value of an f32 parameter.
func (s Scalar) F32() float32 { return math.Float32frombits(uint32(s)) }

// I32 returns the value of an i32 parameter.
func (s Scalar) I32() int32 { return int32(uint32(s)) }

// U32 returns the value of a u32 parameter.
func (s Scalar) U32() uint32 { return uint32(s) }

// U64 returns the value of a u64 parameter.
func (s Scalar) U64() uint64 { return uint64(s) }

// Bool returns the value of a bool parameter.
func (s Scalar) Bool() bool { return s != 0 }

// Float returns the value of an f32 parameter as the expressions of a spec see
// it on the host.
func (s Scalar) Float() float64 { return float64(s.F32()) }

// Int returns the value of an i32 parameter as the expressions of a spec see
// it on the host.
func (s Scalar) Int() int64 { return int64(s.I32()) }

// FloorDiv returns x/y rounded towards negative infinity, and 0 when y is 0:
// the division of integers in specs.
func FloorDiv[V int64 | uint32 | uint64](x, y V) V {
	if y == 0 {
		return 0
	}
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

// FloorMod returns x - y*FloorDiv(x, y), which has the sign of y, and 0 when y
// is 0: the remainder of integers in specs.
func FloorMod[V int64 | uint32 | uint64](x, y V) V {
	if y == 0 {
		return 0
	}
	return x - y*FloorDiv(x, y)
}

// Where returns a if c holds and b if not.
func Where[V int64 | uint32 | uint64 | float64 | bool](c bool, a, b V) V {
	if c {
		return a
	}
	return b
}
