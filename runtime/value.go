package runtime

// MaxRank is the largest number of dimensions of a tensor.
const MaxRank = 8

// state says what a value's handle may be used for.
type state uint8

const (
	stateFree     state = iota
	statePending        // a result of a run that is being recorded or executed
	stateResident       // in memory of its own
	stateReplaced       // an in-place operation made a new version
	statePoisoned       // the result of a call that could not be recorded
	stateFailed         // its batch failed; pinned by a run that uses it
)

// buffer is memory that one or more values share: a tensor, its sub-views and
// its versions. A buffer of pending values has no block until its run is
// submitted, and then only if it outlives the run. What every recorded call
// touches comes first and fits a cache line.
type buffer struct {
	lease
	refs  int32 // values and runs
	slot  int32 // the buffer's slot in the run that looked last, slotRun
	bytes int64 // logical size

	slotRun uint64
	next    *buffer // free list

	user   uint64 // sequence number of the last submitted program that uses it
	writer *run   // submitted run, not yet complete, that writes it last

	// While runs that use the memory of the buffer are being recorded, what else
	// changes it is noted, so that they can tell that their inputs are not what they
	// were.
	open int32
	host int32 // copies from it to the host going on; -1: one to it
	log  []change
	// Runs that are being recorded and have recorded an in-place write to it.
	updaters []*run

	_ [8]byte // to two cache lines
}

// change is a range of bytes that was written.
type change struct{ off, end int64 }

// note records that bytes of the buffer change, for the runs that are being
// recorded. A run that makes the change itself has been let go of before.
func (b *buffer) note(off, end int64) {
	if b.open == 0 || end == off {
		return
	}
	b.log = append(b.log, change{off, end})
}

// value is what a Handle points to. All fields are guarded by Device.mu, except
// dev, which never changes. What every recorded call touches comes first and fits
// two cache lines, with the dimensions of most tensors.
type value struct {
	dev   *Device
	buf   *buffer
	off   int64 // bytes into the buffer
	count int64 // elements
	run   *run  // the run that computes it, until that is complete

	gen   uint32 // of the valid handles
	pins  int32  // runs that use the value
	own   int32  // its node in the run that computes it, -1 before its first use
	node  int32  // its node in the run that looked last, if that is another: nodeRun
	state state
	dtype DType
	rank  uint8
	keep  bool // it becomes resident when run is complete
	open  bool // it has valid handles, which count as a pin

	constant bool // for the gradient, see StopGradient

	// A part of the run that wrote a resident tensor in place has run.
	committed bool
	before    state // see replacer

	nodeRun uint64
	next    *value // free list
	dims    [MaxRank]int64

	// A replaced value comes back if the run that replaced it fails.
	replacer *run
	rec      int32 // the record that did it

	err error // why it is poisoned, or of its batch that failed

	_ [16]byte // to three cache lines
}

func (v *value) shape() []int64 { return v.dims[:v.rank] }

func (v *value) byteSize() int64 { return v.count * v.dtype.Size() }

// overlaps reports whether two values have memory in common.
func (v *value) overlaps(w *value) bool {
	return v.buf == w.buf && v.off < w.off+w.byteSize() && w.off < v.off+v.byteSize()
}

// inside reports whether all of v's memory belongs to w, too.
func (v *value) inside(w *value) bool {
	return v.buf == w.buf && v.off >= w.off && v.off+v.byteSize() <= w.off+w.byteSize()
}

// private reports whether only the run that computes the value may use it: it
// has no memory of its own, or only until that run is complete.
func (v *value) private() bool {
	return v.state == statePending && (v.buf.block == nil || !v.run.recorded && !v.keep)
}

// updater returns a run that has recorded an update of the value's memory, not
// yet submitted.
func (v *value) updater() *run {
	for _, r := range v.buf.updaters {
		s := &r.slots[r.slotFor(v.buf)]
		for i := s.write; i >= 0 && r.writes[i].rec >= r.from; i = r.writes[i].prev {
			if r.nodes[r.writes[i].node].v.overlaps(v) {
				return r
			}
		}
	}
	return nil
}

// slab hands out values and buffers, and takes them back.
type slab struct {
	dev     *Device
	values  *value
	buffers *buffer
	used    int // values handed out
	chunk   int // values and buffers to make room for next time
}

// next returns how many values or buffers to make room for: few at first, since
// graphs are small and many.
func (s *slab) next() int {
	s.chunk = min(max(2*s.chunk, 16), 128)
	return s.chunk
}

func (s *slab) newValue() *value {
	if s.values == nil {
		chunk := make([]value, s.next())
		for i := range chunk {
			chunk[i].dev = s.dev
			chunk[i].next = s.values
			s.values = &chunk[i]
		}
	}
	v := s.values
	s.values, v.next = v.next, nil
	s.used++
	return v
}

// freeValue recycles a value that nothing pins.
func (s *slab) freeValue(v *value) {
	v.gen++
	v.state = stateFree
	v.buf, v.run = nil, nil
	if v.replacer != nil || v.err != nil {
		v.replacer, v.err = nil, nil
	}
	v.keep, v.open, v.committed, v.constant = false, false, false, false
	v.nodeRun = 0
	v.next, s.values = s.values, v
	s.used--
}

func (s *slab) newBuffer() *buffer {
	if s.buffers == nil {
		chunk := make([]buffer, s.next())
		for i := range chunk {
			chunk[i].next = s.buffers
			s.buffers = &chunk[i]
		}
	}
	b := s.buffers
	s.buffers, b.next = b.next, nil
	return b
}

func (s *slab) freeBuffer(b *buffer) {
	if b.block == nil { // what is for memory that others may use was never set
		b.bytes, b.slotRun, b.user, b.writer = 0, 0, 0, nil
	} else {
		*b = buffer{log: b.log[:0], updaters: b.updaters[:0]}
	}
	b.next, s.buffers = s.buffers, b
}

// closeHandle makes all handles of v stale and recycles it as soon as nothing
// pins it.
func (d *Device) closeHandle(v *value) {
	if v.open {
		v.open = false
		v.gen++
		d.unpin(v)
	}
}

// unpin drops one use of v: its handle's, or a run's.
func (d *Device) unpin(v *value) {
	v.pins--
	if v.pins == 0 {
		buf := v.buf
		d.slab.freeValue(v)
		d.unref(buf)
	}
}

// unref drops one use of a buffer.
func (d *Device) unref(b *buffer) {
	if b == nil {
		return
	}
	b.refs--
	if b.refs > 0 {
		return
	}
	if b.block != nil {
		d.releaseBlock(b.lease)
	}
	d.slab.freeBuffer(b)
}
