package nn

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// Residual is y = x + f(x) for a layer f that keeps the shape (He et al., Deep Residual
// Learning for Image Recognition, 2016, eq. 1).
//
//	x    [...]
//	→ y  [...]
type Residual[T Float] struct{ f Layer[T] }

// NewResidual returns a layer around f, whose parameters are its parameters.
func NewResidual[T Float](f Layer[T]) *Residual[T] { return &Residual[T]{f} }

// Params lists those of the inner layer.
func (l *Residual[T]) Params() []Named { return l.f.Params() }

// Forward computes the layer.
func (l *Residual[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, x) }, x)
}

// ForwardDeferred is Forward, recorded in b.
func (l *Residual[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	if f, ok := l.f.(fusedResidual[T]); ok {
		return f.ForwardResidualDeferred(b, x, x)
	}
	return ops.ResidualAddDeferred(b, x, l.f.ForwardDeferred(b, x))
}

// fusedResidual is a layer that adds its result to a stream in its own kernel.
type fusedResidual[T Float] interface {
	ForwardResidualDeferred(b *runtime.Batch, x, stream runtime.Tensor[T]) runtime.Tensor[T]
}
