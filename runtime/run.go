package runtime

import (
	"sync/atomic"
	"time"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// recordKind is what a record does.
type recordKind uint8

const (
	recordOp   recordKind = iota
	recordFill            // args: the destination
	recordCopy            // args: the source, the destination
	recordRead            // args: the source
)

// record is one recorded call. Its arguments, extents and parameters lie in the
// arrays of its run.
type record struct {
	kind    recordKind
	op      *Op
	variant int32
	arg     int32 // first of nIn inputs, nOut outputs, nNew new versions of inouts
	nIn     int32
	nOut    int32
	nNew    int32
	size    int32 // first extent, one for each axis of op
	param   int32 // first parameter
	read    int32 // recordRead: number of the read-back
	again   bool  // made from values that a gradient needs and that were not kept, see Checkpoint
	gradOf  int32 // one more than the position of the call whose gradient it is, 0 if it is none
	fill    uint64
	site    sitePCs
}

// node is a value at one point of the record: what makes the record SSA.
type node struct {
	v    *value
	slot int32
	ver  uint32 // of the slot's in-place writes, those before the node was made
	def  int32  // record that computes it, -1 if none does

	sibling int32 // the node of the same slot made before it
	log     int32 // changes to the buffer noted before it was first used
}

// slot is a buffer that the run uses.
type slot struct {
	buf      *buffer
	ver      uint32 // number of in-place writes recorded so far
	write    int32  // the last of them in run.writes, -1 if none
	nodes    int32  // the node made last, see node.sibling; -1 if none
	external bool   // it has memory from before the run, or from a part of it that ran: the buffer counts the run in open
	keep     bool   // it outlives the run
}

// write is a recorded in-place write.
type write struct {
	ver  uint32
	rec  int32
	prev int32 // the write to the same slot before it
	node int32 // what it wrote
}

// replaced is a value and its new version.
type replaced struct {
	old, new *value
	done     bool // a part of the run that did it has run
}

// completion tells when a run is complete, and how. It outlives the run.
type completion struct {
	batch string
	state atomic.Int32 // one of the constants below
	done  chan struct{}
	err   error // valid once done is closed
}

const (
	notSubmitted int32 = iota
	submitted
)

// run is a program from its first recorded call until its work is complete.
// Until it is submitted it belongs to its batch; all of its fields are guarded
// by Device.mu.
type run struct {
	d     *Device
	id    uint64
	batch string
	err   error  // the first error: nothing is recorded after it
	bad   *value // what calls return once err is set

	recs   []record
	args   []int32 // nodes
	sizes  []int64
	params []uint64
	nodes  []node
	slots  []slot
	writes []write
	reads  []reader
	values []*value // results, and views of them
	twins  []int32  // see twins.find; of the part
	marked []segment
	swaps  []replaced
	calls  []callTime // while the device is traced

	slotOf map[*buffer]int32 // of buffers whose own note was overwritten

	// The part that is submitted or was submitted last.
	from     int32 // first record of the next part
	end      int32
	recorded bool // false once the batch has handed it over
	letGone  bool // its buffers do not count it as being recorded any more
	part     bool // the part leaves the run open
	async    bool // the waiter looks after it
	seq      uint64
	plan     *plan
	inst     backend.Instance
	arena    lease
	deps     []*completion // programs in flight that compute inputs
	result   backend.Result
	overrun  error // guard bytes were written
	finished bool  // the backend is done with it
	done     *completion
	partial  *completion // of a part that leaves the run open
	next     *run        // free list

	trace             *Trace // that the part was launched in, nil if in none
	hit               bool   // its plan was in the cache
	planned, launched time.Time
}

func (d *Device) newRun(batch string) *run {
	r := d.freeRuns
	if r == nil {
		r = &run{d: d, slotOf: map[*buffer]int32{}}
	} else {
		d.freeRuns, r.next = r.next, nil
	}
	d.runs++
	r.id = d.runs
	r.batch = batch
	r.recorded = true
	r.done = &completion{batch: batch, done: make(chan struct{})}
	return r
}

// recycle takes back a run that nothing refers to.
func (d *Device) recycle(r *run) {
	clear(r.reads)
	clear(r.deps)
	*r = run{
		d: d, slotOf: r.slotOf,
		recs: r.recs[:0], args: r.args[:0], sizes: r.sizes[:0], params: r.params[:0],
		nodes: r.nodes[:0], slots: r.slots[:0], writes: r.writes[:0], reads: r.reads[:0],
		values: r.values[:0], twins: r.twins[:0], marked: r.marked[:0], swaps: r.swaps[:0], calls: r.calls[:0], deps: r.deps[:0], next: d.freeRuns,
	}
	clear(r.slotOf)
	d.freeRuns = r
}

// outcome returns the completion of the part that is submitted.
func (r *run) outcome() *completion {
	if r.part {
		return r.partial
	}
	return r.done
}

// fail sets the first error of the run.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
		r.bad = &value{state: statePoisoned, err: err}
	}
}

// failed returns the handle of a result that does not exist.
func (r *run) failed(t DType) Handle { return Handle{v: r.bad, dtype: t} }

