package runtime

import (
	"fmt"
	"math"
	"unsafe"
)

// FromSlice copies data into a new resident tensor. No dimensions means a
// scalar. Close it when done.
func FromSlice[T Element](d *Device, data []T, shape ...int) (Tensor[T], error) {
	h, err := d.newTensor("from slice", TypeOf[T](), shape, len(data), func(p unsafe.Pointer, n int64) error {
		return d.upload(p, unsafe.Pointer(unsafe.SliceData(data)), n)
	})
	return Tensor[T]{h}, err
}

// Zeros returns a new resident tensor of zeros. No dimensions means a scalar.
// Close it when done.
func Zeros[T Element](d *Device, shape ...int) (Tensor[T], error) {
	h, err := d.newTensor("zeros", TypeOf[T](), shape, -1, d.uploadZeros)
	return Tensor[T]{h}, err
}

// newTensor makes a resident tensor whose n bytes fill writes. have is the number of
// elements on the host, negative if that is whatever shape says.
func (d *Device) newTensor(op string, t DType, shape []int, have int, fill func(p unsafe.Pointer, n int64) error) (Handle, error) {
	if d == nil {
		return Handle{}, opError(op, ErrDevice, "the device is nil")
	}
	if d.sketch != nil {
		return Handle{}, opError(op, ErrLazy, "a graph has no memory: use graph.From")
	}
	dims, count, err := checkShape(op, t, shape)
	if err != nil {
		return Handle{}, err
	}
	if have >= 0 && int64(have) != count {
		return Handle{}, opError(op, ErrShape, "%d elements given, shape %v has %d", have, shape, count)
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return Handle{}, opError(op, ErrClosed, "the device is closed")
	}
	l, err := d.acquire(count * t.Size())
	if err != nil {
		d.mu.Unlock()
		return Handle{}, &Error{Op: op, Err: err, Text: err.Error()}
	}
	d.host++
	d.mu.Unlock()
	err = fill(l.ptr, count*t.Size())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.host--
	d.changed.Broadcast()
	if err != nil {
		d.releaseBlock(l)
		return Handle{}, &Error{Op: op, Err: err, Text: err.Error()}
	}
	b := d.slab.newBuffer()
	b.lease, b.bytes = l, count*t.Size()
	return d.resident(b, 0, t, dims[:len(shape)], count), nil
}

// resident makes a resident tensor in a buffer that has memory.
func (d *Device) resident(b *buffer, off int64, t DType, dims []int64, count int64) Handle {
	v := d.slab.newValue()
	b.refs++
	v.buf, v.off, v.dtype, v.count = b, off, t, count
	v.rank = uint8(copy(v.dims[:], dims))
	v.state, v.pins, v.open = stateResident, 1, true
	return Handle{v: v, gen: v.gen, dtype: t}
}

// checkShape turns the dimensions into int64 and counts the elements.
func checkShape(op string, t DType, shape []int) (dims [MaxRank]int64, count int64, err error) {
	if len(shape) > MaxRank {
		return dims, 0, opError(op, ErrShape, "shape %v has %d dimensions, the most is %d", shape, len(shape), MaxRank)
	}
	for i, n := range shape {
		if n < 0 {
			return dims, 0, opError(op, ErrShape, "shape %v has a negative dimension", shape)
		}
		dims[i] = int64(n)
	}
	count, ok := product(dims[:len(shape)])
	if !ok || count > math.MaxInt64/4/t.Size() {
		return dims, 0, opError(op, ErrShape, "shape %v has more bytes than an int64 holds", shape)
	}
	return dims, count, nil
}

// Read returns a copy of a resident tensor's elements in row-major order. If
// submitted work computes the tensor, Read waits for it; a tensor whose batch
// is not submitted yet is an error that wraps ErrPending.
func (t Tensor[T]) Read() ([]T, error) {
	n := t.Len()
	if n < 0 {
		n = 0 // ReadInto says why
	}
	data := make([]T, n)
	if err := t.ReadInto(data); err != nil {
		return nil, err
	}
	return data, nil
}

// ReadInto is Read into dst, which has as many elements as the tensor.
func (t Tensor[T]) ReadInto(dst []T) error {
	return t.h.copyHost("read", len(dst), false, unsafe.Pointer(unsafe.SliceData(dst)))
}

// Write replaces the elements of a resident tensor, in row-major order; after an
// error of the transfer they are undefined. It waits for submitted work that uses the tensor. A batch that has recorded a use
// of the tensor and is not submitted yet will fail.
func (t Tensor[T]) Write(data []T) error {
	return t.h.copyHost("write", len(data), true, unsafe.Pointer(unsafe.SliceData(data)))
}

