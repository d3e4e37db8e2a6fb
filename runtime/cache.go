package runtime

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// ProgramStats counts planned programs.
type ProgramStats struct {
	Cached    int   // programs kept for reuse
	Hits      int64 // submissions that found theirs
	Misses    int64 // submissions that had to plan
	Evictions int64
}

// programCache keeps planned programs by structure; the one used longest ago
// goes first. It is not safe for concurrent use.
type programCache struct {
	limit  int
	plans  map[uint64][]*plan
	oldest *plan
	newest *plan
	key    key // of the run that is looked up
	twins  twins
	stats  ProgramStats
}

// find returns the plan of a run's part, building it if there is none.
func (c *programCache) find(r *run, p *planner) (*plan, *Error) {
	c.twins.find(r)
	c.key.of(r)
	hash := c.key.hash()
	for _, found := range c.plans[hash] {
		if found.key.equal(&c.key) {
			c.stats.Hits++
			c.unlink(found)
			c.link(found)
			return found, nil
		}
	}
	c.stats.Misses++
	built, err := p.build(r, nil)
	if err != nil {
		return nil, err
	}
	built.key = key{slices.Clone(c.key.words), slices.Clone(c.key.ints)}
	for c.stats.Cached >= c.limit {
		c.evict()
	}
	c.plans[hash] = append(c.plans[hash], built)
	c.link(built)
	return built, nil
}

// evict forgets the plan used longest ago. Its instances in flight are released
// when they are complete.
func (c *programCache) evict() {
	p := c.oldest
	c.unlink(p)
	c.stats.Evictions++
	hash := p.key.hash()
	rest := slices.DeleteFunc(c.plans[hash], func(q *plan) bool { return q == p })
	if len(rest) == 0 {
		delete(c.plans, hash)
	} else {
		c.plans[hash] = rest
	}
	p.evicted = true
	p.releaseFree()
}

// clear forgets all plans.
func (c *programCache) clear() {
	for c.oldest != nil {
		c.evict()
	}
}

func (c *programCache) link(p *plan) {
	p.older, p.newer = c.newest, nil
	if c.newest != nil {
		c.newest.newer = p
	} else {
		c.oldest = p
	}
	c.newest = p
	c.stats.Cached++
}

func (c *programCache) unlink(p *plan) {
	if p.older != nil {
		p.older.newer = p.newer
	} else {
		c.oldest = p.newer
	}
	if p.newer != nil {
		p.newer.older = p.older
	} else {
		c.newest = p.older
	}
	p.older, p.newer = nil, nil
	c.stats.Cached--
}

// instance returns memory for one run of the plan.
func (p *plan) instance() (backend.Instance, error) {
	if n := len(p.free); n > 0 {
		in := p.free[n-1]
		p.free = p.free[:n-1]
		return in, nil
	}
	return p.code.Instance()
}

// giveBack takes an instance whose run is complete.
func (p *plan) giveBack(in backend.Instance) {
	p.free = append(p.free, in)
	if p.evicted {
		p.releaseFree()
	}
}

func (p *plan) releaseFree() {
	for _, in := range p.free {
		in.Release()
	}
	p.free = nil
}

// key is what the plan of a part depends on: everything but the values of
// parameters and the addresses of memory. Of the values of parameters it holds
// where two calls that have all else in common have the same.
type key struct {
	words []uint64
	ints  []int32
}

// of makes k the key of the part.
func (k *key) of(r *run) {
	words := append(k.words[:0], uint64(len(r.slots)), uint64(len(r.nodes)))
	for i := range r.slots {
		s := &r.slots[i]
		switch {
		case s.external:
			words = append(words, 1)
		case r.outlives(s):
			words = append(words, 2)
		default:
			words = append(words, uint64(s.buf.bytes)<<2)
		}
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		words = append(words, uint64(n.slot)|uint64(n.v.dtype)<<32, uint64(n.v.off), uint64(n.v.count))
	}
	recs := r.recs[r.from:r.end]
	arg, size := len(r.args), len(r.sizes)
	for i := len(recs) - 1; i >= 0; i-- {
		rec := &recs[i]
		kind := uint64(rec.kind)
		if rec.again {
			kind |= 1 << 7
		}
		// The address tells ops apart that only differ in a call-back.
		what := uint64(uintptr(unsafe.Pointer(rec.op)))
		switch rec.kind {
		case recordOp:
			size = int(rec.size)
		case recordFill:
			what = rec.fill
		}
		words = append(words, kind|uint64(rec.variant)<<8|uint64(rec.nIn)<<32|uint64(rec.nOut)<<48, what)
		arg = int(rec.arg)
	}
	for _, n := range r.sizes[size:] {
		words = append(words, uint64(n))
	}
	k.words = words
	k.ints = append(append(k.ints[:0], r.args[arg:]...), r.twins...)
}

func (k *key) equal(l *key) bool {
	return slices.Equal(k.words, l.words) && slices.Equal(k.ints, l.ints)
}

var hashSeed = maphash.MakeSeed()

// hash is equal for equal keys, while the process lives.
func (k *key) hash() uint64 {
	return maphash.Bytes(hashSeed, bytesOf(k.words)) ^ bits.RotateLeft64(maphash.Bytes(hashSeed, bytesOf(k.ints)), 1)
}

// bytesOf returns the memory of a slice of numbers.
func bytesOf[E uint64 | int32](s []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(E))))
}

// twins finds calls with equal scalars. Its table is reused.
type twins struct {
	table []int32 // open addressing: one more than a call's position in the part
}

// find sets run.twins: for each call of the part that has scalars, one more than
// the position in the part of the first call before it with the same operation,
// operands and scalars, and 0 where there is none.
func (t *twins) find(r *run) {
	n := int(r.end - r.from)
	r.twins = grow(r.twins, n)
	clear(r.twins)
	size := 1 << bits.Len(uint(2*n))
	t.table = grow(t.table, size)
	clear(t.table)
	for i := range int32(n) {
		rec := &r.recs[r.from+i]
		if rec.kind != recordOp || len(rec.op.Params) == 0 || rec.nIn == 0 {
			continue
		}
		h := uint64(uintptr(unsafe.Pointer(rec.op)))
		for _, a := range r.args[rec.arg : rec.arg+rec.nIn] {
			h = (h ^ uint64(a)) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		for at := int(h) & (size - 1); ; at = (at + 1) & (size - 1) {
			j := t.table[at]
			if j == 0 {
				t.table[at] = i + 1
				break
			}
			if r.alike(&r.recs[r.from+j-1], rec) {
				r.twins[i] = j
				break
			}
		}
	}
}

// alike reports whether two calls have operation, operands and scalars in common.
func (r *run) alike(a, b *record) bool {
	if a.op != b.op || a.variant != b.variant ||
		!slices.Equal(r.args[a.arg:a.arg+a.nIn], r.args[b.arg:b.arg+b.nIn]) {
		return false
	}
	n := len(a.op.Params)
	return slices.Equal(r.params[a.param:int(a.param)+n], r.params[b.param:int(b.param)+n])
}
