package models

import (
	"errors"
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// BlockConfig is the shape of a TCNBlock.
type BlockConfig struct {
	Width    int     // channels of the stream
	Hidden   int     // channels within
	Kernel   int     // taps of the convolution over time
	Dilation int     // positions from tap to tap; 0 is 1
	Scale    float64 // factor of the initial weights of the last convolution; 0 is 1
	Dropout  float32 // probability of dropping a hidden channel in training; see TCNBlock
}

// TCNBlock is a residual block of a temporal convolutional network,
//
//	y = mask(x + conv2(dropout(gelu(conv1(norm(x))))))
//
// where conv1 is causal and conv2 has one tap (Bai, Kolter and Koltun, An Empirical
// Evaluation of Generic Convolutional and Recurrent Networks for Sequence Modeling,
// 2018, section 3; the normalisation comes first, as in He et al., Identity Mappings in
// Deep Residual Networks, 2016, figure 4e). The dropout is off until it is enabled, which
// is for training alone.
//
//	x             [B, L, width]
//	mask          [B, L], y is 0 where it is 0; the zero Tensor masks nothing
//	norm.weight   [width]
//	norm.bias     [width]
//	conv1.weight  [hidden, width, kernel]
//	conv1.bias    [hidden]
//	conv2.weight  [width, hidden, 1]
//	conv2.bias    [width]
//	→ y           [B, L, width]
type TCNBlock[T nn.Float] struct {
	Norm         *nn.LayerNorm[T]
	Conv1, Conv2 *nn.Conv1D[T]
	Dropout      *nn.Dropout[T] // nil for none
}

// NewTCNBlock returns a block whose layers start as they do by themselves. Close it
// when done.
func NewTCNBlock[T nn.Float](d *runtime.Device, r *rand.Rand, c BlockConfig) (*TCNBlock[T], error) {
	norm, err := nn.NewLayerNorm[T](d, c.Width)
	if err != nil {
		return nil, err
	}
	conv1, err := nn.NewConv1D[T](d, r, nn.Conv1DConfig{In: c.Width, Out: c.Hidden, Kernel: c.Kernel, Dilation: c.Dilation, Causal: true})
	if err != nil {
		return nil, undo(err, norm)
	}
	conv2, err := nn.NewConv1D[T](d, r, nn.Conv1DConfig{In: c.Hidden, Out: c.Width, Kernel: 1, Scale: c.Scale})
	if err != nil {
		return nil, undo(err, norm, conv1)
	}
	m := &TCNBlock[T]{Norm: norm, Conv1: conv1, Conv2: conv2}
	if c.Dropout == 0 {
		return m, nil
	}
	if m.Dropout, err = nn.NewDropout[T](c.Dropout, r.Uint64()); err != nil {
		return nil, undo(err, m)
	}
	m.Dropout.Enable(false)
	return m, nil
}

// undo closes parts of a model that cannot be made, and returns why.
func undo(err error, parts ...nn.Module) error {
	for _, m := range parts {
		err = errors.Join(err, nn.Close(m))
	}
	return err
}

// device returns that of a model.
func device(m nn.Module) *runtime.Device { return m.Params()[0].Master().Device() }

// Params lists norm, conv1 and conv2.
func (m *TCNBlock[T]) Params() []nn.Named {
	list := nn.Under("norm", m.Norm)
	list = append(list, nn.Under("conv1", m.Conv1)...)
	return append(list, nn.Under("conv2", m.Conv2)...)
}

// Forward computes the block.
func (m *TCNBlock[T]) Forward(x runtime.Tensor[T], mask runtime.Tensor[uint8]) (runtime.Tensor[T], error) {
	return nn.Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, x, mask) }, x, mask)
}

// ForwardDeferred is Forward, recorded in b.
func (m *TCNBlock[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T], mask runtime.Tensor[uint8]) runtime.Tensor[T] {
	return m.rest(b, x, m.Conv1.ForwardGELUDeferred(b, m.Norm.ForwardDeferred(b, x)), mask)
}

// activation records gelu(conv1(h)) for the last position of h alone, whose taps see the
// window and h, or for all of h if it is longer.
func (m *TCNBlock[T]) activation(b *runtime.Batch, h runtime.Tensor[T], window []runtime.Tensor[T]) runtime.Tensor[T] {
	if h.Dim(1) == 1 {
		return m.Conv1.StepGELUDeferred(b, append(window, h))
	}
	return m.Conv1.ForwardGELUDeferred(b, h)
}

// rest records what comes after the activation.
func (m *TCNBlock[T]) rest(b *runtime.Batch, x, h runtime.Tensor[T], mask runtime.Tensor[uint8]) runtime.Tensor[T] {
	if m.Dropout != nil {
		h = m.Dropout.ForwardDeferred(b, h)
	}
	y := m.Conv2.ForwardResidualDeferred(b, h, x)
	if mask.Untyped().IsZero() {
		return y
	}
	return ops.MaskZeroDeferred(b, y, mask)
}

// reach returns how many positions before its own the block sees.
func (m *TCNBlock[T]) reach() int { return m.Conv1.Config().PadLeft }

// Close releases the block's memory.
func (m *TCNBlock[T]) Close() error { return nn.Close(m) }
