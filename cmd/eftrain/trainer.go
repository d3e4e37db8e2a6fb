package main

import (
	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/config"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
)

// newTrainer returns the trainer of the kind of the run.
func (j *job[T]) newTrainer() (*train.Trainer, error) {
	s := &j.c.Schedule
	c := train.Config{
		Schedule:   schedule.Cosine{Peak: s.Peak, Floor: s.Floor, Warmup: s.Warmup, Steps: s.Steps},
		Accumulate: j.c.Optimiser.Accumulate,
	}
	switch j.c.Kind {
	case config.Encoder:
		kd, err := j.kd()
		if err != nil {
			return nil, err
		}
		t, err := train.NewEncoderTrainer(j.models.Encoder, kd, c)
		if err != nil {
			return nil, err
		}
		return t.Trainer, nil
	case config.Decoder:
		ce, err := j.ce()
		if err != nil {
			return nil, err
		}
		t, err := train.NewDecoderTrainer(j.models.Decoder, ce, c)
		if err != nil {
			return nil, err
		}
		return t.Trainer, nil
	}
	return j.newCombined(c)
}

func (j *job[T]) newCombined(c train.Config) (*train.Trainer, error) {
	kd, err := j.kd()
	if err != nil {
		return nil, err
	}
	ce, err := j.ce()
	if err != nil {
		return nil, err
	}
	t, err := train.NewCombinedTrainer(j.models.Encoder, j.models.Decoder, kd, ce, train.Ratio{A: j.c.Loss.A, B: j.c.Loss.B}, c)
	if err != nil {
		return nil, err
	}
	return t.Trainer, nil
}

// kd is what an encoder learns.
func (j *job[T]) kd() (train.KD, error) {
	data, err := j.data.Loader(j.data.Train, true)
	return train.KD{Alpha: float32(j.c.Loss.Alpha), Beta: float32(j.c.Loss.Beta), Data: data, Optim: j.optim()}, err
}

// ce is what a decoder learns.
func (j *job[T]) ce() (train.CE, error) {
	if j.data.Text != nil {
		d := &j.c.Data
		data, err := dataset.NewRandomWindows(j.data.Text, d.Window, d.Batch, uint64(j.c.Seed))
		return train.CE{Data: data, Optim: j.optim()}, err
	}
	data, err := j.data.Loader(j.data.Train, true)
	return train.CE{Data: data, Optim: j.optim()}, err
}

func (j *job[T]) optim() optim.Config {
	o := &j.c.Optimiser
	c := optim.Config{Groups: train.Groups(float32(o.Decay)), MaxNorm: float32(o.Clip)}
	c.Method = optim.AdamW{Beta1: float32(o.Beta1), Beta2: float32(o.Beta2), Eps: float32(o.Eps)}
	if o.Method == "sgd" {
		c.Method = optim.SGD{Momentum: float32(o.Momentum), Nesterov: o.Nesterov}
	}
	if j.c.Precision == "f16" {
		c.Scaling = &optim.Scaling{Initial: float32(o.LossScale), Interval: o.ScaleInterval}
	}
	return c
}
