package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
)

// KDResult is how far an encoder is from its teacher, as means over rows.
type KDResult struct {
	Loss, Cosine, MSE float64
	Rows              int
}

// Values are the results under the names that metrics of validation have.
func (r KDResult) Values() map[string]float64 {
	return map[string]float64{"validation_kd_loss": r.Loss, "validation_cosine": r.Cosine, "validation_mse": r.MSE}
}

// CEResult is how well a decoder foretells ids: the mean cross entropy of an id, in nats.
type CEResult struct {
	Loss float64
	IDs  int
}

// Perplexity is e to the loss.
func (r CEResult) Perplexity() float64 { return math.Exp(r.Loss) }

// Values are the results under the names that metrics of validation have.
func (r CEResult) Values() map[string]float64 {
	return map[string]float64{"validation_ce_loss": r.Loss, "validation_perplexity": r.Perplexity()}
}

// EvaluateEncoder measures an encoder, as KD does with alpha and beta, on what is left of
// the loader's epoch: all of it, where that is new.
func EvaluateEncoder[T nn.Float](ctx context.Context, m *models.TextEncoder[T], data *dataset.Loader, alpha, beta float32) (KDResult, error) {
	means, rows, err := evaluate(ctx, distillation(m, KD{Alpha: alpha, Beta: beta}), data)
	return KDResult{means["kd_loss"], means["cosine"], means["mse"], rows}, err
}

// EvaluateDecoder measures a decoder, as CE does, on what is left of the loader's epoch:
// all of it, where that is new.
func EvaluateDecoder[T nn.Float](ctx context.Context, m *models.TextDecoder[T], data *dataset.Loader) (CEResult, error) {
	means, ids, err := evaluate(ctx, &predict[T]{m}, data)
	return CEResult{means["ce_loss"], ids}, err
}

// evaluate returns means over all terms of the rest of an epoch, and their number.
func evaluate(ctx context.Context, o objective, data *dataset.Loader) (map[string]float64, int, error) {
	if err := o.check(); err != nil {
		return nil, 0, fmt.Errorf("evaluate: %w", err)
	}
	b := device(o).Batch("evaluate")
	defer b.Discard()
	sums, total := map[string]float64{}, 0
	var m dataset.Batch
	for {
		err := data.Next(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("evaluate: %w", err)
		}
		terms := o.terms(&m)
		if terms == 0 {
			continue
		}
		r, err := o.record(b, &m)
		if err != nil {
			return nil, 0, fmt.Errorf("evaluate: %w", err)
		}
		err = b.Sync(ctx)
		if err = errors.Join(err, r.close()); err == nil {
			err = r.addTo(sums, float64(terms))
		}
		if err != nil {
			return nil, 0, fmt.Errorf("evaluate: %w", err)
		}
		total += terms
	}
	if total == 0 {
		return nil, 0, errors.New("evaluate: there is nothing to measure: prediction needs samples of two ids at least")
	}
	for name := range sums {
		sums[name] /= float64(total)
	}
	return sums, total, nil
}
