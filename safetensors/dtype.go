package safetensors

// DType is the type of a tensor's elements, by its name in the format. Elements
// are little-endian.
type DType string

// The types of whole bytes that the format has.
const (
	Bool   DType = "BOOL"
	U8     DType = "U8"
	I8     DType = "I8"
	F8E5M2 DType = "F8_E5M2"
	F8E4M3 DType = "F8_E4M3"
	U16    DType = "U16"
	I16    DType = "I16"
	F16    DType = "F16"
	BF16   DType = "BF16"
	U32    DType = "U32"
	I32    DType = "I32"
	F32    DType = "F32"
	U64    DType = "U64"
	I64    DType = "I64"
	F64    DType = "F64"
)

// Size returns the bytes of one element, 0 for a type that is not known.
func (t DType) Size() int64 {
	switch t {
	case Bool, U8, I8, F8E5M2, F8E4M3:
		return 1
	case U16, I16, F16, BF16:
		return 2
	case U32, I32, F32:
		return 4
	case U64, I64, F64:
		return 8
	}
	return 0
}
