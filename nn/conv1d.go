package nn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// Conv1DConfig is the shape of a convolution over the positions of a sequence.
type Conv1DConfig struct {
	In, Out, Kernel int  // channels, channels, taps
	Dilation        int  // positions from tap to tap; 0 is 1
	Stride          int  // positions from window to window; 0 is 1
	PadLeft         int  // zeros before the sequence
	PadRight        int  // zeros behind it
	Causal          bool // pad so that position l sees none behind l: (Kernel-1)·Dilation zeros before the sequence
	NoBias          bool
	Scale           float64 // factor of the initial weights; 0 is 1
}

// Conv1D is a convolution (cross-correlation, as in all frameworks) over the positions
// of sequences:
//
//	y[b, l, o] = bias[o] + Σ over c, k of weight[o, c, k]·x[b, l·stride + k·dilation − padLeft, c]
//
//	x       [B, L, in]
//	weight  [out, in, kernel]
//	bias    [out]
//	→ y     [B, Lout, out],  Lout = ⌊(L + padLeft + padRight − dilation·(kernel−1) − 1)/stride⌋ + 1
//
// It is the product of the weight, which is kept as a matrix [out, in·kernel], with the
// windows laid out as rows (Chellapilla, Puri and Simard, 2006, section 3); of the
// sequence itself where the kernel is 1, the stride 1 and nothing is padded.
type Conv1D[T Float] struct {
	affine[T]
	c Conv1DConfig
}

// NewConv1D returns a layer with weights from N(0, scale²/(in·kernel)) (LeCun, Bottou,
// Orr and Müller, Efficient BackProp, 1998, eq. 16) and a bias of zeros. Close it when
// done.
func NewConv1D[T Float](d *runtime.Device, r *rand.Rand, c Conv1DConfig) (*Conv1D[T], error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	l, err := newAffine[T](d, r, c.Scale, !c.NoBias, c.Out, c.In, c.Kernel)
	if err != nil {
		return nil, err
	}
	return &Conv1D[T]{l, c}, nil
}

// complete puts values in the place of zeros that stand for them.
func (c *Conv1DConfig) complete() error {
	if c.Dilation == 0 {
		c.Dilation = 1
	}
	if c.Stride == 0 {
		c.Stride = 1
	}
	if c.Scale == 0 {
		c.Scale = 1
	}
	err := positive("conv1d", extent{"in", c.In}, extent{"out", c.Out}, extent{"kernel", c.Kernel},
		extent{"dilation", c.Dilation}, extent{"stride", c.Stride})
	if c.PadLeft < 0 || c.PadRight < 0 {
		err = errors.Join(err, fmt.Errorf("conv1d: the padding is %d and %d, must not be negative", c.PadLeft, c.PadRight))
	}
	if c.Causal {
		if c.PadLeft != 0 || c.PadRight != 0 {
			err = errors.Join(err, fmt.Errorf("conv1d: a causal convolution pads by itself, and padding %d, %d is given", c.PadLeft, c.PadRight))
		}
		c.PadLeft = c.Dilation * (c.Kernel - 1)
	}
	if most := max(c.Dilation, c.Stride, c.PadLeft, c.PadRight); most > math.MaxInt32 {
		err = errors.Join(err, fmt.Errorf("conv1d: dilation, stride and padding are %d at most, must be below 2^31", most))
	}
	return err
}

// Config returns the layer's shape.
func (l *Conv1D[T]) Config() Conv1DConfig { return l.c }

// columns records the windows of x as rows.
func (l *Conv1D[T]) columns(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	c := &l.c
	if c.Kernel == 1 && c.Stride == 1 && c.PadLeft == 0 && c.PadRight == 0 {
		return x
	}
	return ops.Im2ColDeferred(b, x, int32(c.Dilation), int32(c.Stride), int32(c.PadLeft), int32(c.PadRight), c.Kernel)
}

// Forward computes the layer.
func (l *Conv1D[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, x) }, x)
}

// ForwardDeferred is Forward, recorded in b.
func (l *Conv1D[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	return l.rows(b, l.columns(b, x))
}

// ForwardGELUDeferred records GELU(Forward(x)), in the kernel of the product where the
// layer has a bias.
func (l *Conv1D[T]) ForwardGELUDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	return l.gelu(b, l.columns(b, x))
}

// ForwardResidualDeferred records stream + Forward(x), in the kernel of the product
// where the layer has a bias. stream has the shape of the result.
func (l *Conv1D[T]) ForwardResidualDeferred(b *runtime.Batch, x, stream runtime.Tensor[T]) runtime.Tensor[T] {
	return l.residual(b, l.columns(b, x), stream)
}

// StepGELUDeferred records GELU of one position of the result from what the taps of its
// window see: a tensor [B, 1, in] for each tap, the earliest first. The result is
// [B, 1, out]; with another number of tensors it is the zero Tensor, which no call takes.
func (l *Conv1D[T]) StepGELUDeferred(b *runtime.Batch, window []runtime.Tensor[T]) runtime.Tensor[T] {
	if len(window) != l.c.Kernel {
		return runtime.Tensor[T]{}
	}
	return l.gelu(b, l.row(b, window))
}

// row records the row of columns that a window gives: like Im2Col, channel by channel.
func (l *Conv1D[T]) row(b *runtime.Batch, window []runtime.Tensor[T]) runtime.Tensor[T] {
	if len(window) == 1 {
		return window[0]
	}
	n := window[0].Dim(0)
	x, err := ops.ConcatDeferred(b, window).View(0, n, l.c.Kernel, l.c.In)
	if err != nil {
		return x // what failed is the batch, with a better error
	}
	x, _ = ops.TransposeDeferred(b, x).View(0, n, 1, l.in)
	return x
}

// Close releases the layer's memory, not that of an adapter.
func (l *Conv1D[T]) Close() error { return Close(l) }
