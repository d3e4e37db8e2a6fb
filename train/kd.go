package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

// KD is distillation: an encoder learns the vectors that a teacher gave its texts (Hinton,
// Vinyals and Dean, Distilling the Knowledge in a Neural Network, 2015). The loss of a row
// is
//
//	Alpha·(1 − cosine) + Beta·MSE
//
// of its vector and the target, and that of a micro-batch the mean over its rows.
type KD struct {
	Alpha, Beta float32 // not negative, and not both 0
	Data        Batches // samples whose targets have as many elements as the encoder gives
	Optim       optim.Config
}

// EncoderTrainer trains a TextEncoder by distillation. Its metrics are kd_loss, cosine and
// mse.
type EncoderTrainer[T nn.Float] struct{ *Trainer }

// NewEncoderTrainer returns a trainer of all parameters of m at step 0. Close it when
// done; the model stays the caller's.
func NewEncoderTrainer[T nn.Float](m *models.TextEncoder[T], kd KD, c Config) (*EncoderTrainer[T], error) {
	t, err := newTrainer(c, &phase{steps: 1, objective: distillation(m, kd), data: kd.Data, config: kd.Optim})
	if err != nil {
		return nil, err
	}
	return &EncoderTrainer[T]{t}, nil
}

// distil is the objective of KD.
type distil[T nn.Float] struct {
	m           *models.TextEncoder[T]
	alpha, beta float32
}

func distillation[T nn.Float](m *models.TextEncoder[T], kd KD) *distil[T] {
	return &distil[T]{m, kd.Alpha, kd.Beta}
}

func (o *distil[T]) check() error {
	for _, v := range []float32{o.alpha, o.beta} {
		if !(v >= 0) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("distillation: alpha and beta are %v and %v, must be finite and not negative", o.alpha, o.beta)
		}
	}
	if o.alpha == 0 && o.beta == 0 {
		return errors.New("distillation: alpha and beta are both 0, which leaves no loss")
	}
	return nil
}

func (o *distil[T]) params() []nn.Named { return nn.Under("encoder", o.m) }

func (o *distil[T]) dropouts() []dropout { return dropouts(o.m.Stack) }

func (o *distil[T]) terms(m *dataset.Batch) int { return m.Rows }

func (o *distil[T]) record(b *runtime.Batch, m *dataset.Batch) (*recorded, error) {
	if out := o.m.Out.Params()[0].Shape()[0]; m.Dim != out {
		return nil, fmt.Errorf("distillation: targets have %d elements, the encoder gives %d", m.Dim, out)
	}
	r, d := &recorded{}, b.Device()
	ids := upload(r, d, m.IDs, m.Rows, m.Width)
	mask := upload(r, d, m.Mask, m.Rows, m.Width)
	teacher := upload(r, d, nn.Round[T](m.Target), m.Rows, m.Dim)
	if r.err != nil {
		return nil, errors.Join(r.err, r.close())
	}
	mse, cosine, loss := ops.KDLossDeferred(b, o.m.ForwardDeferred(b, ids, mask), teacher, o.alpha, o.beta)
	r.loss = ops.MeanDeferred(b, loss)
	r.add(b, "kd_loss", r.loss)
	r.add(b, "cosine", ops.MeanDeferred(b, cosine))
	r.add(b, "mse", ops.MeanDeferred(b, mse))
	return r, nil
}

// dropouts lists those of a stack.
func dropouts[T nn.Float](s *models.TCNStack[T]) []dropout {
	var list []dropout
	for _, d := range s.Dropouts() {
		list = append(list, d)
	}
	return list
}
