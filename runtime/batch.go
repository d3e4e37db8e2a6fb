package runtime

import "context"

// Batch records deferred calls and runs them as one program. It is for one
// goroutine at a time. After Sync, Submit or Discard it records the next
// program.
type Batch struct {
	d    *Device
	name string
	run  *run  // nil until something is recorded
	err  error // of a batch that has no device

	// Arguments of the call that is being recorded.
	ins    []Handle
	params []Scalar
	types  []ParamType
	free   []int64
	frees  []int32 // ends of the caller's axes in free
	outs   []DType
	site   sitePCs
	nodes  []int32
	dims   []int64
	starts []int32
	unify  unifier
	grad   gradient

	marking bool // within Checkpoint

	// Of one immediate call on tensors of a sketch: its error, and its result then.
	lone   bool
	failed error
	poison *value
}

// Batch returns a batch that records into a program of its own. The name is for
// errors and traces.
func (d *Device) Batch(name string) *Batch { return &Batch{d: d, name: name} }

// Name returns the batch's name.
func (b *Batch) Name() string { return b.name }

// Device returns the device that the batch is for.
func (b *Batch) Device() *Device { return b.d }

// deviceless returns why a batch without a device has none.
func (b *Batch) deviceless() error {
	if b.err != nil {
		return b.err
	}
	return opError("batch", ErrDevice, "the batch has no device: make it with Device.Batch of an open device")
}

// Err returns the first error of the calls recorded so far.
func (b *Batch) Err() error {
	if b.d == nil {
		return b.deviceless()
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if b.run == nil && b.d.sketch == nil {
		return nil
	}
	return b.current().err
}

// current returns the run that the batch records into. The caller holds d.mu.
func (b *Batch) current() *run {
	if s := b.d.sketch; s != nil {
		return s.run
	}
	if b.run == nil {
		b.run = b.d.newRun(b.name)
	}
	return b.run
}

// Keep makes results of this batch outlive it: once the batch is done they are
// resident, until Close. A resident tensor stays what it is.
func (b *Batch) Keep(tensors ...Operand) {
	if b.d == nil {
		return
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	r := b.current()
	for _, t := range tensors {
		if r.err != nil {
			return
		}
		v, err := untyped(t).resolve(b.d)
		if err == nil {
			err = r.keep(v)
		}
		if err != nil {
			b.failAt(r, "keep", err)
		}
	}
}

// untyped is Untyped without a dynamic call, so that the operand need not be
// moved to the heap.
func untyped(t Operand) Handle {
	switch t := t.(type) {
	case Tensor[float32]:
		return t.h
	case Tensor[Float16]:
		return t.h
	case Tensor[BFloat16]:
		return t.h
	case Tensor[int32]:
		return t.h
	case Tensor[uint8]:
		return t.h
	case Handle:
		return t
	}
	return Handle{}
}

func (r *run) keep(v *value) *refusal {
	if v.state == stateResident {
		return nil
	}
	if v.run != r {
		return &refusal{ErrPending, "belongs to batch \"" + v.run.batch + "\": keep it there"}
	}
	v.keep = true
	r.slots[r.slotFor(v.buf)].keep = true
	return nil
}

// failAt makes a refusal the first error of the run.
func (b *Batch) failAt(r *run, op string, why *refusal) {
	e := why.named(op, "the tensor")
	e.Batch = b.name
	var pcs sitePCs
	callers(&pcs)
	e.Site = pcs.user()
	r.fail(e)
}

// Sync runs the recorded program and waits until it is complete. It returns the
// first error of recording, or the fault that a kernel found; then no result of
// the batch exists and no tensor has changed. If ctx ends first, Sync returns
// its error and the work goes on.
func (b *Batch) Sync(ctx context.Context) error {
	r, err := b.take()
	if r == nil {
		return err
	}
	return b.traced(ctx, "sync", func(ctx context.Context) error { return b.d.execute(ctx, r) })
}

// Submit starts the recorded program and does not wait. Kept results may be
// used in the next batch at once; Read and Close of tensors and Value of
// read-backs wait for the work that they need.
func (b *Batch) Submit() *Fence {
	r, err := b.take()
	if r == nil {
		return &Fence{done: finishedWith(b.name, err)}
	}
	done := r.done
	b.d.start(r)
	return &Fence{done: done}
}

// Discard drops what was recorded. Tensors that recorded in-place operations
// had replaced are valid again.
func (b *Batch) Discard() {
	if r, _ := b.take(); r != nil {
		b.d.mu.Lock()
		defer b.d.mu.Unlock()
		b.d.release(r)
		r.fail(&Error{Op: "batch", Batch: b.name, Err: ErrDiscarded, Text: "discarded before it was submitted"})
		b.d.abandon(r)
	}
}

// take returns the recorded run, nil if there is none, and lets go of it.
func (b *Batch) take() (*run, error) {
	if b.d == nil {
		return nil, b.deviceless()
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if b.d.sketch != nil {
		return nil, &Error{Op: "sync", Batch: b.name, Err: ErrLazy, Text: "what a graph holds is evaluated, not synced: call graph.Eval"}
	}
	r := b.run
	b.run = nil
	if r == nil && b.d.closed {
		return nil, &Error{Op: "sync", Batch: b.name, Err: ErrClosed}
	}
	return r, nil
}

// Fence is the completion of a submitted batch.
type Fence struct{ done *completion }

// Wait waits until the batch is complete and returns its error. It may be
// called any number of times. If ctx ends first, it returns its error and the
// work goes on.
func (f *Fence) Wait(ctx context.Context) error { return f.done.wait(ctx) }

// Done returns a channel that is closed when the batch is complete.
func (f *Fence) Done() <-chan struct{} { return f.done.done }

func (c *completion) wait(ctx context.Context) error {
	select {
	case <-c.done: // also when ctx has ended as well
		return c.err
	default:
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return &Error{Op: "wait", Batch: c.batch, Err: ctx.Err(), Text: ctx.Err().Error() + "; the work goes on"}
	}
}

// failed reports whether the run is complete and failed.
func (c *completion) failed() bool {
	select {
	case <-c.done:
		return c.err != nil
	default:
		return false
	}
}

// finishedWith returns a completion with a result.
func finishedWith(batch string, err error) *completion {
	c := &completion{batch: batch, done: make(chan struct{}), err: err}
	c.state.Store(submitted)
	close(c.done)
	return c
}
