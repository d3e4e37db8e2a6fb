package runtime

import (
	"bytes"
	"fmt"
	"unsafe"
)

// guardBytes lie behind each tensor and workspace of a device with guards; more
// than the widest vector, so that a tail that is one vector too long shows.
const guardBytes = 256

// emptyByte is what memory holds that was not written yet. Four of them are a
// NaN.
const emptyByte = 0xff

var empty = bytes.Repeat([]byte{emptyByte}, 4096)

func setEmpty(p unsafe.Pointer, n int64) {
	for mem := bytesAt(p, n); len(mem) > 0; {
		mem = mem[copy(mem, empty):]
	}
}

// guardAt is the byte that a guard holds at an address. Four of them are a
// signalling NaN, which no arithmetic returns, that depends on the address: a
// kernel that reads behind one tensor and writes behind another one does not
// write what is there.
func guardAt(address uintptr) byte {
	const hash, payload = 0x9e3779b1, 0x3ffffe
	word := 0x7f800001 | uint32(address>>2)*hash&payload
	return byte(word >> (address & 3 * 8))
}

// guard is a range of the arena that no command may write.
type guard struct {
	off, end int64
	rec      int32 // record whose tensor or workspace is in front of it
}

// spread gives each place memory of its own with a guard behind it, and returns
// the size of the arena.
func (p *planner) spread(out *plan) int64 {
	top := int64(blockAlign)
	for i := range p.places {
		pl := &p.places[i]
		if !pl.used || pl.base != 0 {
			continue
		}
		pl.off = top
		end := top + pl.bytes
		top = alignUp(end + guardBytes)
		out.guards = append(out.guards, guard{end, top, pl.rec})
	}
	return top
}

func setGuard(p unsafe.Pointer, n int64) {
	mem := bytesAt(p, n)
	for i := range mem {
		mem[i] = guardAt(uintptr(p) + uintptr(i))
	}
}

// written returns the first byte of a guard that is not what it was, or -1.
func written(p unsafe.Pointer, n int64) int64 {
	for i, b := range bytesAt(p, n) {
		if b != guardAt(uintptr(p)+uintptr(i)) {
			return int64(i)
		}
	}
	return -1
}

// checkGuards returns an error if the part that has just run wrote to a guard.
// The run's memory is still its own.
func (r *run) checkGuards() error {
	for _, g := range r.plan.guards {
		if at := written(unsafe.Add(r.arena.ptr, g.off), g.end-g.off); at >= 0 {
			return r.overrunError(g.rec, at)
		}
	}
	for _, i := range r.plan.bases {
		b := r.slots[i].buf
		if at := written(unsafe.Add(b.ptr, b.bytes), guardBytes); at >= 0 {
			setGuard(unsafe.Add(b.ptr, b.bytes), guardBytes)
			return r.overrunError(r.lastWriter(i), at)
		}
	}
	return nil
}

// lastWriter returns the last record of the part that writes a slot, counted
// from the part's first.
func (r *run) lastWriter(slot int32) int32 {
	for i := r.end - 1; i >= r.from; i-- {
		rec := &r.recs[i]
		for _, a := range r.args[rec.arg+rec.nIn : rec.arg+rec.nIn+rec.nOut+rec.nNew] {
			if r.nodes[a].slot == slot {
				return i - r.from
			}
		}
	}
	return 0
}

func (r *run) overrunError(at int32, off int64) error {
	rec := &r.recs[r.from+at]
	return &Error{Op: rec.name(), Batch: r.batch, Site: rec.where(), Err: ErrGuard,
		Text: fmt.Sprintf("a kernel wrote past the end of a tensor or workspace of this call, to byte %d behind it", off)}
}
