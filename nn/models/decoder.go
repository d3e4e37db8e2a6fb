package models

import (
	"fmt"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// DecoderConfig is the shape of a TextDecoder.
type DecoderConfig struct {
	Vocab int // ids are in [0, Vocab)
	StackConfig
	Cond int // elements of the condition; 0 for a model without one
}

// TextDecoder predicts, for each position of a text, the id behind it: the embedding of
// the ids, plus a projection of the text's condition at every position, a TCNStack, and
// a linear layer to the vocabulary.
//
//	ids               [B, L]
//	cond              [B, cond]; the zero Tensor where the model has none
//	mask              [B, L], 0 where the text is padded; the zero Tensor masks nothing
//	embedding.weight  [vocab, width]
//	cond.weight       [width, cond]
//	cond.bias         [width]
//	stack.blocks.I.…  see TCNBlock
//	out.weight        [vocab, width]
//	out.bias          [vocab]
//	→ logits          [B, L, vocab]
type TextDecoder[T nn.Float] struct {
	Embedding *nn.Embedding[T]
	Cond      *nn.Linear[T] // nil for a model without a condition
	Stack     *TCNStack[T]
	Out       *nn.Linear[T]
}

// NewTextDecoder returns a decoder whose weights are drawn from a seed. Close it when
// done.
func NewTextDecoder[T nn.Float](d *runtime.Device, c DecoderConfig, seed uint64) (*TextDecoder[T], error) {
	r := nn.NewRand(seed)
	m := &TextDecoder[T]{}
	var err error
	if m.Embedding, err = nn.NewEmbedding[T](d, r, c.Vocab, c.Width); err != nil {
		return nil, fmt.Errorf("text decoder: %w", err)
	}
	if c.Cond != 0 {
		if m.Cond, err = nn.NewLinear[T](d, r, c.Cond, c.Width); err != nil {
			return nil, fmt.Errorf("text decoder: condition: %w", undo(err, m.Embedding))
		}
	}
	if m.Stack, err = NewTCNStack[T](d, r, c.StackConfig); err != nil {
		return nil, fmt.Errorf("text decoder: %w", undo(err, m.front()...))
	}
	if m.Out, err = nn.NewLinear[T](d, r, c.Width, c.Vocab); err != nil {
		return nil, fmt.Errorf("text decoder: %w", undo(err, append(m.front(), m.Stack)...))
	}
	return m, nil
}

// front returns the layers before the stack.
func (m *TextDecoder[T]) front() []nn.Module {
	if m.Cond == nil {
		return []nn.Module{m.Embedding}
	}
	return []nn.Module{m.Embedding, m.Cond}
}

// Params lists embedding, cond, stack and out.
func (m *TextDecoder[T]) Params() []nn.Named {
	list := nn.Under("embedding", m.Embedding)
	if m.Cond != nil {
		list = append(list, nn.Under("cond", m.Cond)...)
	}
	list = append(list, nn.Under("stack", m.Stack)...)
	return append(list, nn.Under("out", m.Out)...)
}

// Forward computes the logits.
func (m *TextDecoder[T]) Forward(ids runtime.Tensor[int32], cond runtime.Tensor[T], mask runtime.Tensor[uint8]) (runtime.Tensor[T], error) {
	return nn.Immediate(func(b *runtime.Batch) runtime.Tensor[T] { return m.ForwardDeferred(b, ids, cond, mask) }, ids, cond, mask)
}

// ForwardDeferred is Forward, recorded in b.
func (m *TextDecoder[T]) ForwardDeferred(b *runtime.Batch, ids runtime.Tensor[int32], cond runtime.Tensor[T], mask runtime.Tensor[uint8]) runtime.Tensor[T] {
	x := m.embed(b, ids, m.project(b, cond))
	return m.Out.ForwardDeferred(b, m.Stack.ForwardDeferred(b, x, mask))
}

// project records what the condition adds to each position, [B, width]. A model without
// a condition takes one that is of this shape already.
func (m *TextDecoder[T]) project(b *runtime.Batch, cond runtime.Tensor[T]) runtime.Tensor[T] {
	if m.Cond == nil {
		return cond
	}
	return m.Cond.ForwardDeferred(b, cond)
}

// embed records the input of the stack.
func (m *TextDecoder[T]) embed(b *runtime.Batch, ids runtime.Tensor[int32], projected runtime.Tensor[T]) runtime.Tensor[T] {
	x := m.Embedding.ForwardDeferred(b, ids)
	if projected.Untyped().IsZero() {
		return x
	}
	return ops.AddBroadcast2D3DDeferred(b, x, projected)
}

// Close releases the decoder's memory.
func (m *TextDecoder[T]) Close() error { return nn.Close(m) }
