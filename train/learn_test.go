package train_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/optim"
)

const seeds = 3

// An encoder comes nearer to its teacher on sentences that it has seen.
func TestEncoderLearns(t *testing.T) {
	for seed := range uint64(seeds) {
		d := open(t)
		e := encoder[float32](t, d, seed)
		measure := func() train.KDResult {
			return must[train.KDResult](t)(train.EvaluateEncoder(context.Background(), e, loader(t, sentences(t, 32), 16, 0), 1, 10))
		}
		before := measure()
		tr := must[*train.EncoderTrainer[float32]](t)(train.NewEncoderTrainer(e, train.KD{
			Alpha: 1, Beta: 10, Data: loader(t, sentences(t, 32), 8, seed+1), Optim: adamw[float32](),
		}, config(40, 1)))
		run(t, tr.Trainer)
		after := measure()
		t.Logf("seed %d: loss %.3f, then %.3f; cosine %.3f, then %.3f", seed, before.Loss, after.Loss, before.Cosine, after.Cosine)
		if !(after.Loss < 0.7*before.Loss && after.Cosine > before.Cosine+0.3) {
			t.Errorf("seed %d: from %+v to %+v", seed, before, after)
		}
	}
}

// A decoder of bytes learns from random windows, in float16, what comes after in a part of
// the book that it has not seen.
func TestDecoderLearns(t *testing.T) {
	for seed := range uint64(seeds) {
		d := open(t)
		m := writer[runtime.Float16](t, d, seed)
		ids := text(t, 100000)
		held := must[*dataset.Windows](t)(dataset.NewWindows(ids[95000:], 500, 500))
		measure := func() train.CEResult {
			return must[train.CEResult](t)(train.EvaluateDecoder(context.Background(), m, must[*dataset.Loader](t)(dataset.NewLoader(held, dataset.Config{Batch: 10}))))
		}
		before := measure()
		tr := must[*train.DecoderTrainer[runtime.Float16]](t)(train.NewDecoderTrainer(m, train.CE{
			Data:  must[*dataset.RandomWindows](t)(dataset.NewRandomWindows(ids[:95000], 48, 8, seed)),
			Optim: adamw[runtime.Float16](),
		}, config(120, 1)))
		run(t, tr.Trainer)
		after := measure()
		t.Logf("seed %d: %.3f nats per byte, then %.3f", seed, before.Loss, after.Loss)
		if before.IDs != 4999 || after.Loss > 3 { // 3.2 is what counts of single bytes give
			t.Errorf("seed %d: from %+v to %+v", seed, before, after)
		}
	}
}

// Cosine rises over the phases A and cross entropy falls over the phases B, though both
// train the shared block.
func TestCombinedLearns(t *testing.T) {
	for seed := range uint64(seeds) {
		d := open(t)
		e, m := encoder[float32](t, d, seed), speaker[float32](t, d, seed+10)
		if err := train.ShareLastBlock(e, m); err != nil {
			t.Fatal(err)
		}
		measure := func() (train.KDResult, train.CEResult) {
			kd := must[train.KDResult](t)(train.EvaluateEncoder(context.Background(), e, loader(t, sentences(t, 32), 16, 0), 1, 10))
			return kd, must[train.CEResult](t)(train.EvaluateDecoder(context.Background(), m, loader(t, sentences(t, 32), 16, 0)))
		}
		kd, ce := measure()
		c := optim.Config{Method: optim.DefaultAdamW(), MaxNorm: 1}
		tr := must[*train.CombinedTrainer[float32]](t)(train.NewCombinedTrainer(e, m,
			train.KD{Alpha: 1, Beta: 10, Data: loader(t, sentences(t, 32), 8, seed+1), Optim: c},
			train.CE{Data: loader(t, sentences(t, 32), 8, seed+2), Optim: c},
			train.Ratio{A: 10, B: 10}, config(80, 1)))
		run(t, tr.Trainer)
		kd2, ce2 := measure()
		t.Logf("seed %d: cosine %.3f, then %.3f; cross entropy %.3f, then %.3f", seed, kd.Cosine, kd2.Cosine, ce.Loss, ce2.Loss)
		if !(kd2.Cosine > kd.Cosine+0.2 && ce2.Loss < 0.8*ce.Loss) {
			t.Errorf("seed %d: from %+v, %+v to %+v, %+v", seed, kd, ce, kd2, ce2)
		}
	}
}

// run takes all steps of a trainer.
func run(t *testing.T, tr *train.Trainer) {
	t.Helper()
	defer tr.Close()
	if err := tr.Run(context.Background(), train.Session{}); err != nil {
		t.Fatal(err)
	}
}

// A decoder without a condition learns from samples, padded to one width.
func TestDecoderLearnsFromSamples(t *testing.T) {
	d := open(t)
	m := must[*models.TextDecoder[float32]](t)(models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: tokens, StackConfig: shape}, 1))
	measure := func() float64 {
		return must[train.CEResult](t)(train.EvaluateDecoder(context.Background(), m, loader(t, sentences(t, 16), 16, 0))).Loss
	}
	before := measure()
	tr := must[*train.DecoderTrainer[float32]](t)(train.NewDecoderTrainer(m, train.CE{Data: loader(t, sentences(t, 16), 8, 1), Optim: adamw[float32]()}, config(40, 1)))
	run(t, tr.Trainer)
	if after := measure(); !(after < 0.8*before) {
		t.Errorf("the loss went from %v to %v", before, after)
	}
}
