package models

import (
	"context"
	"fmt"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// EncoderConfig is the shape of a TextEncoder.
type EncoderConfig struct {
	Vocab int // ids are in [0, Vocab)
	StackConfig
	Out  int  // elements of a vector
	Tanh bool // they are in (-1, 1)
}

// TextEncoder turns a text into a vector: the embedding of its ids, a TCNStack, the mean
// over the positions that the mask counts, and a linear layer, with a tanh behind it if
// asked for. The mean over no position is zero.
//
//	ids               [B, L]
//	mask              [B, L], 0 where the text is padded
//	embedding.weight  [vocab, width]
//	stack.blocks.I.…  see TCNBlock
//	out.weight        [out, width]
//	out.bias          [out]
//	→ y               [B, out]
type TextEncoder[T nn.Float] struct {
	Embedding *nn.Embedding[T]
	Stack     *TCNStack[T]
	Out       *nn.Linear[T]
	tanh      bool
}

// NewTextEncoder returns an encoder whose weights are drawn from a seed. Close it when
// done.
func NewTextEncoder[T nn.Float](d *runtime.Device, c EncoderConfig, seed uint64) (*TextEncoder[T], error) {
	r := nn.NewRand(seed)
	embedding, err := nn.NewEmbedding[T](d, r, c.Vocab, c.Width)
	if err != nil {
		return nil, fmt.Errorf("text encoder: %w", err)
	}
	stack, err := NewTCNStack[T](d, r, c.StackConfig)
	if err != nil {
		return nil, fmt.Errorf("text encoder: %w", undo(err, embedding))
	}
	out, err := nn.NewLinear[T](d, r, c.Width, c.Out)
	if err != nil {
		return nil, fmt.Errorf("text encoder: %w", undo(err, embedding, stack))
	}
	return &TextEncoder[T]{embedding, stack, out, c.Tanh}, nil
}

// Params lists embedding, stack and out.
func (m *TextEncoder[T]) Params() []nn.Named {
	list := nn.Under("embedding", m.Embedding)
	list = append(list, nn.Under("stack", m.Stack)...)
	return append(list, nn.Under("out", m.Out)...)
}

// Forward computes the vectors.
func (m *TextEncoder[T]) Forward(ids runtime.Tensor[int32], mask runtime.Tensor[uint8]) (runtime.Tensor[T], error) {
	return nn.Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, ids, mask) }, ids, mask)
}

// ForwardDeferred is Forward, recorded in b.
func (m *TextEncoder[T]) ForwardDeferred(b *runtime.Batch, ids runtime.Tensor[int32], mask runtime.Tensor[uint8]) runtime.Tensor[T] {
	x := m.Stack.ForwardDeferred(b, m.Embedding.ForwardDeferred(b, ids), mask)
	y := m.Out.ForwardDeferred(b, ops.MaskedMeanDeferred(b, x, mask))
	if m.tanh {
		y = ops.TanhDeferred(b, y)
	}
	return y
}

// lengths of texts that Encode gives the device are multiples of this, so that texts of
// many lengths need few programs.
const paddedTo = 16

// Encode returns the vectors of texts, which it pads to one length and computes as one
// program.
func (m *TextEncoder[T]) Encode(ctx context.Context, texts [][]int32) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	ids, mask := pad(texts)
	length := len(ids) / len(texts)
	d := device(m)
	idsT, err := runtime.FromSlice(d, ids, len(texts), length)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	defer idsT.Close()
	maskT, err := runtime.FromSlice(d, mask, len(texts), length)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	defer maskT.Close()
	b := d.Batch("encode")
	r := runtime.Read(b, m.ForwardDeferred(b, idsT, maskT))
	if err := b.Sync(ctx); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	values, err := r.Value()
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	flat := nn.Widen(values)
	out := make([][]float32, len(texts))
	n := len(flat) / len(texts)
	for i := range out {
		out[i] = flat[i*n : (i+1)*n : (i+1)*n]
	}
	return out, nil
}

// pad returns texts of one length as a matrix, and which positions they have.
func pad(texts [][]int32) (ids []int32, mask []uint8) {
	longest := 1
	for _, text := range texts {
		longest = max(longest, len(text))
	}
	length := (longest + paddedTo - 1) / paddedTo * paddedTo
	ids, mask = make([]int32, len(texts)*length), make([]uint8, len(texts)*length)
	for i, text := range texts {
		copy(ids[i*length:], text)
		for j := range text {
			mask[i*length+j] = 1
		}
	}
	return ids, mask
}

// Close releases the encoder's memory.
func (m *TextEncoder[T]) Close() error { return nn.Close(m) }
