package runtime

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// complete takes the result of a program from the backend, and retires it and
// those after it that waited for it: runs are retired in order.
func (d *Device) complete(r *run, res backend.Result) {
	if d.guards {
		r.overrun = r.checkGuards()
	}
	if res.OK() && r.overrun == nil {
		res.Err = r.collect()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.result = res
	r.finished = true
	n := 0
	for n < len(d.queue) && d.queue[n].finished {
		d.retire(d.queue[n])
		n++
	}
	d.queue = append(d.queue[:0], d.queue[n:]...)
	clear(d.queue[len(d.queue) : len(d.queue)+n])
	d.changed.Broadcast()
}

// collect copies what was read into Go memory. The run's memory is still its
// own.
func (r *run) collect() error {
	at := 0
	for i := r.from; i < r.end; i++ {
		if rec := &r.recs[i]; rec.kind == recordRead {
			if err := r.reads[rec.read].fill(r.d, unsafe.Add(r.arena.ptr, r.plan.reads[at])); err != nil {
				return err
			}
			at++
		}
	}
	for i := r.from; i < r.end; i++ {
		if rec := &r.recs[i]; rec.kind == recordRead {
			r.reads[rec.read].show()
		}
	}
	return nil
}

// retire ends a program that the backend is done with.
func (d *Device) retire(r *run) {
	d.stats.Runs++
	d.retired = r.seq
	if t := r.trace; t != nil && t == d.trace.Load() {
		t.note(r)
	}
	err := d.outcome(r)
	if err != nil {
		r.fail(err)
	}
	d.finish(r)
}

// outcome turns the backend's result into an error.
func (d *Device) outcome(r *run) error {
	res := &r.result
	switch {
	case res.Err != nil:
		if d.lost == nil && !errors.Is(res.Err, backend.ErrMemory) {
			d.lost = res.Err
		}
		return &Error{Op: "sync", Batch: r.batch, Err: res.Err, Text: res.Err.Error()}
	case res.Skipped:
		for _, dep := range r.deps {
			if dep.failed() {
				return &Error{Op: "sync", Batch: r.batch, Err: dependency{dep.err},
					Text: "the batch uses a result of one that failed: " + dep.err.Error()}
			}
		}
		return &Error{Op: "sync", Batch: r.batch, Err: ErrDepends}
	case r.overrun != nil:
		return r.overrun
	case res.Fault.Set:
		d.stats.Faults++
		return r.fault(&res.Fault)
	}
	return nil
}

// fault describes what a kernel found, with the call that it belongs to.
func (r *run) fault(f *backend.Fault) error {
	of := r.plan.argument(f)
	rec := &r.recs[r.from+of.at]
	e := &FaultError{Op: rec.op.Name, Value: f.Value, Bound: f.Bound}
	if of.arg < rec.nIn {
		e.Tensor = rec.op.Ins[of.arg].Name
		e.Index = position(r.nodes[r.args[rec.arg+of.arg]].v.shape(), f.Pos)
	} else {
		e.Tensor, e.Index = fmt.Sprintf("tensor %d", f.Tensor), []int64{f.Pos}
	}
	return &Error{Op: rec.op.Name, Arg: e.Tensor, Batch: r.batch, Site: rec.where(), Text: e.Error(), Err: e}
}

// position returns the index of a row-major element position.
func position(dims []int64, pos int64) []int64 {
	index := make([]int64, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] > 0 {
			index[i] = pos % dims[i]
			pos /= dims[i]
		}
	}
	return index
}

// abandon finishes a part that was never handed to the backend.
func (d *Device) abandon(r *run) {
	d.finish(r)
	d.changed.Broadcast()
}

// finish settles the part: what it computed becomes real or is dropped, its
// memory goes back, and whoever waits is told.
func (d *Device) finish(r *run) {
	for i := range r.slots {
		if s := &r.slots[i]; r.outlives(s) && s.buf.writer == r {
			s.buf.writer = nil
		}
	}
	d.freeRun(r)
	switch {
	case r.part:
		d.settlePart(r)
	case r.err == nil:
		d.settle(r)
	default:
		d.rollBack(r)
	}
}

// freeRun gives back what only the execution needed.
func (d *Device) freeRun(r *run) {
	if r.arena.block != nil {
		d.releaseBlock(r.arena)
		r.arena = lease{}
	}
	clear(r.deps)
	r.deps = r.deps[:0]
}

// settlePart makes everything that the part computed available, while the run
// goes on.
func (d *Device) settlePart(r *run) {
	done := r.partial
	r.part, r.partial = false, nil
	d.dropInstance(r)
	if r.err == nil {
		for i := range r.slots {
			if s := &r.slots[i]; !s.external && s.buf.block != nil {
				s.external = true
				if !r.letGone {
					s.buf.open++
				}
				r.slotOf[s.buf] = int32(i)
			}
		}
		for i := range r.swaps {
			s := &r.swaps[i]
			s.new.committed = s.new.committed || s.old.before == stateResident || s.old.committed
		}
		r.from = r.end
	} else {
		r.dropPart(d)
	}
	done.err = r.err
	done.state.Store(submitted)
	close(done.done)
	d.changed.Broadcast()
}

// dropPart takes away the memory of results that were not computed.
func (r *run) dropPart(d *Device) {
	for i := range r.slots {
		if s := &r.slots[i]; !s.external && s.buf.block != nil {
			d.releaseBlock(s.buf.lease)
			s.buf.lease = lease{}
		}
	}
}

// settle ends a run whose work is done.
func (d *Device) settle(r *run) {
	for i := range r.swaps {
		s := &r.swaps[i]
		d.closeHandle(s.old)
		d.unpin(s.old)
	}
	for _, v := range r.values {
		switch {
		case !v.open:
		case !v.keep:
			d.closeHandle(v)
		case v.state == stateReplaced: // by a later run
			v.before = stateResident
		default:
			v.state = stateResident
		}
		v.run = nil
		d.unpin(v)
	}
	d.end(r)
}

// rollBack ends a run that failed: what it replaced is valid again, its results
// are not.
func (d *Device) rollBack(r *run) {
	for i := len(r.swaps) - 1; i >= 0; i-- {
		s := &r.swaps[i]
		if s.new.committed {
			d.closeHandle(s.old)
		} else {
			d.restore(s.old)
		}
		d.unpin(s.old)
	}
	for _, v := range r.values {
		switch {
		case !v.open:
		case v.committed && v.state == stateReplaced:
			v.before = stateResident
		case v.committed:
			v.state = stateResident
		case v.state == stateReplaced:
			v.before, v.err = stateFailed, r.err
		default:
			v.state, v.err = stateFailed, r.err
			d.closeHandle(v)
		}
		v.run = nil
		d.unpin(v)
	}
	d.end(r)
}

// restore undoes a replacement.
func (d *Device) restore(v *value) {
	v.state, v.replacer = v.before, nil
	if v.state == stateFailed {
		d.closeHandle(v)
	}
}

// end lets go of everything the run refers to and tells whoever waits.
func (d *Device) end(r *run) {
	r.letGo()
	for i := range r.nodes {
		d.unpin(r.nodes[i].v)
	}
	for i := range r.slots {
		d.unref(r.slots[i].buf)
	}
	done := r.done
	done.err = r.err
	done.state.Store(submitted)
	d.dropInstance(r)
	d.recycle(r)
	close(done.done)
}

func (d *Device) dropInstance(r *run) {
	if r.inst != nil {
		r.plan.giveBack(r.inst)
		r.inst, r.plan = nil, nil
	}
}
