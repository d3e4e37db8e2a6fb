package runtime

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// limbo holds what programs use that were given up and may still run.
type limbo struct {
	leases  []lease
	buffers []*buffer // from before the programs
	runs    []suspended
}

// suspended is an instance that may still run.
type suspended struct {
	plan *plan
	inst backend.Instance
	seq  uint64
}

func (l *limbo) uses(b *buffer) bool { return l != nil && slices.Contains(l.buffers, b) }

// hungError is why a device is lost whose program did not end in time.
type hungError struct {
	batch, op string
	limit     time.Duration
}

func (e *hungError) Error() string {
	return fmt.Sprintf("%s of batch %q did not finish within %v: the device is lost", e.op, e.batch, e.limit)
}

func (e *hungError) Unwrap() error { return ErrDeadline }

// giveUp ends all programs in flight with an error, since the first of them, r, did
// not end in time, and waits until they really have ended to release what they use.
// The caller holds d.mu.
func (d *Device) giveUp(r *run) {
	d.lost = &hungError{batch: r.batch, op: r.running(), limit: d.deadline}
	l := &limbo{}
	for _, q := range d.queue {
		l.take(q)
	}
	d.limbo, d.waiting = l, false
	for _, q := range d.queue {
		q.finished, q.result = true, backend.Result{Err: d.lost}
		d.retire(q)
	}
	clear(d.queue)
	d.queue = d.queue[:0]
	d.changed.Broadcast()

	last := l.runs[len(l.runs)-1]
	d.mu.Unlock()
	d.backend.Wait(last.seq, last.inst)
	d.mu.Lock()

	d.limbo = nil
	for _, s := range l.runs {
		s.plan.giveBack(s.inst)
	}
	for _, x := range l.leases {
		d.releaseBlock(x)
	}
	for _, b := range l.buffers {
		d.unref(b)
	}
	if d.closed {
		d.shut()
	}
	d.changed.Broadcast()
}

// running names the call that a program in flight has come to.
func (r *run) running() string {
	at := min(r.inst.Command(), len(r.plan.cmds)-1)
	switch {
	case len(r.plan.cmds) == 0:
		return "a program without commands"
	case at < 0:
		return "a command"
	}
	if i := r.from + r.plan.cmds[at].Op; i < r.end {
		return r.recs[i].name() + " (" + r.recs[i].where().String() + ")"
	}
	return r.plan.cmds[at].Name
}

// take takes over what a program uses on the device.
func (l *limbo) take(r *run) {
	l.runs = append(l.runs, suspended{r.plan, r.inst, r.seq})
	r.inst = nil
	if r.arena.block != nil {
		l.leases = append(l.leases, r.arena)
		r.arena = lease{}
	}
	for i := range r.slots {
		switch b := r.slots[i].buf; {
		case b.block == nil:
		case r.slots[i].external:
			b.refs++
			l.buffers = append(l.buffers, b)
		default:
			l.leases = append(l.leases, b.lease)
			b.lease = lease{}
		}
	}
}
