package config

import (
	"math"
	"slices"
)

// A Key is what can be given in a file, in its table, and as a flag.
type Key struct {
	Table, Name string   // the table is "" for keys that come first in a file
	Doc         string   // what it means, without a full stop
	Kinds       []string // of models that have it; nil: all

	value value
}

// Default returns the value that holds if the key is not given, as TOML; "" if there is none.
func (k Key) Default() string {
	if k.required() {
		return ""
	}
	return k.value.format()
}

// Domain says what values the key takes: "number", "text" or a list of words.
func (k Key) Domain() string { return k.value.domain() }

// IsBool reports whether the key is true or false.
func (k Key) IsBool() bool { _, ok := k.value.(truth); return ok }

// path is the key's name with its table.
func (k Key) path() string {
	if k.Table == "" {
		return k.Name
	}
	return k.Table + "." + k.Name
}

// title is the key as messages have it.
func (k Key) title() string {
	if k.Table == "" {
		return k.Name
	}
	return "[" + k.Table + "] " + k.Name
}

func (k Key) required() bool {
	return slices.Contains([]string{"kind", "out", "data.train", "schedule.steps"}, k.path())
}

// of reports whether models of a kind have the key.
func (k Key) of(kind string) bool { return k.Kinds == nil || slices.Contains(k.Kinds, kind) }

// Keys returns all keys, in the order of a file.
func Keys() []Key {
	c := Default()
	return c.keys()
}

// Tables are what keys are in, in the order of a file, with what they are about.
var Tables = []struct{ Name, Doc string }{
	{"", "The run"},
	{"data", "What is learned from"},
	{"model", "The shape of the model, of both models of a combined one"},
	{"optimiser", "How weights are changed"},
	{"schedule", "The learning rate of each step"},
	{"loss", "What is made small"},
	{"log", "What the run leaves on its way"},
}

// The limits of sizes. They keep products of a few of them within 63 bits.
const (
	maxChannels = 1 << 16
	maxIDs      = 1 << 20 // of a sample and of a vocabulary
	maxSteps    = math.MaxInt32
)

