package train

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
)

// Ratio is how many steps the phases have in turn: A, then B, then A again.
type Ratio struct{ A, B int }

// CombinedTrainer trains an encoder and a decoder that share their last block: phase A is
// distillation of the encoder, phase B prediction by the decoder, whose condition, if it
// has one, is the teacher's vector. Its metrics are those of EncoderTrainer and of
// DecoderTrainer, with the phase.
//
// Phase A changes the parameters of the encoder, phase B those of the decoder, and both
// those of the shared block. Each phase has its own optimiser, so the moments of the
// shared block are kept twice: each pair follows the gradients of one loss, and rests
// while the other phase runs.
type CombinedTrainer[T nn.Float] struct{ *Trainer }

// NewCombinedTrainer returns a trainer of two models that ShareLastBlock has joined. Close
// it when done; the models stay the caller's.
func NewCombinedTrainer[T nn.Float](e *models.TextEncoder[T], d *models.TextDecoder[T], a KD, b CE, ratio Ratio, c Config) (*CombinedTrainer[T], error) {
	if last(e.Stack) == nil || last(e.Stack) != last(d.Stack) {
		return nil, errors.New("train: encoder and decoder have no last block in common: join them with ShareLastBlock")
	}
	t, err := newTrainer(c,
		&phase{name: "A", steps: ratio.A, objective: distillation(e, a), data: a.Data, config: a.Optim},
		&phase{name: "B", steps: ratio.B, objective: &predict[T]{d}, data: b.Data, config: b.Optim})
	if err != nil {
		return nil, err
	}
	return &CombinedTrainer[T]{t}, nil
}

// ShareLastBlock puts the encoder's last block in the place of the decoder's, which is
// closed. Both stacks must have the same width.
func ShareLastBlock[T nn.Float](e *models.TextEncoder[T], d *models.TextDecoder[T]) error {
	from, to := last(e.Stack), last(d.Stack)
	if from == nil || to == nil {
		return errors.New("train: a stack without blocks has no last one to share")
	}
	if from == to {
		return nil
	}
	if a, b := width(from), width(to); a != b {
		return fmt.Errorf("train: the encoder's stack is %d wide and the decoder's %d: only blocks of one width can be shared", a, b)
	}
	d.Stack.Blocks[len(d.Stack.Blocks)-1] = from
	return to.Close()
}

// last returns the last block of a stack, nil if it has none.
func last[T nn.Float](s *models.TCNStack[T]) *models.TCNBlock[T] {
	if len(s.Blocks) == 0 {
		return nil
	}
	return s.Blocks[len(s.Blocks)-1]
}

func width[T nn.Float](b *models.TCNBlock[T]) int { return b.Conv1.Config().In }
