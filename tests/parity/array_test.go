package parity_test

import (
	"fmt"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
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

// upload makes a tensor; values are rounded to the storage type.
func (a array) upload(t testing.TB, d *runtime.Device) runtime.Handle {
	t.Helper()
	switch a.dtype {
	case runtime.F32:
		return uploadAs(t, d, a, func(v float64) f32 { return f32(v) })
	case runtime.F16:
		return uploadAs(t, d, a, func(v float64) f16 { return runtime.ToFloat16(f32(v)) })
	case runtime.BF16:
		return uploadAs(t, d, a, func(v float64) bf16 { return runtime.ToBFloat16(f32(v)) })
	case runtime.I32:
		return uploadAs(t, d, a, func(v float64) int32 { return int32(v) })
	}
	return uploadAs(t, d, a, func(v float64) uint8 { return uint8(v) })
}

func uploadAs[T runtime.Element](t testing.TB, d *runtime.Device, a array, to func(float64) T) runtime.Handle {
	t.Helper()
	data := make([]T, len(a.data))
	for i, v := range a.data {
		data[i] = to(v)
	}
	h, err := runtime.FromSlice(d, data, a.shape...)
	if err != nil {
		t.Fatal(err)
	}
	return h.Untyped()
}

// download copies a tensor to the host.
func download(t testing.TB, h runtime.Handle) array {
	t.Helper()
	switch h.DType() {
	case runtime.F32:
		return downloadAs(t, h, func(v f32) float64 { return float64(v) })
	case runtime.F16:
		return downloadAs(t, h, func(v f16) float64 { return float64(v.Float32()) })
	case runtime.BF16:
		return downloadAs(t, h, func(v bf16) float64 { return float64(v.Float32()) })
	case runtime.I32:
		return downloadAs(t, h, func(v int32) float64 { return float64(v) })
	}
	return downloadAs(t, h, func(v uint8) float64 { return float64(v) })
}

func downloadAs[T runtime.Element](t testing.TB, h runtime.Handle, from func(T) float64) array {
	t.Helper()
	data, err := runtime.As[T](h).Read()
	if err != nil {
		t.Fatal(err)
	}
	a := array{dtype: h.DType(), shape: h.Shape(), data: make([]float64, len(data))}
	for i, v := range data {
		a.data[i] = from(v)
	}
	return a
}

// downloadAll copies tensors to the host and closes them.
func downloadAll(t testing.TB, list []runtime.Handle) []array {
	t.Helper()
	var as []array
	for _, h := range list {
		as = append(as, download(t, h))
		closeHandle(t, h)
	}
	return as
}

func closeHandle(t testing.TB, h runtime.Handle) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// dotAll records the sum over all results of result times cotangent, which
// makes the cotangents what the gradient starts from. A cotangent without data
// is left out.
func dotAll(t testing.TB, b *runtime.Batch, outs []runtime.Handle, cotangents []array) runtime.Operand {
	t.Helper()
	var total runtime.Operand
	for i, c := range cotangents {
		if c.dtype == runtime.InvalidDType {
			continue
		}
		w := c.upload(t, b.Device())
		part := weighted(b, outs[i], w)
		closeHandle(t, w) // the batch goes on using it
		if total != nil {
			part = ops.AddDeferred(b, runtime.As[f32](total.Untyped()), part)
		}
		total = part
	}
	if total == nil {
		t.Fatal("no cotangent")
	}
	return total
}

// weighted records sum(x * w).
func weighted(b *runtime.Batch, x, w runtime.Handle) runtime.Tensor[f32] {
	switch x.DType() {
	case runtime.F16:
		return ops.SumDeferred(b, ops.MulDeferred(b, runtime.As[f16](x), runtime.As[f16](w)))
	case runtime.BF16:
		return ops.SumDeferred(b, ops.MulDeferred(b, runtime.As[bf16](x), runtime.As[bf16](w)))
	}
	return ops.SumDeferred(b, ops.MulDeferred(b, runtime.As[f32](x), runtime.As[f32](w)))
}

// String shows type and shape.
func (a array) String() string { return fmt.Sprintf("%s%v", a.dtype, a.shape) }
