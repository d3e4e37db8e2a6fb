// Package helper has functions that the other packages call: what they do is
// known from the facts about them.
package helper

import (
	"context"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type Tensor = runtime.Tensor[float32]

// Open gives its caller a device.
func Open() (*runtime.Device, error) { return runtime.Open(runtime.WithWorkers(1)) }

// Batch gives its caller a batch.
func Batch(d *runtime.Device) *runtime.Batch { return d.Batch("helper") }

// Layer records and gives what it records.
func Layer(b *runtime.Batch, x Tensor) Tensor {
	return ops.SiLUDeferred(b, ops.GELUDeferred(b, x))
}

// Rate is what an update needs beside its tensors.
type Rate struct {
	One  Tensor
	Skip runtime.Tensor[int32]
}

// Update replaces w and v.
func Update(b *runtime.Batch, r Rate, g, w, v Tensor) (newW, newV Tensor) {
	return ops.SGDDeferred(b, g, r.One, r.One, r.Skip, w, v, 0.1, 0.9, 0, false)
}

// ReadOf records a read-back.
func ReadOf(b *runtime.Batch, x Tensor) *runtime.Readback[float32] { return runtime.Read(b, x) }

// Values takes a read-back.
func Values(r *runtime.Readback[float32]) []float32 {
	v, err := r.Value()
	if err != nil {
		return nil
	}
	return v
}

// Run runs a batch.
func Run(b *runtime.Batch) error { return b.Sync(context.Background()) }

// Name looks at a device.
func Name(d *runtime.Device) string { return d.Name() }

// Close ends a device.
func Close(d *runtime.Device) error { return d.Close() }

// Model keeps a batch and a device.
type Model struct {
	dev   *runtime.Device
	batch *runtime.Batch
	w     Tensor
}

// NewModel keeps what it is given.
func NewModel(d *runtime.Device, b *runtime.Batch) *Model { return &Model{dev: d, batch: b} }

// Step runs the batch of the model.
func (m *Model) Step() error { return m.batch.Sync(context.Background()) }
