//go:build kgenbench

package program

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/kernelgen/kgen/runtime"
)

var dtypes = map[string]runtime.DType{
	"f32": runtime.F32, "f16": runtime.F16, "bf16": runtime.BF16, "i32": runtime.I32, "u8": runtime.U8,
}

// inputs makes the inputs of one call: floats in [-2, 2), bits, and integers
// within their bounds, 0 where there are none.
func inputs(dev *runtime.Device, r *request) ([]runtime.Handle, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	var list []runtime.Handle
	for _, t := range r.Ins {
		h, err := input(dev, rng, t)
		if err != nil {
			return list, err
		}
		list = append(list, h)
	}
	return list, nil
}

func input(dev *runtime.Device, rng *rand.Rand, t tensor) (runtime.Handle, error) {
	float := func() float32 { return float32(rng.Uint32()>>8)*0x1p-22 - 2 }
	switch dtypes[t.DType] {
	case runtime.F32:
		return upload(dev, t, float)
	case runtime.F16:
		return upload(dev, t, func() runtime.Float16 { return runtime.ToFloat16(float()) })
	case runtime.BF16:
		return upload(dev, t, func() runtime.BFloat16 { return runtime.ToBFloat16(float()) })
	case runtime.I32:
		bound := uint32(max(t.Bound, 1))
		return upload(dev, t, func() int32 { return int32(rng.Uint32N(bound)) })
	case runtime.U8:
		return upload(dev, t, func() uint8 { return uint8(rng.Uint32() & 1) })
	}
	return runtime.Handle{}, fmt.Errorf("bench: no tensor holds %s", t.DType)
}

func upload[T runtime.Element](dev *runtime.Device, t tensor, value func() T) (runtime.Handle, error) {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	data := make([]T, n)
	for i := range data {
		data[i] = value()
	}
	h, err := runtime.FromSlice(dev, data, t.Shape...)
	return h.Untyped(), err
}

func closeAll(sets [][]runtime.Handle) error {
	var errs []error
	for _, set := range sets {
		for _, h := range set {
			errs = append(errs, h.Close())
		}
	}
	return errors.Join(errs...)
}
