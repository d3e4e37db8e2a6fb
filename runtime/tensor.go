package runtime

import "unsafe"

// Tensor is a handle of a dense, row-major tensor on a device, pending or
// resident. It is small: pass it by value. Copies are the same handle; after
// Close, or when an in-place operation replaced the tensor, all of them are
// stale, and a use of one is an error.
type Tensor[T Element] struct{ h Handle }

// Handle is a Tensor whose element type is known at run time only.
type Handle struct {
	v     *value
	gen   uint32
	dtype DType
}

// An Operand is a Tensor or a Handle.
type Operand interface {
	Untyped() Handle
}

// Untyped returns the handle without its static type.
func (t Tensor[T]) Untyped() Handle { return t.h }

// Untyped returns the handle.
func (h Handle) Untyped() Handle { return h }

// As gives a handle a static type. A handle of another type is refused where
// the tensor is used.
func As[T Element](h Handle) Tensor[T] {
	h.dtype = TypeOf[T]()
	return Tensor[T]{h}
}

// DType returns the element type.
func (h Handle) DType() DType { return h.dtype }

// IsZero reports whether the handle is the zero Handle.
func (h Handle) IsZero() bool { return h.v == nil }

// Device returns the device that holds the tensor, nil for a handle of a call
// that could not be recorded.
func (h Handle) Device() *Device {
	if h.v == nil {
		return nil
	}
	return h.v.dev
}

// Device returns the device that holds the tensor, nil for a tensor of a call
// that could not be recorded.
func (t Tensor[T]) Device() *Device { return t.h.Device() }

// Err returns why the handle cannot be used, or nil.
func (h Handle) Err() error {
	if d := h.Device(); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	if _, err := h.resolve(h.Device()); err != nil {
		return err.named("tensor", "it")
	}
	return nil
}

// Err returns why the tensor cannot be used, or nil.
func (t Tensor[T]) Err() error { return t.h.Err() }

// Shape returns the dimensions, empty for a scalar; nil if the handle is not
// valid.
func (h Handle) Shape() []int {
	dims, n := h.dims()
	if n < 0 {
		return nil
	}
	shape := make([]int, n)
	for i := range shape {
		shape[i] = int(dims[i])
	}
	return shape
}

// Shape returns the dimensions, empty for a scalar; nil if the handle is not
// valid.
func (t Tensor[T]) Shape() []int { return t.h.Shape() }

// Rank returns the number of dimensions, -1 if the handle is not valid.
func (h Handle) Rank() int {
	_, n := h.dims()
	return n
}

// Rank returns the number of dimensions, -1 if the handle is not valid.
func (t Tensor[T]) Rank() int { return t.h.Rank() }

// Dim returns the extent of dimension i, counted from the end if negative; -1
// if there is none.
func (h Handle) Dim(i int) int {
	dims, n := h.dims()
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return -1
	}
	return int(dims[i])
}

// Dim returns the extent of dimension i, counted from the end if negative; -1
// if there is none.
func (t Tensor[T]) Dim(i int) int { return t.h.Dim(i) }

// Len returns the number of elements, -1 if the handle is not valid.
func (h Handle) Len() int {
	dims, n := h.dims()
	if n < 0 {
		return -1
	}
	count := 1
	for _, d := range dims[:n] {
		count *= int(d)
	}
	return count
}

// Len returns the number of elements, -1 if the handle is not valid.
func (t Tensor[T]) Len() int { return t.h.Len() }

func (h Handle) dims() (dims [MaxRank]int64, rank int) {
	if h.v == nil || h.v.dev == nil {
		return dims, -1
	}
	h.v.dev.mu.Lock()
	defer h.v.dev.mu.Unlock()
	if h.v.gen != h.gen {
		return dims, -1
	}
	return h.v.dims, int(h.v.rank)
}

// refusal is why a handle cannot be used; the text goes on after the name of
// the argument.
type refusal struct {
	kind error
	text string
}

// named makes the refusal an error about argument arg of operation op.
func (r *refusal) named(op, arg string) *Error {
	return &Error{Op: op, Arg: arg, Err: r.kind, Text: arg + " " + r.text}
}

// resolve returns the value of a valid handle of device d. The caller holds
// d.mu.
func (h Handle) resolve(d *Device) (*value, *refusal) {
	v := h.v
	switch {
	case v == nil:
		return nil, &refusal{ErrStale, "is the zero Tensor: it was never made"}
	case v.dev == nil: // poisoned
		return nil, &refusal{v.err, "is the result of a call that failed: " + v.err.Error()}
	case v.dev != d:
		return nil, &refusal{ErrDevice, "is on another device"}
	case d.closed:
		return nil, &refusal{ErrClosed, "is on a device that is closed"}
	case v.gen != h.gen:
		return nil, &refusal{ErrStale, "is stale: it was closed or replaced, or its batch ended without keeping it"}
	case v.dtype != h.dtype:
		return nil, &refusal{ErrType, "holds " + v.dtype.String() + ", not " + h.dtype.String()}
	case v.state == stateReplaced:
		return nil, &refusal{ErrStale, "was replaced by " + v.replacer.opAt(v.rec) + ": use the version that it returned"}
	}
	return v, nil
}

// address returns where a value with memory of its own lies.
func (v *value) address() unsafe.Pointer { return unsafe.Add(v.buf.ptr, v.off) }
