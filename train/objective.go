package train

import (
	"errors"
	"io"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// Batches gives micro-batches: *dataset.Loader, epoch after epoch, and
// *dataset.RandomWindows, without end.
type Batches interface {
	// Next reads the next one, or returns io.EOF, once at the end of each epoch.
	Next(*dataset.Batch) error
	// State is where the next one stands, for Restore.
	State() dataset.State
	Restore(dataset.State) error
}

// objective is a loss that training lowers: a mean over terms, of which a micro-batch has
// some.
type objective interface {
	check() error       // of what it is configured with
	params() []nn.Named // that the loss depends on, under names of their own
	dropouts() []dropout
	terms(m *dataset.Batch) int
	record(b *runtime.Batch, m *dataset.Batch) (*recorded, error)
}

// device returns that of what an objective trains.
func device(o objective) *runtime.Device { return o.params()[0].Master().Device() }

// withDropout records the loss of a micro-batch in training.
func withDropout(o objective, b *runtime.Batch, m *dataset.Batch) (*recorded, error) {
	enable := func(on bool) {
		for _, d := range o.dropouts() {
			d.Enable(on)
		}
	}
	enable(true)
	defer enable(false)
	return o.record(b, m)
}

// dropout is an nn.Dropout of any type.
type dropout interface {
	Enable(on bool)
	Seed() uint64
	SetSeed(seed uint64)
	Offset() uint64
	SetOffset(offset uint64)
}

// recorded is the loss of a micro-batch, recorded and not run.
type recorded struct {
	loss   runtime.Tensor[float32] // [], the mean over the terms
	means  []mean
	inputs []runtime.Handle
	err    error // of uploads
}

// mean is a mean over the terms, under the name that metrics have.
type mean struct {
	name  string
	value *runtime.Readback[float32]
}

// add has a mean read back with the batch.
func (r *recorded) add(b *runtime.Batch, name string, value runtime.Tensor[float32]) {
	r.means = append(r.means, mean{name, runtime.Read(b, value)})
}

// upload brings what a loss reads to the device; the first error stays in r.
func upload[E runtime.Element](r *recorded, d *runtime.Device, data []E, shape ...int) runtime.Tensor[E] {
	t, err := runtime.FromSlice(d, data, shape...)
	if err != nil {
		r.err = errors.Join(r.err, err)
		return t
	}
	r.inputs = append(r.inputs, t.Untyped())
	return t
}

// close releases what was uploaded.
func (r *recorded) close() error {
	var errs []error
	for _, h := range r.inputs {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// addTo adds the means of a complete micro-batch to sums, with its share.
func (r *recorded) addTo(sums map[string]float64, share float64) error {
	for _, m := range r.means {
		v, err := m.value.Scalar()
		if err != nil {
			return err
		}
		sums[m.name] += share * float64(v)
	}
	return nil
}

// counted is the number of ids that a mask does not leave out.
func counted(mask []uint8) int {
	n := 0
	for _, m := range mask {
		if m != 0 {
			n++
		}
	}
	return n
}

// next reads the next micro-batch that has terms, over the ends of epochs.
func next(data Batches, o objective, m *dataset.Batch) error {
	for epochs := 0; epochs < 2; {
		switch err := data.Next(m); {
		case errors.Is(err, io.EOF):
			epochs++
		case err != nil:
			return err
		case o.terms(m) > 0:
			return nil
		}
	}
	return errors.New("no micro-batch of a whole epoch has anything to learn from: prediction needs samples of two ids at least")
}
