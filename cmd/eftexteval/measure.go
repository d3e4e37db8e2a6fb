package main

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/internal/textrun"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/config"
	"github.com/kernelgen/kgen/train/eval"
)

// measureIn measures models that compute in T.
func measureIn[T nn.Float](ctx context.Context, c *config.Config, data *textrun.Data, dev *runtime.Device, o *options) (r *result, err error) {
	m, err := textrun.NewModels[T](dev, c, data.Sizes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	r = &result{
		Run: c.Out, Kind: c.Kind, Checkpoint: o.checkpoint, Data: c.Data.Validation,
		Precision: c.Precision, Parameters: c.Parameters(data.Sizes),
	}
	if r.Checkpoint == "" {
		r.Checkpoint = filepath.Join(c.Out, textrun.CheckpointFile)
	}
	if r.Data == "" {
		r.Data, r.Holdout = c.Data.Train, c.Data.Holdout
	}
	if err := m.Load(r.Checkpoint); err != nil {
		return nil, err
	}
	text, err := r.survey(data)
	if err != nil {
		return nil, err
	}
	if m.Encoder != nil {
		if r.KD, err = distillation(ctx, c, m.Encoder, data, dev, o.ks); err != nil {
			return nil, err
		}
	}
	if m.Decoder != nil {
		r.CE, err = prediction(ctx, m.Decoder, data, text)
	}
	return r, err
}

// extent is how much text the ids are that are to be foretold: all but the first of each
// row that count.
type extent struct{ characters, bytes int }

// survey goes through the batches and notes lengths.
func (r *result) survey(data *textrun.Data) (extent, error) {
	var e extent
	loader, err := data.ValidationLoader()
	if err != nil {
		return e, err
	}
	var lengths []int
	err = each(loader, func(b *dataset.Batch) error {
		for row := range b.Rows {
			ids, mask := b.IDs[row*b.Width:(row+1)*b.Width], b.Mask[row*b.Width:(row+1)*b.Width]
			length := 0
			var foretold []int32
			for i, counts := range mask {
				length += int(counts)
				if i > 0 && counts == 1 {
					foretold = append(foretold, ids[i])
				}
			}
			lengths = append(lengths, length)
			r.IDs += length
			if err := e.add(data, foretold); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	r.Samples = len(lengths)
	if data.IsText() {
		return e, nil
	}
	at := eval.Percentiles(lengths, 0, 5, 25, 50, 75, 95, 99, 100)
	r.Lengths = &lengthsOf{at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]}
	return e, nil
}

// add counts the text of ids. A character counts where its first byte is.
func (e *extent) add(data *textrun.Data, ids []int32) error {
	if data.Tokenizer == nil {
		return nil
	}
	text, err := data.Tokenizer.Decode(ids)
	for _, c := range []byte(text) {
		e.bytes++
		if utf8.RuneStart(c) {
			e.characters++
		}
	}
	return err
}

// each hands over the batches of an epoch.
func each(loader *dataset.Loader, do func(b *dataset.Batch) error) error {
	var b dataset.Batch
	for {
		err := loader.Next(&b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(&b)
		}
		if err != nil {
			return err
		}
	}
}

// distillation compares an encoder's vectors with the teacher's.
func distillation[T nn.Float](ctx context.Context, c *config.Config, m *models.TextEncoder[T], data *textrun.Data, dev *runtime.Device, ks []int) (*kd, error) {
	loader, err := data.ValidationLoader()
	if err != nil {
		return nil, err
	}
	var predicted, targets [][]float32
	batch := dev.Batch("vectors")
	err = each(loader, func(b *dataset.Batch) error {
		flat, err := vectors(ctx, batch, m, b)
		for row := range b.Rows {
			if err == nil {
				predicted = append(predicted, flat[row*b.Dim:(row+1)*b.Dim])
				targets = append(targets, append([]float32(nil), b.Target[row*b.Dim:(row+1)*b.Dim]...))
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	v, err := eval.Compare(predicted, targets)
	if err != nil {
		return nil, err
	}
	at := eval.Percentiles(v.Cosines, 5, 50, 95)
	r := &kd{
		Loss: v.Loss(c.Loss.Alpha, c.Loss.Beta), Cosine: v.Cosine(), P5: at[0], P50: at[1], P95: at[2],
		MSE: v.MSE, Retrieval: map[string]float64{}, ks: ks,
	}
	for _, k := range ks {
		r.Retrieval[strconv.Itoa(k)] = v.Retrieval(k)
	}
	return r, nil
}

// vectors returns those of a batch [rows, dim].
func vectors[T nn.Float](ctx context.Context, batch *runtime.Batch, m *models.TextEncoder[T], b *dataset.Batch) ([]float32, error) {
	ids, err := runtime.FromSlice(batch.Device(), b.IDs, b.Rows, b.Width)
	if err != nil {
		return nil, err
	}
	defer ids.Close()
	mask, err := runtime.FromSlice(batch.Device(), b.Mask, b.Rows, b.Width)
	if err != nil {
		return nil, err
	}
	defer mask.Close()
	read := runtime.Read(batch, m.ForwardDeferred(batch, ids, mask))
	if err := batch.Sync(ctx); err != nil {
		return nil, err
	}
	values, err := read.Value()
	return nn.Widen(values), err
}

// prediction measures what a decoder foretells.
func prediction[T nn.Float](ctx context.Context, m *models.TextDecoder[T], data *textrun.Data, text extent) (*ce, error) {
	loader, err := data.ValidationLoader()
	if err != nil {
		return nil, err
	}
	got, err := train.EvaluateDecoder(ctx, m, loader)
	if err != nil {
		return nil, err
	}
	r := &ce{Loss: got.Loss, Perplexity: got.Perplexity(), IDs: got.IDs}
	if text.characters > 0 {
		nats := got.Loss * float64(got.IDs)
		r.NatsPerCharacter, r.BitsPerByte = nats/float64(text.characters), nats/float64(text.bytes)/math.Ln2
	}
	return r, nil
}
