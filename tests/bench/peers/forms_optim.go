//go:build cgo

package peers

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// parameters are what an optimiser step works on, as one array.
type parameters[T float] struct {
	g             runtime.Tensor[T]
	w, m, v       runtime.Tensor[float32]
	invScale      runtime.Tensor[float32]
	clip          runtime.Tensor[float32]
	skip, counter runtime.Tensor[int32]
}

func newParameters[T float](in *inputs, d []int) *parameters[T] {
	p := &parameters[T]{
		g: values[T](in, d...), w: values[float32](in, d...),
		m: constant[float32](in, 0, d...), v: constant[float32](in, 0, d...),
		invScale: constant[float32](in, 1), clip: constant[float32](in, 1),
		skip: constant[int32](in, 0), counter: constant[int32](in, 1),
	}
	in.state = func() []runtime.Operand { return []runtime.Operand{p.w, p.m, p.v} }
	return p
}

func optimForms[T float]() []form {
	return []form{
		{name: "sgd", sizes: matrix, build: func(in *inputs, d []int) step {
			p := newParameters[T](in, d)
			in.state = func() []runtime.Operand { return []runtime.Operand{p.w, p.v} }
			return func(b *runtime.Batch) []runtime.Operand {
				p.w, p.v = ops.SGDDeferred(b, p.g, p.invScale, p.clip, p.skip, p.w, p.v, 1e-3, 0.9, 0, false)
				return nil // in.state has the results
			}
		}},
		{name: "adam", sizes: matrix, build: func(in *inputs, d []int) step {
			p := newParameters[T](in, d)
			return func(b *runtime.Batch) []runtime.Operand {
				p.w, p.m, p.v = ops.AdamDeferred(b, p.g, p.invScale, p.clip, p.skip, p.counter, p.w, p.m, p.v, 1e-3, 0.9, 0.999, 1e-8, 0)
				return nil // in.state has the results
			}
		}},
		{name: "adamw", sizes: matrix, build: func(in *inputs, d []int) step {
			p := newParameters[T](in, d)
			return func(b *runtime.Batch) []runtime.Operand {
				p.w, p.m, p.v = ops.AdamWDeferred(b, p.g, p.invScale, p.clip, p.skip, p.counter, p.w, p.m, p.v, 1e-3, 0.9, 0.999, 1e-8, 0.01)
				return nil // in.state has the results
			}
		}},
	}
}
