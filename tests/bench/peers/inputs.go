//go:build cgo

package peers

import (
	"context"
	"errors"
	"math"

	"github.com/kernelgen/kgen/runtime"
)

// float is an element type that kernels compute with.
type float interface {
	float32 | runtime.Float16 | runtime.BFloat16
}

// inputs makes the input tensors of one case. Tensor number i of a case has the
// same values here and in inputs.py.
type inputs struct {
	dev  *runtime.Device
	made []runtime.Handle
	// state returns the newest versions of what the case updates in place; nil
	// if it updates nothing.
	state func() []runtime.Operand
	err   error
}

// hash is a well mixed word for element i of tensor number seed.
func hash(seed, i uint32) uint32 {
	v := (i + seed*0x9E3779B9) * 2654435761
	v ^= v >> 15
	v *= 2246822519
	return v ^ v>>13
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// keep makes a tensor of n elements, each computed from its hash.
func keep[T runtime.Element](in *inputs, shape []int, value func(hash uint32) T) runtime.Tensor[T] {
	data := make([]T, count(shape))
	seed := uint32(len(in.made))
	for i := range data {
		data[i] = value(hash(seed, uint32(i)))
	}
	t, err := runtime.FromSlice(in.dev, data, shape...)
	in.err = errors.Join(in.err, err)
	in.made = append(in.made, t.Untyped())
	return t
}

// centred is a number in [-2, 2) for a hash.
func centred(h uint32) float32 { return float32(h>>8)*0x1p-22 - 2 }

// values makes floats in [-2, 2).
func values[T float](in *inputs, shape ...int) runtime.Tensor[T] {
	return keep(in, shape, func(h uint32) T { return toFloat[T](centred(h)) })
}

// positive makes floats in [0.5, 2.5).
func positive[T float](in *inputs, shape ...int) runtime.Tensor[T] {
	return keep(in, shape, func(h uint32) T { return toFloat[T](float32(math.Abs(float64(centred(h)))) + 0.5) })
}

// ids makes integers in [0, bound).
func (in *inputs) ids(bound int, shape ...int) runtime.Tensor[int32] {
	return keep(in, shape, func(h uint32) int32 { return int32(h >> 1 % uint32(bound)) })
}

// mask makes bits.
func (in *inputs) mask(shape ...int) runtime.Tensor[uint8] {
	return keep(in, shape, func(h uint32) uint8 { return uint8(h >> 16 & 1) })
}

// constant makes a tensor of equal elements.
func constant[T runtime.Element](in *inputs, v T, shape ...int) runtime.Tensor[T] {
	return keep(in, shape, func(uint32) T { return v })
}

// result computes a tensor that the case reads.
func result[T runtime.Element](in *inputs, f func(b *runtime.Batch) runtime.Tensor[T]) runtime.Tensor[T] {
	b := in.dev.Batch("inputs")
	t := f(b)
	b.Keep(t)
	in.err = errors.Join(in.err, b.Sync(context.Background()))
	in.made = append(in.made, t.Untyped())
	return t
}

// close releases the tensors; those that an operation has replaced are stale.
func (in *inputs) close() {
	if in.state != nil {
		for _, t := range in.state() {
			in.made = append(in.made, t.Untyped())
		}
	}
	for _, h := range in.made {
		if err := h.Close(); err != nil && !errors.Is(err, runtime.ErrStale) {
			in.err = errors.Join(in.err, err)
		}
	}
	in.made = nil
}

func toFloat[T float](v float32) T {
	switch any(T(0)).(type) {
	case runtime.Float16:
		return T(runtime.ToFloat16(v))
	case runtime.BFloat16:
		return T(runtime.ToBFloat16(v))
	}
	return T(v)
}

// magnitude is the mean magnitude of a tensor's elements.
func magnitude(h runtime.Handle) (float64, error) {
	switch h.DType() {
	case runtime.F32:
		return meanOf(h, func(v float32) float64 { return float64(v) })
	case runtime.F16:
		return meanOf(h, func(v runtime.Float16) float64 { return float64(v.Float32()) })
	case runtime.BF16:
		return meanOf(h, func(v runtime.BFloat16) float64 { return float64(v.Float32()) })
	case runtime.I32:
		return meanOf(h, func(v int32) float64 { return float64(v) })
	}
	return meanOf(h, func(v uint8) float64 { return float64(v) })
}

func meanOf[T runtime.Element](h runtime.Handle, value func(T) float64) (float64, error) {
	data, err := runtime.As[T](h).Read()
	sum := 0.0
	for _, v := range data {
		sum += math.Abs(value(v))
	}
	return sum / float64(len(data)), err
}
