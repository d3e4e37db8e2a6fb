package nn

import (
	"math/rand/v2"

	"github.com/kernelgen/kgen/runtime"
)

// Linear is y = x·wᵀ + b (Goodfellow et al., Deep Learning, 2016, eq. 6.3).
//
//	x       [..., in]
//	weight  [out, in]
//	bias    [out]
//	→ y     [..., out]
type Linear[T Float] struct{ affine[T] }

// NewLinear returns a layer with weights from N(0, 1/in) (LeCun, Bottou, Orr and
// Müller, Efficient BackProp, 1998, eq. 16) and a bias of zeros. Close it when done.
func NewLinear[T Float](d *runtime.Device, r *rand.Rand, in, out int) (*Linear[T], error) {
	return newLinear[T](d, r, in, out, true)
}

// NewLinearNoBias returns a layer y = x·wᵀ, as NewLinear does.
func NewLinearNoBias[T Float](d *runtime.Device, r *rand.Rand, in, out int) (*Linear[T], error) {
	return newLinear[T](d, r, in, out, false)
}

func newLinear[T Float](d *runtime.Device, r *rand.Rand, in, out int, bias bool) (*Linear[T], error) {
	if err := positive("linear", extent{"in", in}, extent{"out", out}); err != nil {
		return nil, err
	}
	l, err := newAffine[T](d, r, 1, bias, out, in)
	if err != nil {
		return nil, err
	}
	return &Linear[T]{l}, nil
}

// Forward computes the layer.
func (l *Linear[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, x) }, x)
}

// ForwardDeferred is Forward, recorded in b.
func (l *Linear[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	return l.rows(b, x)
}

// ForwardGELUDeferred records GELU(Forward(x)), in one kernel where the layer has a bias.
func (l *Linear[T]) ForwardGELUDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	return l.gelu(b, x)
}

// ForwardResidualDeferred records stream + Forward(x), in one kernel where the layer
// has a bias. stream has the shape of the result.
func (l *Linear[T]) ForwardResidualDeferred(b *runtime.Batch, x, stream runtime.Tensor[T]) runtime.Tensor[T] {
	return l.residual(b, x, stream)
}

// Close releases the layer's memory, not that of an adapter.
func (l *Linear[T]) Close() error { return Close(l) }
