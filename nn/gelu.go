package nn

import (
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// GELU is y = 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) (Hendrycks and Gimpel,
// Gaussian Error Linear Units, 2016, section 2).
//
//	x    [...]
//	→ y  [...]
type GELU[T Float] struct{}

// Params lists nothing.
func (GELU[T]) Params() []Named { return nil }

// Forward computes the layer.
func (GELU[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) { return ops.GELU(x) }

// ForwardDeferred is Forward, recorded in b.
func (GELU[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	return ops.GELUDeferred(b, x)
}
