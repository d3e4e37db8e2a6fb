package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// Generate continues a prompt by n ids. cond is the condition, nil for a model without
// one.
func (m *TextDecoder[T]) Generate(ctx context.Context, prompt []int32, cond []float32, n int, s Sampling) (ids []int32, err error) {
	sampler, err := NewSampler(s)
	if err != nil {
		return nil, err
	}
	g, err := m.Start(ctx, prompt, cond)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	for i := range n {
		id, err := sampler.Next(g.Logits())
		if err != nil {
			return ids, fmt.Errorf("generate: id %d: %w", i, err)
		}
		ids = append(ids, id)
		if i == n-1 {
			break
		}
		if err := g.Feed(ctx, id); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// Generator reads a text id by id. It keeps, for each block, the normalised positions
// that later ones look back at, so that an id costs the work of one position however
// long the text is.
type Generator[T nn.Float] struct {
	m      *TextDecoder[T]
	batch  *runtime.Batch
	id     runtime.Tensor[int32] // [1, 1]
	cond   runtime.Tensor[T]     // projected, [1, width]; the zero Tensor without a condition
	rings  []ring[T]
	logits []float32
}

// ring holds the last inputs of a block's convolution, each [1, 1, width].
type ring[T nn.Float] struct {
	slots    []runtime.Tensor[T]
	at       int // the earliest of them
	dilation int
}

// window returns what the taps before the last one see.
func (r *ring[T]) window() []runtime.Tensor[T] {
	var window []runtime.Tensor[T]
	for i := 0; i < len(r.slots); i += r.dilation {
		window = append(window, r.slots[(r.at+i)%len(r.slots)])
	}
	return window
}

// push puts the present position in the place of the earliest.
func (r *ring[T]) push(h runtime.Tensor[T]) error {
	if len(r.slots) == 0 {
		return h.Close()
	}
	err := r.slots[r.at].Close()
	r.slots[r.at] = h
	r.at = (r.at + 1) % len(r.slots)
	return err
}

// last returns what a ring keeps of h [1, n, width], as tensors of one position.
func (r *ring[T]) last(b *runtime.Batch, h runtime.Tensor[T]) []runtime.Tensor[T] {
	n := h.Dim(1)
	if n == 1 {
		return []runtime.Tensor[T]{h}
	}
	var last []runtime.Tensor[T]
	for l := max(0, n-len(r.slots)); l < n; l++ {
		last = append(last, ops.SliceDeferred(b, h, int32(l), 1))
	}
	return last
}

// Start reads a prompt, of at least one id. cond is the condition, nil for a model
// without one. Close the generator when done.
func (m *TextDecoder[T]) Start(ctx context.Context, prompt []int32, cond []float32) (*Generator[T], error) {
	if len(prompt) == 0 {
		return nil, errors.New("generate: the prompt is empty: give at least one id")
	}
	if m.Cond != nil && cond == nil {
		return nil, errors.New("generate: the model has a condition, and none is given")
	}
	d := device(m)
	g := &Generator[T]{m: m, batch: d.Batch("generate")}
	if err := g.allocate(d, cond); err != nil {
		return nil, fmt.Errorf("generate: %w", errors.Join(err, g.Close()))
	}
	if err := g.read(ctx, d, prompt); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// allocate makes the memory of a generator: rings of the zeros that are before a text.
func (g *Generator[T]) allocate(d *runtime.Device, cond []float32) error {
	var err error
	if g.id, err = runtime.Zeros[int32](d, 1, 1); err != nil {
		return err
	}
	for _, block := range g.m.Stack.Blocks {
		c := block.Conv1.Config()
		r := ring[T]{dilation: c.Dilation}
		for range c.PadLeft {
			zeros, err := runtime.Zeros[T](d, 1, 1, c.In)
			if err != nil {
				return err
			}
			r.slots = append(r.slots, zeros)
		}
		g.rings = append(g.rings, r)
	}
	if cond == nil {
		return nil
	}
	if g.cond, err = runtime.FromSlice(d, nn.Round[T](cond), 1, len(cond)); err != nil || g.m.Cond == nil {
		return err
	}
	given := g.cond
	defer given.Close()
	g.cond, err = g.m.Cond.Forward(given)
	return err
}

// read computes the prompt, or of a long one what its last position depends on.
func (g *Generator[T]) read(ctx context.Context, d *runtime.Device, prompt []int32) error {
	prompt = prompt[max(0, len(prompt)-g.m.Stack.ReceptiveField()):]
	ids, err := runtime.FromSlice(d, prompt, 1, len(prompt))
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	defer ids.Close()
	return g.advance(ctx, ids)
}

// Logits returns those of the next id. They are valid until the next Feed.
func (g *Generator[T]) Logits() []float32 { return g.logits }

// Feed reads the next id. After an error, such as an id outside the vocabulary, the
// generator is where it was.
func (g *Generator[T]) Feed(ctx context.Context, id int32) error {
	if err := g.id.Write([]int32{id}); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return g.advance(ctx, g.id)
}

// advance reads ids [1, n], at the start of the text if n is more than 1, as one
// program.
func (g *Generator[T]) advance(ctx context.Context, ids runtime.Tensor[int32]) error {
	m, b := g.m, g.batch
	x := m.embed(b, ids, g.cond)
	made := make([][]runtime.Tensor[T], len(g.rings))
	for i, block := range m.Stack.Blocks {
		r := &g.rings[i]
		h := block.Norm.ForwardDeferred(b, x)
		made[i] = r.last(b, h)
		for _, t := range made[i] {
			b.Keep(t)
		}
		x = block.rest(b, x, block.activation(b, h, r.window()), runtime.Tensor[uint8]{})
	}
	logits := runtime.Read(b, m.Out.ForwardDeferred(b, ops.SliceDeferred(b, x, int32(ids.Dim(1)-1), 1)))
	err := b.Sync(ctx)
	if err == nil {
		var values []T
		values, err = logits.Value()
		g.logits = nn.Widen(values)
	}
	if err != nil {
		for _, t := range slices.Concat(made...) {
			t.Close() // an error if the batch has failed: then it never was
		}
		return fmt.Errorf("generate: %w", err)
	}
	var errs []error
	for i := range made {
		for _, t := range made[i] {
			errs = append(errs, g.rings[i].push(t))
		}
	}
	return errors.Join(errs...)
}

// Close releases the generator's memory.
func (g *Generator[T]) Close() error {
	list := []runtime.Handle{g.id.Untyped(), g.cond.Untyped()}
	for _, r := range g.rings {
		list = append(list, runtime.Handles(r.slots)...)
	}
	var errs []error
	for _, h := range list {
		if err := h.Close(); !errors.Is(err, runtime.ErrStale) { // which it is where it was never made
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
