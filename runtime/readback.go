package runtime

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Readback is data that a batch copies to the host, at the point of the program
// where Read was called.
type Readback[T Element] struct {
	run    *completion
	count  int64
	filled atomic.Bool
	data   []T
	op     string // that computes the data
	batch  string
	site   sitePCs
	err    error // it could not be recorded
}

// reader takes the data of a read-back.
type reader interface {
	fill(d *Device, src unsafe.Pointer) error
	show() // once all of the program are filled
}

func (r *Readback[T]) fill(d *Device, src unsafe.Pointer) error {
	r.data = make([]T, r.count)
	return d.download(unsafe.Pointer(unsafe.SliceData(r.data)), src, r.count*TypeOf[T]().Size())
}

func (r *Readback[T]) show() { r.filled.Store(true) }

// Read records that the batch copies t to the host. An error shows in Value.
func Read[T Element](b *Batch, t Tensor[T]) *Readback[T] {
	rb := &Readback[T]{batch: b.name}
	if b.d == nil {
		rb.err = b.deviceless()
		return rb
	}
	callers(&rb.site)
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	r := b.current()
	rb.run = r.done
	if b.d.sketch != nil {
		rb.err = &Error{Op: "read", Batch: b.name, Site: rb.site.user(), Err: ErrLazy, Text: "the tensor belongs to a graph: evaluate it with graph.Eval"}
	}
	if r.err != nil || rb.err != nil {
		return rb
	}
	v, why := t.h.resolve(b.d)
	if why == nil {
		why = r.usable(v)
	}
	if why != nil {
		e := why.named("read", "the tensor")
		e.Batch, e.Site = b.name, rb.site.user()
		r.fail(e)
		return rb
	}
	rb.count = v.count
	rb.op = r.recordRead(v, rb, &rb.site)
	return rb
}

// recordRead records a read-back of v and returns the operation that computes v.
func (r *run) recordRead(v *value, to reader, site *sitePCs) string {
	n := r.nodeFor(v)
	rec := r.newRecord(recordRead, site)
	rec.nIn, rec.read = 1, int32(len(r.reads))
	r.args = append(r.args, n)
	r.reads = append(r.reads, to)
	if def := r.nodes[n].def; def >= 0 {
		return r.recs[def].name()
	}
	return ""
}

// Value returns the data, in row-major order; each call gives the same slice.
// Before the batch is submitted it is an error that wraps ErrNotSynced; while
// the batch runs, Value waits for it. If the batch failed, Value returns its
// error.
func (r *Readback[T]) Value() ([]T, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.filled.Load() {
		return r.data, nil
	}
	select {
	case <-r.run.done:
	default:
		if r.run.state.Load() == notSubmitted {
			return nil, r.notSynced()
		}
		<-r.run.done
	}
	if r.filled.Load() {
		return r.data, nil
	}
	return nil, r.run.err
}

// Scalar returns the first element, for a tensor that has one; see Value.
func (r *Readback[T]) Scalar() (T, error) {
	data, err := r.Value()
	if err == nil && len(data) != 1 {
		err = &Error{Op: "read", Batch: r.batch, Site: r.site.user(), Err: ErrShape, Text: fmt.Sprintf("the tensor has %d elements, want 1", len(data))}
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return data[0], nil
}

func (r *Readback[T]) notSynced() error {
	of := ""
	if r.op != "" {
		of = " of " + r.op
	}
	return &Error{Op: "read", Batch: r.batch, Site: r.site.user(), Err: ErrNotSynced,
		Text: "the result" + of + " is not there yet: call Sync or Submit first"}
}
