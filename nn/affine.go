package nn

import (
	"errors"
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// affine is y = x·wᵀ + b for rows x: the product of Linear and Conv1D, with an adapter
// where one is attached.
type affine[T Float] struct {
	in, out      int
	weight, bias *Param // [out, in], [out]; bias may be nil
	adapter      *LoRA[T]
	merged       bool // the weight holds the adapter
}

// newAffine draws the weights from N(0, (scale/√in)²); see fanIn. The bias is zero.
// shape is that of the weight as files have it.
func newAffine[T Float](d *runtime.Device, r *rand.Rand, scale float64, bias bool, shape ...int) (affine[T], error) {
	l := affine[T]{out: shape[0], in: 1}
	for _, extent := range shape[1:] {
		l.in *= extent
	}
	var err error
	if l.weight, err = newParam[T](d, normal(r, scale*fanIn(l.in), l.out*l.in), shape, []int{l.out, l.in}); err != nil || !bias {
		return l, err
	}
	if l.bias, err = newParam[T](d, constant(0, l.out), []int{l.out}, []int{l.out}); err != nil {
		err = errors.Join(err, l.weight.Close())
	}
	return l, err
}

// Params lists weight and bias. An adapter has its own.
func (l *affine[T]) Params() []Named { return named(Named{"weight", l.weight}, Named{"bias", l.bias}) }

// Invalidate says that somebody has written to the masters of weight and bias: they
// are packed anew.
func (l *affine[T]) Invalidate() {
	for _, p := range l.Params() {
		p.Invalidate()
	}
}

// plain reports whether one fused kernel can do the work of the product and of what
// follows it.
func (l *affine[T]) plain() bool { return l.bias != nil && (l.adapter == nil || l.merged) }

func (l *affine[T]) rows(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	w := weight[T](l.weight)
	switch {
	case l.plain():
		return ops.LinearDeferred(b, x, w, weight[T](l.bias))
	case l.adapter == nil || l.merged:
		return ops.MatMulNTDeferred(b, x, w)
	}
	return l.adapter.add(b, x, ops.MatMulNTDeferred(b, x, w), l.bias)
}

// gelu records GELU(rows(x)).
func (l *affine[T]) gelu(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	if !l.plain() {
		return ops.GELUDeferred(b, l.rows(b, x))
	}
	return ops.MatMulBiasGELUNTDeferred(b, x, weight[T](l.weight), weight[T](l.bias))
}

// residual records stream + rows(x).
func (l *affine[T]) residual(b *runtime.Batch, x, stream runtime.Tensor[T]) runtime.Tensor[T] {
	if !l.plain() {
		return ops.ResidualAddDeferred(b, stream, l.rows(b, x))
	}
	return ops.MatMulBiasResidualNTDeferred(b, x, weight[T](l.weight), weight[T](l.bias), stream)
}
