//go:build cgo

package peers

import (
	"context"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

// ours is the contestant that runs the generated kernels.
type ours struct {
	dev   *runtime.Device
	batch *runtime.Batch
	in    *inputs
	step  step
}

func newOurs(dev *runtime.Device) *ours { return &ours{dev: dev, batch: dev.Batch("peers")} }

func (o *ours) prepare(c *benchCase) ([]float64, bool, error) {
	o.in = &inputs{dev: o.dev}
	o.step = c.build(o.in, c.Dims)
	if o.in.err != nil {
		return nil, true, o.in.err
	}
	results, err := o.call()
	if err != nil {
		return nil, true, err
	}
	shown := results
	if o.in.state != nil {
		shown = o.in.state()
	}
	var magnitudes []float64
	for _, t := range shown {
		m, err := magnitude(t.Untyped())
		if err != nil {
			return nil, true, err
		}
		magnitudes = append(magnitudes, m)
	}
	return magnitudes, true, closeAll(results)
}

// call runs the case once and returns its results.
func (o *ours) call() ([]runtime.Operand, error) {
	results := o.step(o.batch)
	o.batch.Keep(results...)
	return results, o.batch.Sync(context.Background())
}

func closeAll(list []runtime.Operand) error {
	for _, t := range list {
		if err := t.Untyped().Close(); err != nil {
			return err
		}
	}
	return nil
}

func (o *ours) measure(turn time.Duration) (time.Duration, error) {
	best := time.Hour
	for begin := time.Now(); time.Since(begin) < turn; {
		start := time.Now()
		results, err := o.call()
		if err == nil {
			err = closeAll(results)
		}
		if err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}

func (o *ours) drop() error {
	o.in.close()
	err := o.in.err
	o.in, o.step = nil, nil
	return err
}
