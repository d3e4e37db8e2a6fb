package simrun

import (
	"encoding/binary"
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// width is the bytes of an element.
func width(t expr.DType) int {
	switch t {
	case expr.U8:
		return 1
	case expr.F16, expr.BF16:
		return 2
	}
	return 4
}

// encode lays values out as the device stores them.
func encode(t expr.DType, data []float64) []byte {
	b := make([]byte, 0, len(data)*width(t))
	for _, v := range data {
		switch t {
		case expr.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case expr.F16:
			b = binary.LittleEndian.AppendUint16(b, toHalf(v))
		case expr.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(oracle.Round(v, expr.BF16)))>>16))
		case expr.I32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		case expr.U8:
			b = append(b, byte(v))
		}
	}
	return b
}

// decode reads what encode has laid out.
func decode(t expr.DType, b []byte, shape []int) oracle.Array {
	a := oracle.NewArray(shape...)
	for i := range a.Data {
		at := b[i*width(t):]
		switch t {
		case expr.F32:
			a.Data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
		case expr.F16:
			a.Data[i] = fromHalf(binary.LittleEndian.Uint16(at))
		case expr.BF16:
			a.Data[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(at)) << 16))
		case expr.I32:
			a.Data[i] = float64(int32(binary.LittleEndian.Uint32(at)))
		case expr.U8:
			a.Data[i] = float64(at[0])
		}
	}
	return a
}

// toHalf is the f16 nearest to v.
func toHalf(v float64) uint16 {
	v = oracle.Round(v, expr.F16)
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
