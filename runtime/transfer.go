package runtime

import (
	"fmt"
	"unsafe"
)

// A transfer that fails is tried again in pieces half as large, down to this many
// bytes.
const minPiece = 64 << 10

// upload copies n bytes from the host to the device. The caller does not hold
// d.mu.
func (d *Device) upload(dst, src unsafe.Pointer, n int64) error {
	return d.inPieces("to", n, func(off, n int64) error {
		return d.backend.Upload(unsafe.Add(dst, off), unsafe.Add(src, off), n)
	})
}

// download copies n bytes from the device to the host. The caller does not hold
// d.mu.
func (d *Device) download(dst, src unsafe.Pointer, n int64) error {
	return d.inPieces("from", n, func(off, n int64) error {
		return d.backend.Download(unsafe.Add(dst, off), unsafe.Add(src, off), n)
	})
}

// uploadZeros sets n bytes of the device to zero.
func (d *Device) uploadZeros(dst unsafe.Pointer, n int64) error {
	zeros := make([]byte, min(n, 1<<20))
	for off := int64(0); off < n; off += int64(len(zeros)) {
		if err := d.upload(unsafe.Add(dst, off), unsafe.Pointer(&zeros[0]), min(n-off, int64(len(zeros)))); err != nil {
			return err
		}
	}
	return nil
}

// inPieces moves n bytes, at first all at once.
func (d *Device) inPieces(direction string, n int64, move func(off, n int64) error) error {
	piece, retries := n, int64(0)
	for off := int64(0); off < n; {
		m := min(piece, n-off)
		err := move(off, m)
		switch {
		case err == nil:
			off += m
		case m <= minPiece:
			return fmt.Errorf("%d of %d bytes could not be copied %s the device, in pieces of %d bytes neither: %w", n-off, n, direction, m, err)
		default:
			piece = max(m/2, minPiece)
			retries++
		}
	}
	if retries > 0 {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.stats.Retries += retries
	}
	return nil
}
