package nn

import (
	"fmt"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// Dropout sets each element to 0 with probability p and multiplies the others by
// 1/(1−p) (Srivastava et al., Dropout, 2014, section 4). Which ones is a matter of the
// seed and of how many elements came before, and the same on every device.
//
//	x    [...]
//	→ y  [...]
type Dropout[T Float] struct {
	p      float32
	seed   uint64
	offset uint64
	off    bool
}

// NewDropout returns a layer that drops.
func NewDropout[T Float](p float32, seed uint64) (*Dropout[T], error) {
	if !(p >= 0 && p < 1) {
		return nil, fmt.Errorf("dropout: p is %v, must be in [0, 1)", p)
	}
	return &Dropout[T]{p: p, seed: seed}, nil
}

// Enable turns the layer on, for training, or off, for evaluation: then it returns x.
func (l *Dropout[T]) Enable(on bool) { l.off = !on }

// Offset returns the number of elements so far, with the seed the state of the layer.
func (l *Dropout[T]) Offset() uint64 { return l.offset }

// SetOffset goes on from a state.
func (l *Dropout[T]) SetOffset(offset uint64) { l.offset = offset }

// Seed returns what the choice of elements depends on beside the offset.
func (l *Dropout[T]) Seed() uint64 { return l.seed }

// SetSeed goes on with another seed, as a layer does that is to continue what another
// one began.
func (l *Dropout[T]) SetSeed(seed uint64) { l.seed = seed }

// Params lists nothing.
func (l *Dropout[T]) Params() []Named { return nil }

// Forward computes the layer.
func (l *Dropout[T]) Forward(x runtime.Tensor[T]) (runtime.Tensor[T], error) {
	return Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return l.ForwardDeferred(b, x) }, x)
}

// ForwardDeferred is Forward, recorded in b. It is for one goroutine at a time.
func (l *Dropout[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T] {
	if l.off || l.p == 0 {
		return x
	}
	y := ops.DropoutDeferred(b, x, l.p, l.seed, l.offset)
	l.offset += uint64(max(x.Len(), 0))
	return y
}