// opAt names the call that was recorded at position i.
func (r *run) opAt(i int32) string {
	rec := &r.recs[i]
	return rec.op.Name + " (" + rec.where().String() + ")"
}

// where returns where the user made the call.
func (rec *record) where() Site {
	if rec.kind == recordOp {
		return rec.site.caller()
	}
	return rec.site.user()
}

// name returns the operation's name, as in errors.
func (rec *record) name() string {
	switch rec.kind {
	case recordFill:
		return "fill"
	case recordCopy:
		return "copy"
	case recordRead:
		return "read"
	}
	return rec.op.Name
}

// slotFor returns the slot of a buffer, a new one if the run has not used it.
func (r *run) slotFor(b *buffer) int32 {
	if b.slotRun == r.id {
		return b.slot
	}
	i, ok := int32(0), false
	if b.block != nil {
		i, ok = r.slotOf[b]
	}
	if !ok {
		i = int32(len(r.slots))
		r.slots = append(r.slots, slot{buf: b, write: -1, nodes: -1, external: b.block != nil})
		b.refs++
		if b.block != nil { // others may use it too, and leave their note
			b.open++
			r.slotOf[b] = i
		}
	}
	b.slotRun, b.slot = r.id, i
	return i
}

// nodeFor returns the node of a value as it is now. Two values of the same
// memory may have a node each.
func (r *run) nodeFor(v *value) int32 {
	at, mine := v.node, v.nodeRun == r.id
	if v.run == r {
		at, mine = v.own, v.own >= 0
	}
	if mine {
		n := &r.nodes[at]
		if ver := r.slots[n.slot].ver; n.ver == ver || !r.changed(n, n.ver, ver) {
			n.ver = ver
			return at
		}
	}
	return r.addNode(v, r.slotFor(v.buf), -1)
}

// addNode makes a node for the value as it is now, computed by record def.
func (r *run) addNode(v *value, s, def int32) int32 {
	i := int32(len(r.nodes))
	r.nodes = append(r.nodes, node{v: v, slot: s, ver: r.slots[s].ver, def: def, sibling: r.slots[s].nodes, log: int32(len(v.buf.log))})
	r.slots[s].nodes = i
	v.pins++
	if v.run == r {
		v.own = i
	} else {
		v.nodeRun, v.node = r.id, i
	}
	return i
}

// changed reports whether one of the in-place writes numbered after from, up to
// to, touched the memory of n.
func (r *run) changed(n *node, from, to uint32) bool {
	return r.lastWrite(n, from, to) >= 0
}

// lastWrite returns the last of the in-place writes numbered after from, up to
// to, that touched the memory of n; -1 if none did.
func (r *run) lastWrite(n *node, from, to uint32) int32 {
	for i := r.slots[n.slot].write; i >= 0 && r.writes[i].ver > from; i = r.writes[i].prev {
		if r.writes[i].ver <= to && r.nodes[r.writes[i].node].v.overlaps(n.v) {
			return i
		}
	}
	return -1
}

// newResult makes a pending tensor, computed by record def, in memory of its
// own. dims has at most MaxRank elements.
func (r *run) newResult(t DType, dims []int64, count int64, def int32) int32 {
	d := r.d
	v, b := d.slab.newValue(), d.slab.newBuffer()
	b.bytes = count * t.Size()
	v.buf, v.off, v.dtype, v.count = b, 0, t, count
	v.rank = uint8(copy(v.dims[:], dims))
	r.adopt(v)
	return r.addNode(v, r.slotFor(b), def)
}

// newView makes a pending tensor in the memory of another value of the run.
func (r *run) newView(base *value, off int64, dims []int64, count int64) *value {
	v := r.d.slab.newValue()
	v.buf, v.off, v.dtype, v.count = base.buf, off, base.dtype, count
	v.rank = uint8(copy(v.dims[:], dims))
	r.adopt(v)
	return v
}

// adopt makes v a pending value of the run, with one valid handle.
func (r *run) adopt(v *value) {
	v.buf.refs++
	v.state, v.run, v.own = statePending, r, -1
	v.keep, v.open = false, true
	v.pins = 2 // the handle, r.values
	r.values = append(r.values, v)
}

// replace makes a new version of the value of node old, computed by record def.
func (r *run) replace(old, def int32) int32 {
	o := r.nodes[old].v
	v := r.newView(o, o.off, o.shape(), o.count)
	s := r.nodes[old].slot
	sl := &r.slots[s]
	sl.ver++
	i := r.addNode(v, s, def)
	if sl.write < 0 {
		sl.buf.updaters = append(sl.buf.updaters, r)
	}
	r.writes = append(r.writes, write{ver: sl.ver, rec: def, prev: sl.write, node: i})
	sl.write = int32(len(r.writes) - 1)
	v.keep = o.state == stateResident || o.keep
	if v.keep {
		sl.keep = true
	}
	r.swaps = append(r.swaps, replaced{old: o, new: v})
	o.pins++
	o.before = o.state
	o.state, o.replacer, o.rec = stateReplaced, r, def
	return i
}

// handle returns the handle of a node's value.
func (r *run) handle(i int32) Handle {
	v := r.nodes[i].v
	return Handle{v: v, gen: v.gen, dtype: v.dtype}
}
