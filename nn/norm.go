package nn

import (
	"errors"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// LayerNorm is y = (x − mean)/√(variance + 1e-5)·weight + bias, mean and variance those
// of each row (Ba, Kiros and Hinton, Layer Normalization, 2016, eq. 3 and 4).
//
//	x             [..., width]
//	weight, bias  [width]
//	→ y           [..., width]
type LayerNorm[T Float] struct{ weight, bias *Param }

// NewLayerNorm returns a layer with weights of one and a bias of zeros. Close it when
// done.
func NewLayerNorm[T Float](d *runtime.Device, width int) (*LayerNorm[T], error) {
	if err := positive("layernorm", extent{"width", width}); err != nil {
		return nil, err
	}
	l := &LayerNorm[T]{}
	var err error
	if l.weight, err = newParam[T](d, constant(1, width), []int{width}, []int{width}); err != nil {
		return nil, err
	}
	if l.bias, err = newParam[T](d, constant(0, width), []int{width}, []int{width}); err != nil {
		return nil, errors.Join(err, l.weight.Close())
	}
	return l, nil
}

// Params lists weight and bias.
func (l *LayerNorm[T]) Params() []Named { return []Named{{"weight", l.weight}, {"bias", l.bias}} }

// Forward computes the layer.
func (l *LayerNorm[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, x) }, x)
}

// ForwardDeferred is Forward, recorded in b.
func (l *LayerNorm[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	y, _, _ := ops.LayerNormDeferred(b, x, weight[T](l.weight), weight[T](l.bias), ops.LayerNormEps)
	return y
}

// Close releases the layer's memory.
func (l *LayerNorm[T]) Close() error { return Close(l) }

// RMSNorm is y = x/√(mean of x² + 1e-5)·weight for each row (Zhang and Sennrich, Root
// Mean Square Layer Normalization, 2019, eq. 4).
//
//	x       [..., width]
//	weight  [width]
//	→ y     [..., width]
type RMSNorm[T Float] struct{ weight *Param }

// NewRMSNorm returns a layer with weights of one. Close it when done.
func NewRMSNorm[T Float](d *runtime.Device, width int) (*RMSNorm[T], error) {
	if err := positive("rmsnorm", extent{"width", width}); err != nil {
		return nil, err
	}
	w, err := newParam[T](d, constant(1, width), []int{width}, []int{width})
	if err != nil {
		return nil, err
	}
	return &RMSNorm[T]{w}, nil
}

// Params lists weight.
func (l *RMSNorm[T]) Params() []Named { return []Named{{"weight", l.weight}} }

// Forward computes the layer.
func (l *RMSNorm[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, x) }, x)
}

// ForwardDeferred is Forward, recorded in b.
func (l *RMSNorm[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	y, _ := ops.RMSNormDeferred(b, x, weight[T](l.weight), ops.RMSNormEps)
	return y
}

// Close releases the layer's memory.
func (l *RMSNorm[T]) Close() error { return Close(l) }
