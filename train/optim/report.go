package optim

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/runtime"
)

// ErrNotFinite is what the error of a step wraps that had gradients of NaN or infinity.
var ErrNotFinite = errors.New("a gradient is not finite")

// Report is what a step has to tell. It is there when the batch of the step is complete.
type Report struct {
	Norm    *runtime.Readback[float32] // global norm of the gradients, without the loss scale, before clipping
	Scale   *runtime.Readback[float32] // of the loss in this step; 1 without scaling
	Skipped *runtime.Readback[int32]   // 1 where a gradient was not finite and nothing was changed, else 0

	scaled bool
}

// Err returns an error that wraps ErrNotFinite if the step was skipped and a smaller loss
// scale will not help. With loss scaling a skipped step is usual, and no error, until the
// scale is down to MinScale. Before the batch is submitted it is an error; it waits for a
// batch that runs, and returns the error of one that failed.
func (r *Report) Err() error {
	skipped, err := r.Skipped.Scalar()
	if err != nil || skipped == 0 {
		return err
	}
	scale, err := r.Scale.Scalar()
	if err != nil || r.scaled && scale > MinScale {
		return err
	}
	norm, err := r.Norm.Scalar()
	if err != nil {
		return err
	}
	return fmt.Errorf("optim: the norm of the gradients is %v: %w: the step was skipped and has changed nothing; "+
		"where training has diverged, take a lower rate, a longer warm-up or MaxNorm, and else look for what the loss makes of this batch", norm, ErrNotFinite)
}
