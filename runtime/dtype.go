package runtime

// Element is the type of a tensor's elements in Go.
type Element interface {
	float32 | Float16 | BFloat16 | int32 | uint8
}

// TypeOf returns the storage type that holds T.
func TypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case int32:
		return I32
	}
	return U8
}

// Size returns the bytes of one element.
func (t DType) Size() int64 {
	switch t {
	case F32, I32:
		return 4
	case F16, BF16:
		return 2
	case U8:
		return 1
	}
	return 0
}

// String returns the type's name in specs.
func (t DType) String() string {
	switch t {
	case F32:
		return "f32"
	case F16:
		return "f16"
	case BF16:
		return "bf16"
	case I32:
		return "i32"
	case U8:
		return "u8"
	}
	return "invalid"
}

// float reports whether t is a floating-point type: one that has a gradient.
func (t DType) float() bool { return t == F32 || t == F16 || t == BF16 }

// one returns the bit pattern of the value 1.
func (t DType) one() uint64 {
	switch t {
	case F32:
		return 0x3f800000
	case F16:
		return 0x3c00
	case BF16:
		return 0x3f80
	}
	return 1
}

// repeat fills eight bytes with an element's bit pattern.
func (t DType) repeat(bits uint64) uint64 {
	switch t.Size() {
	case 1:
		return (bits & 0xff) * 0x0101010101010101
	case 2:
		return (bits & 0xffff) * 0x0001000100010001
	}
	return (bits & 0xffffffff) * 0x0000000100000001
}

// String returns the type's name in specs.
func (t ParamType) String() string {
	switch t {
	case ParamF32:
		return "f32"
	case ParamI32:
		return "i32"
	case ParamU32:
		return "u32"
	case ParamU64:
		return "u64"
	}
	return "bool"
}
