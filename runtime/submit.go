package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// execute runs a program that its batch has let go of, and waits.
func (d *Device) execute(ctx context.Context, r *run) error {
	done := r.done
	d.mu.Lock()
	d.release(r)
	if !d.launch(r) {
		d.mu.Unlock()
		return done.err
	}
	if ctx.Done() == nil && d.deadline == 0 && d.queue[0] == r {
		d.mu.Unlock()
		d.complete(r, d.backend.Run(r.seq, r.inst))
		return done.err
	}
	d.hand(r)
	d.mu.Unlock()
	return done.wait(ctx)
}

// start runs a program that its batch has let go of, and does not wait.
func (d *Device) start(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.release(r)
	if d.launch(r) {
		d.hand(r)
	}
}

// flush runs what r has recorded so far, keeping everything, and waits. r stays
// open.
func (d *Device) flush(r *run) error {
	d.mu.Lock()
	for r.partial != nil {
		d.changed.Wait()
	}
	if !r.recorded || r.from == int32(len(r.recs)) {
		d.mu.Unlock()
		return r.err
	}
	done := &completion{batch: r.batch, done: make(chan struct{})}
	r.part, r.partial = true, done
	if d.launch(r) {
		d.hand(r)
	}
	d.mu.Unlock()
	<-done.done
	return done.err
}

// release takes the run out of its batch's hands, once no part of it runs.
func (d *Device) release(r *run) {
	for r.partial != nil {
		d.changed.Wait()
	}
	r.recorded = false
}

// letGo notes that the run records no more.
func (r *run) letGo() {
	if r.letGone {
		return
	}
	r.letGone = true
	for i := range r.slots {
		s := &r.slots[i]
		if s.write >= 0 {
			s.buf.updaters = slices.DeleteFunc(s.buf.updaters, func(u *run) bool { return u == r })
		}
		if s.external {
			s.buf.open--
			if s.buf.open == 0 {
				s.buf.log = s.buf.log[:0]
			}
		}
	}
}

// hand queues the program with the backend and makes sure that somebody waits
// for it.
func (d *Device) hand(r *run) {
	r.async = true
	d.backend.Submit(r.seq, r.inst)
	if !d.waiting {
		d.waiting = true
		go d.wait()
	}
}

// wait completes submitted programs one after another until there is none.
func (d *Device) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		r := d.pending()
		if r == nil {
			d.waiting = false
			d.changed.Broadcast()
			return
		}
		d.mu.Unlock()
		if d.deadline > 0 && !d.backend.Await(r.seq, d.deadline) {
			d.mu.Lock()
			d.giveUp(r)
			return
		}
		d.complete(r, d.backend.Wait(r.seq, r.inst))
		d.mu.Lock()
	}
}

// pending returns the first program that the waiter has to wait for.
func (d *Device) pending() *run {
	for _, r := range d.queue {
		if r.async && !r.finished {
			return r
		}
	}
	return nil
}

// launch plans the part of a run that was not yet executed, gives it memory and
// its place in the order of work. If it cannot run it is finished with an error
// and launch returns false. The caller holds d.mu.
func (d *Device) launch(r *run) bool {
	r.end = int32(len(r.recs))
	r.planned = d.traceTime()
	err := d.prepare(r)
	if !r.part {
		r.letGo()
	}
	if err != nil {
		r.fail(err)
		d.abandon(r)
		return false
	}
	d.seq++
	r.seq = d.seq
	r.finished, r.async, r.result, r.overrun = false, false, backend.Result{}, nil
	for i := range r.slots {
		s := &r.slots[i]
		if !r.outlives(s) {
			continue
		}
		s.buf.user = r.seq
		if s.write >= 0 {
			s.buf.writer = r
			d.noteWrites(r, s)
		} else if !s.external {
			s.buf.writer = r
		}
	}
	d.queue = append(d.queue, r)
	r.launched = d.traceTime()
	r.outcome().state.Store(submitted)
	return true
}

// noteWrites tells runs that are being recorded what this part changes.
func (d *Device) noteWrites(r *run, s *slot) {
	if s.buf.open == 0 {
		return
	}
	for i := s.write; i >= 0 && r.writes[i].rec >= r.from; i = r.writes[i].prev {
		v := r.nodes[r.writes[i].node].v
		s.buf.note(v.off, v.off+v.byteSize())
	}
	if r.part {
		for i := s.nodes; i >= 0; i = r.nodes[i].sibling {
			r.nodes[i].log = int32(len(s.buf.log))
		}
	}
}

