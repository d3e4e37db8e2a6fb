package runtime

import "unsafe"

// ReadBytes copies the elements of a resident tensor into dst, in row-major order
// and as this machine lays them out; dst has as many bytes as they. It needs no
// particular alignment. ReadBytes waits like Tensor.Read.
func (h Handle) ReadBytes(dst []byte) error { return h.copyBytes("read", dst, false) }

// WriteBytes replaces the elements of a resident tensor by those in src, laid out
// as for ReadBytes; see Tensor.Write.
func (h Handle) WriteBytes(src []byte) error { return h.copyBytes("write", src, true) }

// copyBytes copies between bytes of the host and the tensor's memory.
func (h Handle) copyBytes(op string, b []byte, write bool) error {
	if n := int64(h.Len()); n >= 0 && n*h.dtype.Size() != int64(len(b)) {
		return opError(op, ErrShape, "the tensor with shape %v of %s has %d bytes, the slice %d", h.Shape(), h.dtype, n*h.dtype.Size(), len(b))
	}
	return h.copyHost(op, h.Len(), write, unsafe.Pointer(unsafe.SliceData(b)))
}
