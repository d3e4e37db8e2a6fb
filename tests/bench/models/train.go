//go:build cgo

package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
)

type tensor = runtime.Tensor[float32]

// contest is a model and the size of a batch of texts for it.
type contest struct {
	Name      string
	Vocab     int // 0 for a stack alone, on vectors
	Width     int
	Hidden    int
	Kernel    int
	Dilations []int
	Batch     int
	Length    int
}

var contests = []contest{
	{"char", 90, 128, 256, 3, models.Doubling(6, 32), 32, 128},
	{"tcn", 0, 256, 512, 3, models.Doubling(12, 32), 32, 128},
	{"small", 90, 32, 64, 3, models.Doubling(4, 8), 8, 64},
}

const rate = 1e-3

// trainer takes steps of AdamW.
type trainer struct {
	batch     *runtime.Batch
	params    []nn.Named
	weights   int
	m, v      []tensor
	step      runtime.Tensor[int32]
	skip      runtime.Tensor[int32]
	one       tensor
	vectors   tensor
	ids       runtime.Tensor[int32]
	targets   runtime.Tensor[int32]
	loss      func(b *runtime.Batch) tensor
	gradients []runtime.Operand
}

// trainer makes the model and its batch.
func (c contest) trainer(d *runtime.Device) (*trainer, error) {
	t := &trainer{batch: d.Batch(c.Name)}
	if err := c.model(d, t); err != nil {
		return nil, err
	}
	t.gradients = make([]runtime.Operand, len(t.params))
	t.m, t.v = make([]tensor, len(t.params)), make([]tensor, len(t.params))
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	for i, p := range t.params {
		t.weights += p.Len()
		var err error
		t.m[i], err = runtime.Zeros[float32](d, p.Master().Shape()...)
		keep(err)
		t.v[i], err = runtime.Zeros[float32](d, p.Master().Shape()...)
		keep(err)
	}
	var err error
	t.step, err = runtime.Zeros[int32](d)
	keep(err)
	t.skip, err = runtime.Zeros[int32](d)
	keep(err)
	t.one, err = runtime.FromSlice(d, []float32{1})
	keep(err)
	return t, errors.Join(errs...)
}

// model makes the parameters and the loss: the mean cross-entropy of a decoder, or the
// mean square of a stack.
func (c contest) model(d *runtime.Device, t *trainer) error {
	s := models.StackConfig{Width: c.Width, Hidden: c.Hidden, Kernel: c.Kernel, Dilations: c.Dilations}
	if c.Vocab == 0 {
		m, err := models.NewTCNStack[float32](d, nn.NewRand(1), s)
		if err != nil {
			return err
		}
		t.params = m.Params()
		t.loss = func(b *runtime.Batch) tensor {
			return ops.MeanDeferred(b, ops.SquareDeferred(b, m.ForwardDeferred(b, t.vectors, runtime.Tensor[uint8]{})))
		}
		t.vectors, err = runtime.FromSlice(d, c.vectors(), c.Batch, c.Length, c.Width)
		return err
	}
	m, err := models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: c.Vocab, StackConfig: s}, 1)
	if err != nil {
		return err
	}
	if t.ids, err = runtime.FromSlice(d, c.ids(0), c.Batch, c.Length); err != nil {
		return err
	}
	if t.targets, err = runtime.FromSlice(d, c.ids(1), c.Batch, c.Length); err != nil {
		return err
	}
	t.params = m.Params()
	t.loss = func(b *runtime.Batch) tensor {
		logits := m.ForwardDeferred(b, t.ids, tensor{}, runtime.Tensor[uint8]{})
		loss, _ := ops.CrossEntropyMeanDeferred(b, logits, t.targets, ops.CrossEntropyMeanIgnoreIndex, 0)
		return loss
	}
	return nil
}

// ids are texts from a position on; models.py has the same rule.
func (c contest) ids(from int) []int32 {
	var list []int32
	for i := range c.Batch {
		for l := range c.Length {
			k := l + from
			list = append(list, int32((i*i+7*k+k*k/5)%c.Vocab))
		}
	}
	return list
}

// vectors are the input of a stack; models.py has the same rule.
func (c contest) vectors() []float32 {
	list := make([]float32, c.Batch*c.Length*c.Width)
	for i := range list {
		list[i] = float32(i%1013%17)/8 - 1
	}
	return list
}

// run takes a step and returns the loss before it.
func (t *trainer) run(ctx context.Context) (float32, error) {
	b := t.batch
	loss := t.loss(b)
	for i, p := range t.params {
		t.gradients[i] = p.Operand()
	}
	grads := b.Grad(loss, t.gradients...)
	t.step = ops.StepCountDeferred(b, t.skip, t.step)
	for i, p := range t.params {
		var w tensor
		w, t.m[i], t.v[i] = ops.AdamWDeferred(b, runtime.As[float32](grads[i]), t.one, t.one, t.skip, t.step, p.Master(), t.m[i], t.v[i],
			rate, ops.AdamWBeta1, ops.AdamWBeta2, ops.AdamWEps, 0)
		p.Update(b, w, runtime.Handle{})
	}
	r := runtime.Read(b, loss)
	if err := b.Sync(ctx); err != nil {
		return 0, err
	}
	return r.Scalar()
}

// trace prints the time of a step by kernel, and what of it is the host's.
func (t *trainer) trace(d *runtime.Device, w io.Writer) error {
	const n = 10
	tr, err := d.StartTrace()
	if err != nil {
		return err
	}
	for range n {
		if _, err := t.run(context.Background()); err != nil {
			return err
		}
	}
	tr.Stop()
	type row struct {
		kernel string
		calls  int
		time   time.Duration
	}
	var rows []row
	at := map[string]int{}
	device, record := time.Duration(0), time.Duration(0)
	for _, o := range tr.Ops() {
		k := o.Op + " " + o.Command
		if _, ok := at[k]; !ok {
			at[k] = len(rows)
			rows = append(rows, row{kernel: k})
		}
		r := &rows[at[k]]
		r.calls++
		r.time += o.Device
		device += o.Device
		record += o.Record
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.time, a.time) })
	for _, r := range rows {
		fmt.Fprintf(w, "  %6.1f %%  %8.3f ms  %4d calls  %s\n", 100*r.time.Seconds()/device.Seconds(), r.time.Seconds()*1e3/n, r.calls/n, r.kernel)
	}
	host := time.Duration(0)
	for _, p := range tr.Programs() {
		host += p.Launched - p.Recorded
	}
	fmt.Fprintf(w, "  on the device %.2f ms a step; recording its calls %.3f ms, all that the host does before the launch %.3f ms\n",
		device.Seconds()*1e3/n, record.Seconds()*1e3/n, host.Seconds()*1e3/n)
	return nil
}
