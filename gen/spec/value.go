package spec

import (
	"fmt"
	"math"

	"github.com/kernelgen/kgen/internal/tomltree"
)

// Text is a key or a value of a spec file that knows where each of its bytes stands.
type Text = tomltree.Text

// ValueKind is the TOML type of a Value.
type ValueKind uint8

// The kinds of scalar values.
const (
	IntValue ValueKind = iota
	FloatValue
	BoolValue
)

// Value is a number or a bool of a spec file.
type Value struct {
	Text  // the literal as written
	Kind  ValueKind
	Int   int64
	Float float64
	Bool  bool
}

// AsFloat32 returns the value as a float that f32 can hold: integers exactly,
// floats rounded to nearest; inf and nan pass.
func (v *Value) AsFloat32() (float64, error) {
	switch v.Kind {
	case IntValue:
		if f := float32(v.Int); int64(f) == v.Int && math.Abs(float64(f)) < 1<<63 {
			return float64(f), nil
		}
		return 0, fmt.Errorf("%s is not exact in f32, which holds 24 bits", v.Value)
	case FloatValue:
		return v.roundFloat()
	}
	return 0, fmt.Errorf("%s is no number", v.Value)
}

func (v *Value) roundFloat() (float64, error) {
	f := float64(float32(v.Float))
	switch {
	case math.IsInf(f, 0) && !math.IsInf(v.Float, 0):
		return 0, fmt.Errorf("%s is beyond the range of f32", v.Value)
	case f == 0 && v.Float != 0:
		return 0, fmt.Errorf("%s is zero in f32", v.Value)
	}
	return v.Float, nil
}

// AsInt returns the value as an integer of [lo, hi].
func (v *Value) AsInt(lo, hi int64) (int64, error) {
	switch {
	case v.Kind == FloatValue:
		return 0, fmt.Errorf("%s is a float, an integer is wanted", v.Value)
	case v.Kind != IntValue:
		return 0, fmt.Errorf("%s is no number", v.Value)
	case v.Int < lo || v.Int > hi:
		return 0, fmt.Errorf("%s is outside [%d, %d]", v.Value, lo, hi)
	}
	return v.Int, nil
}

// AsBool returns the value as a bool.
func (v *Value) AsBool() (bool, error) {
	if v.Kind != BoolValue {
		return false, fmt.Errorf("%s is a number, true or false is wanted", v.Value)
	}
	return v.Bool, nil
}
