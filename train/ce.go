package train

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

// CE is prediction of the next id: the loss of a micro-batch is the mean cross entropy, in
// nats, over all ids but the first of each row, without those that the mask leaves out.
type CE struct {
	// Data is texts. Where the decoder has a condition, the targets of the samples are
	// it; else targets are not looked at.
	Data  Batches
	Optim optim.Config
}

// DecoderTrainer trains a TextDecoder by prediction. Its metric is ce_loss.
type DecoderTrainer[T nn.Float] struct{ *Trainer }

// NewDecoderTrainer returns a trainer of all parameters of m at step 0. Close it when
// done; the model stays the caller's.
func NewDecoderTrainer[T nn.Float](m *models.TextDecoder[T], ce CE, c Config) (*DecoderTrainer[T], error) {
	t, err := newTrainer(c, &phase{steps: 1, objective: &predict[T]{m}, data: ce.Data, config: ce.Optim})
	if err != nil {
		return nil, err
	}
	return &DecoderTrainer[T]{t}, nil
}

// predict is the objective of CE.
type predict[T nn.Float] struct{ m *models.TextDecoder[T] }

func (o *predict[T]) check() error { return nil }

func (o *predict[T]) params() []nn.Named { return nn.Under("decoder", o.m) }

func (o *predict[T]) dropouts() []dropout { return dropouts(o.m.Stack) }

func (o *predict[T]) terms(m *dataset.Batch) int {
	n := 0
	for row := range m.Rows {
		n += counted(m.Mask[row*m.Width+1 : (row+1)*m.Width])
	}
	return n
}

func (o *predict[T]) record(b *runtime.Batch, m *dataset.Batch) (*recorded, error) {
	if m.Width < 2 {
		return nil, errors.New("prediction: rows have one id, and none after it to be foretold")
	}
	r, d := &recorded{}, b.Device()
	s := shift(m)
	ids := upload(r, d, s.ids, m.Rows, m.Width-1)
	targets := upload(r, d, s.targets, m.Rows, m.Width-1)
	var mask runtime.Tensor[uint8]
	if s.padded {
		mask = upload(r, d, s.mask, m.Rows, m.Width-1)
	}
	var cond runtime.Tensor[T]
	if o.m.Cond != nil {
		if size := o.m.Cond.Params()[0].Shape()[1]; m.Dim != size {
			r.err = errors.Join(r.err, fmt.Errorf("prediction: the condition has %d elements, samples have targets of %d", size, m.Dim))
		}
		cond = upload(r, d, nn.Round[T](m.Target), m.Rows, m.Dim)
	}
	if r.err != nil {
		return nil, errors.Join(r.err, r.close())
	}
	logits := o.m.ForwardDeferred(b, ids, cond, mask)
	r.loss, _ = ops.CrossEntropyMeanDeferred(b, logits, targets, ops.CrossEntropyMeanIgnoreIndex, 0)
	r.add(b, "ce_loss", r.loss)
	return r, nil
}

// shifted is what a decoder reads of rows, and what it is to foretell, each
// [rows, width-1].
type shifted struct {
	ids, targets []int32
	mask         []uint8 // of ids
	padded       bool    // the mask leaves something out
}

// shift pairs each id with the one after it, which is ignored where the mask leaves it
// out.
func shift(m *dataset.Batch) shifted {
	var s shifted
	for row := range m.Rows {
		from, to := row*m.Width, (row+1)*m.Width
		s.ids = append(s.ids, m.IDs[from:to-1]...)
		s.mask = append(s.mask, m.Mask[from:to-1]...)
		for i := from + 1; i < to; i++ {
			target := m.IDs[i]
			if m.Mask[i] == 0 {
				target = ops.CrossEntropyMeanIgnoreIndex
			}
			s.targets = append(s.targets, target)
		}
	}
	s.padded = counted(s.mask) < len(s.mask)
	return s
}