// CopyTo returns a copy of a resident tensor on another device, or on the same one.
// It waits like Read. Close the copy when done.
func (h Handle) CopyTo(d *Device) (Handle, error) {
	n := h.Len()
	if n < 0 {
		return Handle{}, h.Err()
	}
	data := make([]byte, max(int64(n)*h.dtype.Size(), 1))
	host := unsafe.Pointer(&data[0])
	if err := h.copyHost("copy", n, false, host); err != nil {
		return Handle{}, err
	}
	return d.newTensor("copy", h.dtype, h.Shape(), n, func(p unsafe.Pointer, bytes int64) error {
		return d.upload(p, host, bytes)
	})
}

// copyHost copies between n elements of the host and the tensor's memory, while no
// program stands against it.
func (h Handle) copyHost(op string, n int, write bool, host unsafe.Pointer) error {
	d := h.Device()
	if d == nil {
		_, why := h.resolve(nil)
		return why.named(op, "the tensor")
	}
	d.mu.Lock()
	v, err := h.awaitMemory(op, write)
	if err == nil && int64(n) != v.count {
		err = opError(op, ErrShape, "the tensor with shape %v has %d elements, the slice %d", v.shape(), v.count, n)
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	b := v.buf
	b.refs++
	d.host++
	if write {
		b.host = -1
		b.note(v.off, v.off+v.byteSize())
	} else {
		b.host++
	}
	p, bytes := v.address(), v.byteSize()
	d.mu.Unlock()
	if write {
		err = d.upload(p, host, bytes)
	} else {
		err = d.download(host, p, bytes)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if write {
		b.host = 0
	} else {
		b.host--
	}
	d.host--
	d.unref(b)
	d.changed.Broadcast()
	if err != nil {
		return &Error{Op: op, Err: err, Text: err.Error()}
	}
	return nil
}

// awaitMemory waits until the host may read or write the memory of a tensor.
func (h Handle) awaitMemory(op string, write bool) (*value, error) {
	d := h.v.dev
	for {
		v, why := h.resolve(d)
		if why == nil && d.sketch != nil {
			why = &refusal{ErrLazy, "belongs to a graph: evaluate it with graph.Eval"}
		}
		if why == nil && v.private() {
			why = &refusal{ErrPending, fmt.Sprintf("is a result of batch %q, which is not submitted or does not keep it: call Keep and Sync first", v.run.batch)}
		}
		if why == nil && write && v.state != stateResident {
			why = &refusal{ErrPending, fmt.Sprintf("is a result of batch %q, which is not complete: wait for it first", v.run.batch)}
		}
		if why == nil && !write {
			if r := v.updater(); r != nil {
				why = &refusal{ErrPending, fmt.Sprintf("shares memory with one that batch %q updates, which is not submitted: call Sync first", r.batch)}
			}
		}
		if why == nil && d.limbo.uses(v.buf) {
			why = &refusal{ErrDeadline, "is used by a program that was given up and may still run"}
		}
		if why != nil {
			return nil, why.named(op, "the tensor")
		}
		b := v.buf
		switch {
		case b.writer != nil || b.host < 0:
		case write && (b.host > 0 || b.user > d.retired):
		default:
			return v, nil
		}
		d.changed.Wait()
	}
}

// View returns part of t as a tensor that shares its memory: a dense tensor of
// this shape from an element offset on. What is written to one shows in the
// other. The view of a pending tensor is pending.
func (t Tensor[T]) View(offset int, shape ...int) (Tensor[T], error) {
	h, err := t.h.View(offset, shape...)
	return Tensor[T]{h}, err
}

// View returns part of the tensor; see Tensor.View.
func (h Handle) View(offset int, shape ...int) (Handle, error) {
	d := h.Device()
	if d == nil {
		_, why := h.resolve(nil)
		return h, why.named("view", "the tensor")
	}
	dims, count, err := checkShape("view", h.dtype, shape)
	if err != nil {
		return Handle{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v, why := h.resolve(d)
	if why != nil {
		return Handle{}, why.named("view", "the tensor")
	}
	if offset < 0 || int64(offset) > v.count || count > v.count-int64(offset) {
		return Handle{}, opError("view", ErrShape, "%d elements from %d on, the tensor with shape %v has %d", count, offset, v.shape(), v.count)
	}
	off := v.off + int64(offset)*v.dtype.Size()
	if v.state == stateResident {
		return d.resident(v.buf, off, v.dtype, dims[:len(shape)], count), nil
	}
	w := v.run.newView(v, off, dims[:len(shape)], count)
	w.keep = v.keep && !v.run.recorded
	return Handle{v: w, gen: w.gen, dtype: w.dtype}, nil
}

// Close releases the tensor: its handles are stale from now on, and its memory
// is reused once no view, batch or submitted program uses it. A second Close is
// an error that wraps ErrStale.
func (t Tensor[T]) Close() error { return t.h.Close() }

// Close releases the tensor; see Tensor.Close.
func (h Handle) Close() error {
	d := h.Device()
	if d == nil {
		_, why := h.resolve(nil)
		return why.named("close", "the tensor")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v, why := h.resolve(d)
	if why != nil {
		return why.named("close", "the tensor")
	}
	v.keep = false
	d.closeHandle(v)
	return nil
}
