package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/metrics"
)

// validate measures the models on what is held out, and lets the decoder write.
func (j *job[T]) validate(ctx context.Context, step int) (metrics.Record, error) {
	r := metrics.Record{Step: step, Values: map[string]float64{}, Texts: map[string]string{}}
	if j.models.Encoder != nil {
		data, err := j.data.ValidationLoader()
		if err != nil {
			return r, err
		}
		kd, err := train.EvaluateEncoder(ctx, j.models.Encoder, data, float32(j.c.Loss.Alpha), float32(j.c.Loss.Beta))
		if err != nil {
			return r, err
		}
		maps.Copy(r.Values, kd.Values())
	}
	if j.models.Decoder == nil {
		return r, nil
	}
	data, err := j.data.ValidationLoader()
	if err != nil {
		return r, err
	}
	ce, err := train.EvaluateDecoder(ctx, j.models.Decoder, data)
	if err != nil {
		return r, err
	}
	maps.Copy(r.Values, ce.Values())
	if j.c.Log.Sample > 0 {
		r.Texts["sample"], err = j.sample(ctx)
	}
	return r, err
}

// promptIDs is the number of ids that a sample continues where no prompt is given.
const promptIDs = 32

// sample lets the decoder write: behind the prompt, or the beginning of what is held out,
// whose teacher's vector is the condition where the model has one.
func (j *job[T]) sample(ctx context.Context) (string, error) {
	var first dataset.Sample
	if err := j.data.Validation.Read(0, &first); err != nil {
		return "", err
	}
	prompt, cond := first.IDs[:min(len(first.IDs), promptIDs)], first.Target
	about := ""
	if j.data.Dim > 0 {
		text, err := j.data.Decode(first.IDs)
		if err != nil {
			return "", err
		}
		about = "Given the vector of: " + strings.ToValidUTF8(text, "\uFFFD") + "\n\n"
		prompt = prompt[:min(len(prompt), 1)]
	}
	if p := j.c.Log.Prompt; p != "" && j.data.Tokenizer != nil {
		prompt = j.data.Tokenizer.Encode(p)
	}
	ids, err := j.models.Decoder.Generate(ctx, prompt, cond, j.c.Log.Sample, models.Sampling{
		Temperature: j.c.Log.Temperature, TopP: j.c.Log.TopP, Seed: uint64(j.c.Seed),
	})
	if err != nil {
		return "", err
	}
	text, err := j.data.Decode(slices.Concat(prompt, ids))
	// The bytes that a model writes need not be characters.
	return about + strings.ToValidUTF8(text, "\uFFFD"), err
}
