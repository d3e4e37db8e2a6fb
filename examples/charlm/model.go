package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// The size of the model: it sees contextLen characters, each as a vector of
// embedDim numbers.
const (
	contextLen = 16
	embedDim   = 32
	hiddenDim  = 512
)

// param is a weight with the state of its optimiser.
type param struct {
	w, m, v runtime.Tensor[float32]
	decay   float32
}

// model predicts the next character: embedding, LayerNorm, a layer with GELU,
// and a linear layer to the characters.
type model struct {
	dev   *runtime.Device
	vocab int

	embed, gamma, beta, w1, b1, w2, b2 *param

	one, zero runtime.Tensor[float32] // device scalars
	noSkip    runtime.Tensor[int32]
}

// newModel makes a model with weights drawn from the seed.
func newModel(dev *runtime.Device, vocab int, seed uint64) (*model, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &model{dev: dev, vocab: vocab}
	in := contextLen * embedDim
	for _, p := range []struct {
		to    **param
		std   float64 // of the normal distribution; 0 gives the constant
		fill  float32
		decay float32
		shape []int
	}{
		{&m.embed, 1, 0, 0, []int{vocab, embedDim}},
		{&m.gamma, 0, 1, 0, []int{in}},
		{&m.beta, 0, 0, 0, []int{in}},
		{&m.w1, 1 / math.Sqrt(float64(in)), 0, weightDecay, []int{in, hiddenDim}},
		{&m.b1, 0, 0, 0, []int{hiddenDim}},
		{&m.w2, 1 / math.Sqrt(hiddenDim), 0, weightDecay, []int{hiddenDim, vocab}},
		{&m.b2, 0, 0, 0, []int{vocab}},
	} {
		n := 1
		for _, d := range p.shape {
			n *= d
		}
		w := make([]float32, n)
		for i := range w {
			w[i] = p.fill
			if p.std > 0 {
				w[i] = float32(p.std * rng.NormFloat64())
			}
		}
		var err error
		if *p.to, err = newParam(dev, w, p.decay, p.shape); err != nil {
			return nil, err
		}
	}
	var err1, err2 error
	m.one, err1 = runtime.FromSlice(dev, []float32{1})
	m.noSkip, err2 = runtime.FromSlice(dev, []int32{0})
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("charlm: %w, %w", err1, err2)
	}
	return m, nil
}

func newParam(dev *runtime.Device, w []float32, decay float32, shape []int) (*param, error) {
	p := &param{decay: decay}
	zeros := make([]float32, len(w))
	for _, t := range []struct {
		to   *runtime.Tensor[float32]
		data []float32
	}{{&p.w, w}, {&p.m, zeros}, {&p.v, zeros}} {
		var err error
		if *t.to, err = runtime.FromSlice(dev, t.data, shape...); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// params returns the weights in a fixed order.
func (m *model) params() []*param {
	return []*param{m.embed, m.gamma, m.beta, m.w1, m.b1, m.w2, m.b2}
}

// forward records the model: ids[B, contextLen] → logits[B, vocab].
func (m *model) forward(b *runtime.Batch, ids runtime.Tensor[int32]) runtime.Tensor[float32] {
	x := ops.EmbeddingConcatDeferred(b, ids, m.embed.w)
	n, _, _ := ops.LayerNormDeferred(b, x, m.gamma.w, m.beta.w, ops.LayerNormEps)
	h := ops.MatMulBiasGELUNNDeferred(b, n, m.w1.w, m.b1.w)
	return ops.MatMulBiasNNDeferred(b, h, m.w2.w, m.b2.w)
}

// loss records the mean cross-entropy of the targets[B], in nats per character.
func (m *model) loss(b *runtime.Batch, ids, targets runtime.Tensor[int32]) runtime.Tensor[float32] {
	rows, _ := ops.CrossEntropyDeferred(b, m.forward(b, ids), targets, ops.CrossEntropyIgnoreIndex, ops.CrossEntropyLabelSmoothing)
	return ops.MeanDeferred(b, rows)
}
