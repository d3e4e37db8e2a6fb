package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// StackConfig is the shape of a TCNStack.
type StackConfig struct {
	Width     int     // channels of the stream
	Hidden    int     // channels within a block
	Kernel    int     // taps of the convolutions over time
	Dilations []int   // of each block
	Dropout   float32 // see BlockConfig
}

// Doubling returns the dilations of n blocks: 1, 2, 4 and so on up to a limit, and from
// 1 again (van den Oord et al., WaveNet, 2016, section 2.1).
func Doubling(n, limit int) []int {
	dilations := make([]int, n)
	d := 1
	for i := range dilations {
		dilations[i] = d
		if d *= 2; d > limit {
			d = 1
		}
	}
	return dilations
}

// TCNStack is a sequence of blocks. Position l of the result depends on positions
// l − ReceptiveField() + 1 to l.
//
//	x     [B, L, width]
//	mask  [B, L], as of TCNBlock
//	→ y   [B, L, width]
//
// Parameters are those of blocks.0, blocks.1 and so on. A block may be shared with
// another stack.
type TCNStack[T nn.Float] struct {
	Blocks []*TCNBlock[T]
}

// NewTCNStack returns a stack. The last convolution of each of n blocks starts with
// weights smaller by 1/√n, so that the sum of what the blocks add to the stream has
// variance 1 (Radford et al., Language Models are Unsupervised Multitask Learners,
// 2019, section 2.3). Close it when done.
func NewTCNStack[T nn.Float](d *runtime.Device, r *rand.Rand, c StackConfig) (*TCNStack[T], error) {
	m := &TCNStack[T]{}
	for _, dilation := range c.Dilations {
		block, err := NewTCNBlock[T](d, r, BlockConfig{
			Width: c.Width, Hidden: c.Hidden, Kernel: c.Kernel, Dilation: dilation,
			Scale: 1 / math.Sqrt(float64(len(c.Dilations))), Dropout: c.Dropout,
		})
		if err != nil {
			return nil, undo(err, m)
		}
		m.Blocks = append(m.Blocks, block)
	}
	return m, nil
}

// ReceptiveField returns how many positions of x a position of the result depends on.
func (m *TCNStack[T]) ReceptiveField() int {
	n := 1
	for _, block := range m.Blocks {
		n += block.reach()
	}
	return n
}

// Params lists those of the blocks.
func (m *TCNStack[T]) Params() []nn.Named {
	var list []nn.Named
	for i, block := range m.Blocks {
		list = append(list, nn.Under(fmt.Sprintf("blocks.%d", i), block)...)
	}
	return list
}

// Dropouts lists those of the blocks.
func (m *TCNStack[T]) Dropouts() []*nn.Dropout[T] {
	var list []*nn.Dropout[T]
	for _, block := range m.Blocks {
		if block.Dropout != nil {
			list = append(list, block.Dropout)
		}
	}
	return list
}

// Forward computes the stack.
func (m *TCNStack[T]) Forward(x runtime.Tensor[T], mask runtime.Tensor[uint8]) (runtime.Tensor[T], error) {
	return nn.Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, x, mask) }, x, mask)
}

// ForwardDeferred is Forward, recorded in b.
func (m *TCNStack[T]) ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T], mask runtime.Tensor[uint8]) runtime.Tensor[T] {
	for _, block := range m.Blocks {
		x = block.ForwardDeferred(b, x, mask)
	}
	return x
}

// Close releases the stack's memory.
func (m *TCNStack[T]) Close() error { return nn.Close(m) }
