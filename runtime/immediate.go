package runtime

import (
	"context"
	"fmt"
)

// Immediate returns a batch for one immediate call on tensors of a device, which
// Finish ends. If a tensor is a pending result of a batch that is not submitted
// yet, or shares memory with one that such a batch updates, everything recorded in that batch so far is run first, and all of its
// results stay in memory until the batch is synced: right, but without the
// planner's reuse of memory and without fusion across that point.
func Immediate(tensors ...Handle) *Batch {
	var d *Device
	var failed error
	for _, h := range tensors {
		if h.v != nil && h.v.dev == nil && failed == nil {
			failed = h.v.err
		}
		if of := h.Device(); d == nil || of != nil && of.sketch != nil {
			d = of
		}
	}
	if failed != nil || d == nil {
		if failed == nil {
			failed = opError("immediate", ErrStale, "an argument is the zero Tensor: it was never made")
		}
		return &Batch{name: "immediate", err: failed}
	}
	b := d.Immediate()
	if d.sketch != nil {
		return b
	}
	for _, h := range tensors {
		if err := h.settle(d); err != nil {
			b.fail(err)
			break
		}
	}
	return b
}

// Immediate returns a batch for one immediate call of an operation without
// tensor inputs; see the function Immediate.
func (d *Device) Immediate() *Batch {
	if d == nil {
		return &Batch{name: "immediate", err: opError("immediate", ErrDevice, "the device is nil")}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.freeBatch); n > 0 {
		b := d.freeBatch[n-1]
		d.freeBatch = d.freeBatch[:n-1]
		return b
	}
	if d.sketch != nil {
		return d.sketch.lone()
	}
	return &Batch{d: d, name: "immediate"}
}

// settle runs the batch that a pending tensor belongs to, or that has recorded
// an update of its memory, as far as it is recorded.
func (h Handle) settle(d *Device) error {
	d.mu.Lock()
	v, why := h.resolve(d)
	if why != nil { // recording the call says it with the argument's name
		d.mu.Unlock()
		return nil
	}
	var r *run
	if v.state == statePending && v.buf.block == nil && v.run.recorded {
		r = v.run
	} else {
		r = v.updater()
	}
	d.mu.Unlock()
	if r == nil {
		return nil
	}
	if err := d.flush(r); err != nil {
		return fmt.Errorf("an argument is a result of a batch that failed: %w", err)
	}
	return nil
}

// fail makes err the first error of the batch.
func (b *Batch) fail(err error) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.current().fail(err)
}

// Finish ends an immediate call: it keeps the results, runs the batch and
// releases it. A call on tensors of a sketch stays recorded.
func Finish(b *Batch, results ...Handle) error {
	if b.d == nil {
		return b.deviceless()
	}
	var err error
	if b.lone {
		err = b.failed
		if err == nil {
			err = b.Err()
		}
		b.failed, b.poison = nil, nil
	} else {
		b.keepAll(results)
		err = b.Sync(context.Background())
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.d.freeBatch = append(b.d.freeBatch, b)
	return err
}

func (b *Batch) keepAll(results []Handle) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	r := b.current()
	for _, h := range results {
		if r.err != nil {
			return
		}
		v, why := h.resolve(b.d)
		if why == nil {
			why = r.keep(v)
		}
		if why != nil {
			b.failAt(r, "keep", why)
		}
	}
}