// prepare finds everything that a run of the part needs.
func (d *Device) prepare(r *run) error {
	for len(d.queue) >= backend.MaxInFlight {
		d.changed.Wait()
	}
	d.awaitHost(r)
	switch {
	case r.err != nil:
		return r.err
	case d.closed:
		return &Error{Op: "sync", Batch: r.batch, Err: ErrClosed}
	case d.lost != nil:
		return &Error{Op: "sync", Batch: r.batch, Err: d.lost, Text: "the device failed earlier: " + d.lost.Error()}
	}
	if err := r.checkInputs(); err != nil {
		return err
	}
	hits := d.cache.stats.Hits
	plan, err := d.cache.find(r, &d.planner)
	if err != nil {
		return err
	}
	r.hit = d.cache.stats.Hits > hits
	if err := d.allocate(r, plan); err != nil {
		return err
	}
	r.plan = plan
	var failed error
	if r.inst, failed = plan.instance(); errors.Is(failed, backend.ErrMemory) {
		d.pool.trim() // as for tensors: once more without what is kept for reuse
		r.inst, failed = plan.instance()
	}
	if failed != nil {
		return d.outOfMemory(r, failed)
	}
	r.trace = d.trace.Load()
	if err := r.inst.Timed(r.trace != nil); err != nil {
		return d.outOfMemory(r, err)
	}
	if d.guards {
		setEmpty(r.arena.ptr, plan.arena)
		for _, g := range plan.guards {
			setGuard(unsafe.Add(r.arena.ptr, g.off), g.end-g.off)
		}
	}
	d.bases = append(d.bases[:0], r.arena.ptr)
	for _, i := range plan.bases {
		d.bases = append(d.bases, r.slots[i].buf.ptr)
	}
	r.inst.Bind(d.bases, r.params[r.firstParam():])
	if err := d.depend(r); err != nil {
		return d.outOfMemory(r, err)
	}
	return nil
}

// firstParam returns where the parameters of the part start.
func (r *run) firstParam() int32 {
	if r.from < r.end {
		return r.recs[r.from].param
	}
	return int32(len(r.params))
}

// awaitHost waits until no copy between host and device stands against the
// part.
func (d *Device) awaitHost(r *run) {
	for i := 0; i < len(r.slots); i++ {
		s := &r.slots[i]
		for s.external && (s.buf.host < 0 || s.write >= 0 && s.buf.host > 0) {
			d.changed.Wait()
			i = 0
			s = &r.slots[i]
		}
	}
}

// checkInputs says whether an input from outside is not what was recorded.
func (r *run) checkInputs() error {
	for i := range r.nodes {
		n := &r.nodes[i]
		s := &r.slots[n.slot]
		if !s.external {
			continue
		}
		if n.v.err != nil {
			return &Error{Op: "sync", Batch: r.batch, Err: dependency{n.v.err},
				Text: "the batch uses a result of one that failed: " + n.v.err.Error()}
		}
		for _, c := range s.buf.log[min(int(n.log), len(s.buf.log)):] {
			if c.off < n.v.off+n.v.byteSize() && n.v.off < c.end {
				return &Error{Op: "sync", Batch: r.batch, Err: ErrOverwritten,
					Text: fmt.Sprintf("a tensor with shape %v that the batch uses was overwritten after it was recorded: sync before writing to it", n.v.shape())}
			}
		}
	}
	return nil
}

// dependency is the error of an earlier batch, as the cause of this one's.
type dependency struct{ err error }

func (d dependency) Error() string   { return d.err.Error() }
func (d dependency) Unwrap() []error { return []error{ErrDepends, d.err} }

// allocate gives the part its memory.
func (d *Device) allocate(r *run, p *plan) error {
	var err error
	if r.arena, err = d.acquire(p.arena); err != nil {
		return d.outOfMemory(r, err)
	}
	for _, i := range p.bases {
		b := r.slots[i].buf
		if b.block != nil {
			continue
		}
		if b.lease, err = d.acquire(b.bytes); err != nil {
			return d.outOfMemory(r, err) // abandon gives back what there is
		}
	}
	return nil
}

func (d *Device) outOfMemory(r *run, err error) error {
	return &Error{Op: "sync", Batch: r.batch, Err: err, Text: err.Error()}
}

// depend makes the part wait for the outcome of those in flight that compute
// its inputs.
func (d *Device) depend(r *run) error {
	d.after = d.after[:0]
	for i := range r.slots {
		if !r.slots[i].external {
			continue
		}
		w := r.slots[i].buf.writer
		if w == nil || slices.Contains(d.after, w.seq) {
			continue
		}
		d.after = append(d.after, w.seq)
		r.deps = append(r.deps, w.outcome())
	}
	return r.inst.After(d.after)
}
