package optim

import (
	"fmt"
	"math"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// The scale of the loss stays between these. Below MinScale there is nothing to gain
// that a smaller loss would not give; above MaxScale gradients of bfloat16, which do not
// overflow, would have a scale that does.
const (
	MinScale = 1
	MaxScale = 1 << 24
)

// Scaling is dynamic loss scaling.
type Scaling struct {
	Initial  float32 // first scale, a power of two, so that scaling rounds nothing
	Interval int     // steps without an overflow after which the scale is doubled
}

// DefaultScaling returns a first scale of 65536, doubled after 2000 good steps.
func DefaultScaling() *Scaling { return &Scaling{1 << 16, 2000} }

func (s *Scaling) check() error {
	frac, _ := math.Frexp(float64(s.Initial))
	if frac != 0.5 || s.Initial < MinScale || s.Initial > MaxScale {
		return fmt.Errorf("optim: the initial loss scale is %v, must be a power of two in [%d, %d]", s.Initial, MinScale, MaxScale)
	}
	if s.Interval < 1 || s.Interval > 1<<24 { // exact in float32
		return fmt.Errorf("optim: the loss scale is to be doubled after %d steps, must be in [1, %d]", s.Interval, 1<<24)
	}
	return nil
}

// scaler is the state of loss scaling on the device.
type scaler struct {
	interval float32
	scale    *chain[float32]         // []
	good     *chain[float32]         // [], steps since the scale was last changed
	counts   runtime.Tensor[float32] // [2, 1]: 1 for a step that counts, 0 for one that is skipped
}

func newScaler(d *runtime.Device, s *Scaling) (*scaler, error) {
	scale, err := runtime.FromSlice(d, []float32{s.Initial})
	if err != nil {
		return nil, err
	}
	good, err := runtime.Zeros[float32](d)
	if err != nil {
		scale.Close()
		return nil, err
	}
	counts, err := runtime.FromSlice(d, []float32{1, 0}, 2, 1)
	if err != nil {
		scale.Close()
		good.Close()
		return nil, err
	}
	return &scaler{float32(s.Interval), newChain(scale), newChain(good), counts}, nil
}

// next records what a step makes of the scale. It comes before all updates in place, so
// that the lookup, which could fault, asks for no copies of what they change.
func (s *scaler) next(b *runtime.Batch, skip runtime.Tensor[int32]) {
	counts := ops.SumDeferred(b, ops.EmbeddingDeferred(b, skip, s.counts))
	good := ops.MulDeferred(b, counts, ops.AddScalarDeferred(b, s.good.now(), 1))
	grow := ops.ClampDeferred(b, ops.AddScalarDeferred(b, good, 1-s.interval), 0, 1) // 1 after interval good steps
	s.good.set(b, ops.SubDeferred(b, good, ops.ScaleDeferred(b, grow, s.interval)))
	kept := ops.AddScalarDeferred(b, ops.ScaleDeferred(b, counts, 0.5), 0.5) // half of it, if skipped
	scale := ops.MulDeferred(b, s.scale.now(), ops.AddDeferred(b, kept, grow))
	s.scale.set(b, ops.ClampDeferred(b, scale, MinScale, MaxScale))
}

func (s *scaler) close() {
	s.scale.close()
	s.good.close()
	s.counts.Close()
}