// keys binds the table of keys to the fields of c.
func (c *Config) keys() []Key {
	var (
		teacher = []string{Encoder, Combined}
		writer  = []string{Decoder, Combined}
		both    = []string{Combined}
		d, m, o = &c.Data, &c.Model, &c.Optimiser
		s, l, g = &c.Schedule, &c.Loss, &c.Log
		inf     = math.Inf(1)
	)
	return []Key{
		{"", "kind", "what is trained: an encoder of texts into a teacher's vectors, a decoder that predicts text, or both combined", nil,
			word{&c.Kind, []string{Encoder, Decoder, Combined}}},
		{"", "out", "folder of the run, made if it is not there: metrics, checkpoint, report", nil, text{&c.Out}},
		{"", "seed", "of the weights, the order of the data, dropout and the samples", nil, whole{&c.Seed, 0, math.MaxInt64}},
		{"", "device", "what computes", nil, word{&c.Device, []string{"cpu", "metal", "cuda"}}},
		{"", "workers", "threads of the CPU; 0: one for each processor; results do not depend on it", nil, whole{&c.Workers, 0, 1024}},
		{"", "precision", "type that layers compute in; weights and their updates are f32 always", nil, word{&c.Precision, []string{"f32", "f16", "bf16"}}},

		{"data", "train", "file to learn from: text (.txt), or samples (.efb, .jsonl), with targets for an encoder", nil, text{&d.Train}},
		{"data", "validation", "file of the same form to validate with; none: the part of train that holdout says", nil, text{&d.Validation}},
		{"data", "holdout", "last part of train that is not learned from, where there is no validation file", nil, number{&d.Holdout, 0, 1, true}},
		{"data", "tokenizer", "tokenizer.json whose ids the data has or gets; none: see vocabulary", nil, text{&d.Tokenizer}},
		{"data", "vocabulary", "where there is no tokenizer: tokens of one that is trained on the text, of which 256 are the bytes, or how many ids the samples know", nil, whole{&d.Vocabulary, 1, maxIDs}},
		{"data", "window", "ids of a piece of text, which are drawn from anywhere in it", []string{Decoder}, whole{&d.Window, 1, maxIDs}},
		{"data", "widths", "widths of batches of samples, rising: each sample goes where it is padded least; none: that of the longest", nil, rising{&d.Widths, maxIDs}},
		{"data", "truncate", "cut samples that are longer than the last width; else they are an error", nil, truth{&d.Truncate}},
		{"data", "batch", "samples, or pieces of text, of a micro-batch", nil, whole{&d.Batch, 1, maxIDs}},

		{"model", "width", "channels between blocks", nil, whole{&m.Width, 1, maxChannels}},
		{"model", "hidden", "channels within a block", nil, whole{&m.Hidden, 1, maxChannels}},
		{"model", "kernel", "ids that a convolution sees", nil, whole{&m.Kernel, 1, 1024}},
		{"model", "blocks", "of the stack", nil, whole{&m.Blocks, 1, 1024}},
		{"model", "dilation", "largest distance of the ids that a convolution sees: it doubles from block to block, from 1, and begins again behind this", nil, whole{&m.Dilation, 1, maxIDs}},
		{"model", "dropout", "probability with which a channel is left out in training", nil, number{&m.Dropout, 0, 0.95, false}},
		{"model", "tanh", "puts the elements of a vector into (-1, 1)", teacher, truth{&m.Tanh}},
		{"model", "embeddings", "safetensors file whose embedding.weight [vocabulary width] the embeddings begin with; none: they are drawn from N(0, 1)", nil, text{&m.Embeddings}},

		{"optimiser", "method", "of the updates", nil, word{&o.Method, []string{"adamw", "sgd"}}},
		{"optimiser", "beta1", "decay of AdamW's mean of gradients", nil, number{&o.Beta1, 0, 0.999999, false}},
		{"optimiser", "beta2", "decay of AdamW's mean of their squares", nil, number{&o.Beta2, 0, 0.999999, false}},
		{"optimiser", "eps", "what AdamW adds to the root of that", nil, number{&o.Eps, 0, 1, true}},
		{"optimiser", "momentum", "of sgd", nil, number{&o.Momentum, 0, 0.999999, false}},
		{"optimiser", "nesterov", "lets sgd look ahead along the momentum", nil, truth{&o.Nesterov}},
		{"optimiser", "decay", "weight decay, of weights but not of biases and norms", nil, number{&o.Decay, 0, 1000, false}},
		{"optimiser", "clip", "norm that all gradients together are clipped to; 0 does not clip", nil, number{&o.Clip, 0, inf, false}},
		{"optimiser", "accumulate", "micro-batches of a step", nil, whole{&o.Accumulate, 1, maxIDs}},
		{"optimiser", "loss_scale", "first scale of the loss, a power of two, where precision is f16", nil, whole{&o.LossScale, 1, 1 << 24}},
		{"optimiser", "scale_interval", "steps without overflow after which that is doubled", nil, whole{&o.ScaleInterval, 1, 1 << 24}},

		{"schedule", "steps", "of the whole run", nil, whole{&s.Steps, 1, maxSteps}},
		{"schedule", "warmup", "first steps, in which the rate rises from 0 to the peak", nil, whole{&s.Warmup, 0, maxSteps}},
		{"schedule", "peak", "highest learning rate", nil, number{&s.Peak, 0, inf, true}},
		{"schedule", "floor", "rate of the last step, to which it falls along a cosine", nil, number{&s.Floor, 0, inf, false}},

		{"loss", "alpha", "factor of 1 - cosine to the teacher's vector", teacher, number{&l.Alpha, 0, inf, false}},
		{"loss", "beta", "factor of the mean squared error to it", teacher, number{&l.Beta, 0, inf, false}},
		{"loss", "a", "steps of the encoder in a turn", both, whole{&l.A, 1, maxSteps}},
		{"loss", "b", "steps of the decoder that follow them", both, whole{&l.B, 1, maxSteps}},

		{"log", "validate", "steps from validation to validation, with a sample of text; 0: after the last step only", nil, whole{&g.Validate, 0, maxSteps}},
		{"log", "checkpoint", "steps from checkpoint to checkpoint; 0: at the end and when the run is stopped only", nil, whole{&g.Checkpoint, 0, maxSteps}},
		{"log", "export", "type of the weights alone that are written at the end, to weights.safetensors", nil, word{&g.Export, []string{"none", "f32", "f16", "bf16"}}},
		{"log", "trace", "steps whose operations are timed for the report; 0: none", nil, whole{&g.Trace, 0, 1000}},
		{"log", "sample", "ids of a sample; 0: none", writer, whole{&g.Sample, 0, maxIDs}},
		{"log", "prompt", "what a sample continues; none: the beginning of the validation data", writer, text{&g.Prompt}},
		{"log", "temperature", "of a sample: less than 1 is nearer to the likeliest text, 0 is that", writer, number{&g.Temperature, 0, 100, false}},
		{"log", "top_p", "the likeliest ids that a sample is drawn from have this probability together", writer, number{&g.TopP, 0, 1, false}},
	}
}
