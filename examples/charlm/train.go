package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// The training schedule: a fixed number of steps, the learning rate warmed up
// linearly and then let down along a cosine.
const (
	steps       = 6000
	batchSize   = 256
	peakRate    = 2e-3
	warmup      = 200
	weightDecay = 0.01
	beta2       = 0.99
)

// rateAt is the learning rate of a step, from 1.
func rateAt(step int) float32 {
	if step < warmup {
		return peakRate * float32(step) / warmup
	}
	x := float64(step-warmup) / (steps - warmup)
	return float32(peakRate * (0.02 + 0.98*(1+math.Cos(math.Pi*x))/2))
}

// trainer runs the steps.
type trainer struct {
	m     *model
	text  []int32
	rng   *rand.Rand
	batch *runtime.Batch

	ids, targets []int32
	idsT, tgtT   runtime.Tensor[int32]
	counter      runtime.Tensor[int32] // of the steps, on the device
	weights      []runtime.Operand
}

func newTrainer(m *model, text []int32, seed uint64) (*trainer, error) {
	t := &trainer{
		m: m, text: text,
		rng:     rand.New(rand.NewPCG(seed, 1)),
		batch:   m.dev.Batch("train-step"),
		ids:     make([]int32, batchSize*contextLen),
		targets: make([]int32, batchSize),
		weights: make([]runtime.Operand, len(m.params())),
	}
	var err error
	if t.idsT, err = runtime.FromSlice(m.dev, t.ids, batchSize, contextLen); err != nil {
		return nil, err
	}
	if t.tgtT, err = runtime.FromSlice(m.dev, t.targets, batchSize); err != nil {
		return nil, err
	}
	t.counter, err = runtime.Zeros[int32](m.dev)
	return t, err
}

// step draws a batch of windows, and records and runs one step of AdamW on them
// as one program. n, from 1, is its place in the schedule. It returns the loss
// before the step.
func (t *trainer) step(ctx context.Context, n int) (float32, error) {
	for i := range batchSize {
		at := t.rng.IntN(len(t.text) - contextLen)
		copy(t.ids[i*contextLen:], t.text[at:at+contextLen])
		t.targets[i] = t.text[at+contextLen]
	}
	if err := t.idsT.Write(t.ids); err != nil {
		return 0, err
	}
	if err := t.tgtT.Write(t.targets); err != nil {
		return 0, err
	}
	b, m := t.batch, t.m
	loss := m.loss(b, t.idsT, t.tgtT)
	params := m.params()
	for i, p := range params {
		t.weights[i] = p.w
	}
	grads := b.Grad(loss, t.weights...)
	t.counter = ops.StepCountDeferred(b, m.noSkip, t.counter)
	for i, p := range params {
		g := runtime.As[float32](grads[i])
		p.w, p.m, p.v = ops.AdamWDeferred(b, g, m.one, m.one, m.noSkip, t.counter, p.w, p.m, p.v,
			rateAt(n), ops.AdamWBeta1, beta2, ops.AdamWEps, p.decay)
	}
	value := runtime.Read(b, loss)
	if err := b.Sync(ctx); err != nil {
		return 0, err
	}
	v, err := value.Value()
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// heldOut is the mean loss over every position of text that has a whole context
// before it.
func (m *model) heldOut(ctx context.Context, text []int32) (float64, error) {
	b := m.dev.Batch("held-out")
	sum, count := 0.0, 0
	for at := 0; at+contextLen < len(text); at += batchSize {
		n := min(batchSize, len(text)-contextLen-at)
		ids := make([]int32, 0, n*contextLen)
		targets := make([]int32, 0, n)
		for i := at; i < at+n; i++ {
			ids = append(ids, text[i:i+contextLen]...)
			targets = append(targets, text[i+contextLen])
		}
		idsT, err := runtime.FromSlice(m.dev, ids, n, contextLen)
		if err != nil {
			return 0, err
		}
		targetsT, err := runtime.FromSlice(m.dev, targets, n)
		if err != nil {
			return 0, err
		}
		loss := runtime.Read(b, m.loss(b, idsT, targetsT))
		if err := b.Sync(ctx); err != nil {
			return 0, err
		}
		v, err := loss.Value()
		if err != nil {
			return 0, err
		}
		sum += float64(v[0]) * float64(n)
		count += n
		idsT.Close()
		targetsT.Close()
	}
	if count == 0 {
		return 0, fmt.Errorf("charlm: the held-out text has %d characters, need more than %d", len(text), contextLen)
	}
	return sum / float64(count), nil
}

// sample continues the given context by n characters, drawn from the model.
func (m *model) sample(ctx context.Context, context []int32, n int, seed uint64) ([]int32, error) {
	rng := rand.New(rand.NewPCG(seed, 2))
	b := m.dev.Batch("sample")
	window := append([]int32(nil), context[len(context)-contextLen:]...)
	ids, err := runtime.FromSlice(m.dev, window, 1, contextLen)
	if err != nil {
		return nil, err
	}
	defer ids.Close()
	var out []int32
	for range n {
		if err := ids.Write(window); err != nil {
			return nil, err
		}
		p := runtime.Read(b, ops.SoftmaxDeferred(b, m.forward(b, ids)))
		if err := b.Sync(ctx); err != nil {
			return nil, err
		}
		probs, err := p.Value()
		if err != nil {
			return nil, err
		}
		next := draw(probs, rng.Float32())
		out = append(out, next)
		window = append(window[1:], next)
	}
	return out, nil
}

// draw picks the index at which the running sum of p passes u.
func draw(p []float32, u float32) int32 {
	for i, q := range p {
		if u -= q; u < 0 {
			return int32(i)
		}
	}
	return int32(len(p) - 1)
}
