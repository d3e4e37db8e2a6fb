package optest

import (
	"context"
	"fmt"

	"github.com/kernelgen/kgen/runtime"
)

// array is a tensor on the host: values as float64, which holds every value of
// every storage type.
type array struct {
	dtype runtime.DType
	shape []int
	data  []float64
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// upload makes a tensor on a device; values are rounded to the storage type.
func (a array) upload(d *runtime.Device) (runtime.Handle, error) {
	switch a.dtype {
	case runtime.F32:
		return uploadAs(d, a, func(v float64) float32 { return float32(v) })
	case runtime.F16:
		return uploadAs(d, a, func(v float64) runtime.Float16 { return runtime.ToFloat16(float32(v)) })
	case runtime.BF16:
		return uploadAs(d, a, func(v float64) runtime.BFloat16 { return runtime.ToBFloat16(float32(v)) })
	case runtime.I32:
		return uploadAs(d, a, func(v float64) int32 { return int32(v) })
	case runtime.U8:
		return uploadAs(d, a, func(v float64) uint8 { return uint8(v) })
	}
	return runtime.Handle{}, fmt.Errorf("optest: no tensor holds %s", a.dtype)
}

func uploadAs[T runtime.Element](d *runtime.Device, a array, to func(float64) T) (runtime.Handle, error) {
	data := make([]T, len(a.data))
	for i, v := range a.data {
		data[i] = to(v)
	}
	t, err := runtime.FromSlice(d, data, a.shape...)
	return t.Untyped(), err
}

// download copies a tensor to the host.
func download(h runtime.Handle) (array, error) {
	b := h.Device().Batch("optest")
	get := read(b, h)
	if err := b.Sync(context.Background()); err != nil {
		return array{}, err
	}
	return get()
}

// read records that a tensor is copied to the host. The function that it returns
// gives the copy, once the batch has run.
func read(b *runtime.Batch, h runtime.Handle) func() (array, error) {
	switch h.DType() {
	case runtime.F32:
		return readAs(b, h, func(v float32) float64 { return float64(v) })
	case runtime.F16:
		return readAs(b, h, func(v runtime.Float16) float64 { return float64(v.Float32()) })
	case runtime.BF16:
		return readAs(b, h, func(v runtime.BFloat16) float64 { return float64(v.Float32()) })
	case runtime.I32:
		return readAs(b, h, func(v int32) float64 { return float64(v) })
	case runtime.U8:
		return readAs(b, h, func(v uint8) float64 { return float64(v) })
	}
	return func() (array, error) { return array{}, fmt.Errorf("optest: no tensor holds %s", h.DType()) }
}

func readAs[T runtime.Element](b *runtime.Batch, h runtime.Handle, from func(T) float64) func() (array, error) {
	back, shape := runtime.Read(b, runtime.As[T](h)), h.Shape()
	return func() (array, error) {
		data, err := back.Value()
		if err != nil {
			return array{}, err
		}
		a := array{dtype: h.DType(), shape: shape, data: make([]float64, len(data))}
		for i, v := range data {
			a.data[i] = from(v)
		}
		return a, nil
	}
}

func isFloat(t runtime.DType) bool {
	return t == runtime.F32 || t == runtime.F16 || t == runtime.BF16
}
