package oracle

import (
	"encoding/binary"
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

// Encode lays values out as a device stores them: little-endian, each rounded to
// t.
func Encode(t expr.DType, data []float64) []byte {
	b := make([]byte, 0, len(data)*t.Bytes())
	for _, v := range data {
		switch t {
		case expr.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case expr.F16:
			b = binary.LittleEndian.AppendUint16(b, toHalf(v))
		case expr.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(Round(v, expr.BF16)))>>16))
		case expr.I32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		case expr.U8:
			b = append(b, byte(v))
		}
	}
	return b
}

// Decode reads the values that Encode has laid out.
func Decode(t expr.DType, b []byte) []float64 {
	data := make([]float64, len(b)/t.Bytes())
	for i := range data {
		at := b[i*t.Bytes():]
		switch t {
		case expr.F32:
			data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
		case expr.F16:
			data[i] = fromHalf(binary.LittleEndian.Uint16(at))
		case expr.BF16:
			data[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(at)) << 16))
		case expr.I32:
			data[i] = float64(int32(binary.LittleEndian.Uint32(at)))
		case expr.U8:
			data[i] = float64(at[0])
		}
	}
	return data
}

// toHalf is the f16 nearest to v.
func toHalf(v float64) uint16 {
	v = Round(v, expr.F16)
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	switch {
	case math.IsNaN(v):
		return 0x7E00
	case math.IsInf(v, 0):
		return sign | 0x7C00
	case v < 0x1p-14:
		return sign | uint16(v*0x1p24)
	}
	frac, exp := math.Frexp(v)
	return sign | uint16((exp+14)<<10) + uint16((frac*2-1)*1024)
}

func fromHalf(h uint16) float64 {
	sign, exp, frac := 1.0, int(h>>10&31), float64(h&1023)
	if h&0x8000 != 0 {
		sign = -1
	}
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		return math.Inf(int(sign))
	case exp == 0:
		return sign * frac * 0x1p-24
	}
	return sign * math.Ldexp(1+frac/1024, exp-15)
}

// Tolerance is how far a value of a storage type may be from the float64 one;
// integers and masks must be it.
func Tolerance(t expr.DType, want float64) float64 {
	switch t {
	case expr.F32:
		return 1e-6 + 1e-5*math.Abs(want)
	case expr.F16:
		return 1e-3 + 2e-3*math.Abs(want)
	case expr.BF16:
		return 1e-2 + 8e-3*math.Abs(want)
	}
	return 0
}
