package runtime

import (
	"errors"
	"math"
	"math/bits"
	"unsafe"
)

// blockAlign is the alignment and the smallest size of device memory.
const blockAlign = 64

// block is a piece of device memory: in use, or kept by the pool for reuse.
type block struct {
	ptr   unsafe.Pointer
	bytes int64  // capacity, the size of its class
	gen   uint32 // raised at each release, so that a lease is good once
	used  bool

	older, newer *block // free blocks, by time of release
	next, prev   *block // free blocks of the class, last released first; or all blocks in use
}

// lease is the right to use a block, until it is released.
type lease struct {
	*block
	gen uint32
}

// PoolStats counts device memory, in bytes of real capacity.
type PoolStats struct {
	Live      int64 // bytes in use
	Peak      int64 // most bytes in use so far
	Cached    int64 // bytes kept for reuse
	Blocks    int   // blocks in use
	Free      int   // blocks kept for reuse
	Hits      int64 // requests served from the cache
	Misses    int64 // requests served by the backend
	Evictions int64 // blocks given back to the backend to respect a cap or to free memory
}

// allocator gives and takes device memory.
type allocator interface {
	Alloc(bytes int64) unsafe.Pointer
	Free(p unsafe.Pointer)
}

// pool keeps released device memory by size class. Its cached bytes and blocks
// never exceed the caps; the block released longest ago goes first. It is not
// safe for concurrent use.
type pool struct {
	mem      allocator
	capBytes int64
	capCount int
	class    [4 * 64]*block
	oldest   *block
	newest   *block
	live     *block
	spare    *block // block structs without memory, linked by next
	stats    PoolStats
	closed   bool
}

var (
	errReleased   = errors.New("pool: the block was already released")
	errPoolClosed = errors.New("pool: release after close")
)

func newPool(mem allocator, capBytes int64, capCount int) *pool {
	return &pool{mem: mem, capBytes: capBytes, capCount: capCount}
}

// sizeClass returns the number and the capacity of the smallest class that
// holds n bytes. There are four classes to each doubling, so at most a fifth
// of a block is unused (above the smallest sizes).
func sizeClass(n int64) (class int, bytes int64) {
	if n <= blockAlign*4 {
		c := max((n+blockAlign-1)/blockAlign, 1)
		return int(c - 1), c * blockAlign
	}
	shift := bits.Len64(uint64(n-1)) - 3
	q := (n - 1) >> shift // 4 to 7
	return 4*(shift-6) + int(q-4) + 4, (q + 1) << shift
}

// acquire returns a block of at least n bytes. Its contents are undefined.
func (p *pool) acquire(n int64) (lease, error) {
	if n < 0 || n > math.MaxInt64/4 {
		return lease{}, &MemoryError{Asked: n, Held: p.stats.Live}
	}
	class, bytes := sizeClass(n)
	b := p.class[class]
	if b != nil {
		p.unlink(b, class)
		p.stats.Hits++
	} else {
		ptr := p.alloc(bytes)
		if ptr == nil {
			return lease{}, &MemoryError{Asked: n, Held: p.stats.Live}
		}
		b = p.newBlock()
		b.ptr, b.bytes = ptr, bytes
		p.stats.Misses++
	}
	b.used = true
	b.push(&p.live)
	p.stats.Blocks++
	p.stats.Live += b.bytes
	p.stats.Peak = max(p.stats.Peak, p.stats.Live)
	return lease{b, b.gen}, nil
}

// alloc asks the backend; when it has nothing left, once more without the cache.
func (p *pool) alloc(bytes int64) unsafe.Pointer {
	ptr := p.mem.Alloc(bytes)
	if ptr == nil && p.oldest != nil {
		p.trim()
		ptr = p.mem.Alloc(bytes)
	}
	return ptr
}

// release takes a block back.
func (p *pool) release(l lease) error {
	if p.closed {
		return errPoolClosed
	}
	if l.block == nil || !l.used || l.gen != l.block.gen {
		return errReleased
	}
	b := l.block
	b.used = false
	b.gen++
	b.remove(&p.live)
	p.stats.Blocks--
	p.stats.Live -= b.bytes
	if b.bytes > p.capBytes || p.capCount < 1 {
		p.stats.Evictions++
		p.drop(b)
		return nil
	}
	for p.stats.Cached+b.bytes > p.capBytes || p.stats.Free >= p.capCount {
		p.evict()
	}
	p.link(b)
	return nil
}

// evict gives the block released longest ago back to the backend.
func (p *pool) evict() {
	b := p.oldest
	class, _ := sizeClass(b.bytes)
	p.unlink(b, class)
	p.stats.Evictions++
	p.drop(b)
}

// trim gives everything cached back to the backend.
func (p *pool) trim() {
	for p.oldest != nil {
		p.evict()
	}
}

// close gives everything back, blocks in use too.
func (p *pool) close() {
	p.trim()
	for b := p.live; b != nil; b = b.next {
		p.mem.Free(b.ptr)
		b.ptr = nil
		b.gen++
		b.used = false
	}
	p.live = nil
	p.stats.Live, p.stats.Blocks = 0, 0
	p.closed = true
}

func (p *pool) link(b *block) {
	class, _ := sizeClass(b.bytes)
	b.push(&p.class[class])
	b.older, b.newer = p.newest, nil
	if p.newest != nil {
		p.newest.newer = b
	} else {
		p.oldest = b
	}
	p.newest = b
	p.stats.Cached += b.bytes
	p.stats.Free++
}

func (p *pool) unlink(b *block, class int) {
	b.remove(&p.class[class])
	if b.older != nil {
		b.older.newer = b.newer
	} else {
		p.oldest = b.newer
	}
	if b.newer != nil {
		b.newer.older = b.older
	} else {
		p.newest = b.older
	}
	b.older, b.newer = nil, nil
	p.stats.Cached -= b.bytes
	p.stats.Free--
}

// push puts b in front of a list.
func (b *block) push(head **block) {
	b.prev, b.next = nil, *head
	if b.next != nil {
		b.next.prev = b
	}
	*head = b
}

// remove takes b out of a list.
func (b *block) remove(head **block) {
	if b.prev != nil {
		b.prev.next = b.next
	} else {
		*head = b.next
	}
	if b.next != nil {
		b.next.prev = b.prev
	}
	b.prev, b.next = nil, nil
}

// drop frees the memory of a block and keeps its struct.
func (p *pool) drop(b *block) {
	p.mem.Free(b.ptr)
	b.ptr, b.bytes = nil, 0
	b.next, p.spare = p.spare, b
}

func (p *pool) newBlock() *block {
	b := p.spare
	if b == nil {
		return &block{}
	}
	p.spare, b.next = b.next, nil
	return b
}
