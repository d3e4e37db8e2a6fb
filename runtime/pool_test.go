package runtime

import (
	"errors"
	"math/rand"
	"testing"
	"unsafe"
)

// fakeMemory counts what a driver would hold.
type fakeMemory struct {
	sizes map[unsafe.Pointer]int64
	limit int64
	bytes int64
	calls int
}

func newFakeMemory(limit int64) *fakeMemory {
	return &fakeMemory{sizes: map[unsafe.Pointer]int64{}, limit: limit}
}

func (m *fakeMemory) Alloc(bytes int64) unsafe.Pointer {
	m.calls++
	if m.bytes+bytes > m.limit {
		return nil
	}
	p := unsafe.Pointer(new(int64))
	m.sizes[p] = bytes
	m.bytes += bytes
	return p
}

func (m *fakeMemory) Free(p unsafe.Pointer) {
	m.bytes -= m.sizes[p]
	delete(m.sizes, p)
}

func TestSizeClasses(t *testing.T) {
	last, lastBytes := -1, int64(0)
	for n := int64(0); n < 1<<16; n++ {
		class, bytes := sizeClass(n)
		if bytes < n || bytes%blockAlign != 0 {
			t.Fatalf("%d bytes: class of %d", n, bytes)
		}
		if n > 256 && bytes*4 > n*5+4 {
			t.Fatalf("%d bytes: class of %d wastes too much", n, bytes)
		}
		if class != last && (class != last+1 || bytes <= lastBytes) {
			t.Fatalf("%d bytes: class %d of %d after %d of %d", n, class, bytes, last, lastBytes)
		}
		if c, b := sizeClass(bytes); c != class || b != bytes {
			t.Fatalf("class %d of %d bytes is itself in class %d of %d", class, bytes, c, b)
		}
		last, lastBytes = class, bytes
	}
}

// Buckets of exact sizes would keep 2 GB here.
func TestPoolStaysBelowItsCap(t *testing.T) {
	const limit = 16 << 20
	mem := newFakeMemory(1 << 40)
	p := newPool(mem, limit, 100)
	step := func(n int64) {
		t.Helper()
		l, err := p.acquire(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.release(l); err != nil {
			t.Fatal(err)
		}
		if p.stats.Cached > limit || p.stats.Free > 100 || p.stats.Cached != mem.bytes || len(mem.sizes) != p.stats.Free {
			t.Fatalf("after %d bytes: %+v, driver holds %d bytes", n, p.stats, mem.bytes)
		}
	}
	for n := int64(1); n <= 1000; n++ {
		step(n * 4096)
	}
	r := rand.New(rand.NewSource(1))
	calls := mem.calls
	for range 1000 {
		step(1 + r.Int63n(1<<20))
	}
	if got := mem.calls - calls; got > 60 {
		t.Errorf("1000 requests of up to 1 MiB made %d driver buffers", got)
	}
	p.trim()
	if p.stats.Cached != 0 || mem.bytes != 0 {
		t.Errorf("after trim: %+v, driver holds %d bytes", p.stats, mem.bytes)
	}
}

func TestPoolReleaseIsGoodOnce(t *testing.T) {
	mem := newFakeMemory(1 << 20)
	p := newPool(mem, 1<<20, 10)
	a, _ := p.acquire(100)
	if err := p.release(a); err != nil {
		t.Fatal(err)
	}
	if err := p.release(a); !errors.Is(err, errReleased) {
		t.Errorf("second release: %v", err)
	}
	b, _ := p.acquire(100)
	if b.block != a.block {
		t.Fatal("the block was not reused")
	}
	if err := p.release(a); !errors.Is(err, errReleased) {
		t.Errorf("release of an old lease of a block in use: %v", err)
	}
	p.close()
	if err := p.release(b); !errors.Is(err, errPoolClosed) {
		t.Errorf("release after close: %v", err)
	}
	if mem.bytes != 0 {
		t.Errorf("after close the driver holds %d bytes", mem.bytes)
	}
}

func TestPoolEvictsAndRetriesWhenMemoryIsOut(t *testing.T) {
	mem := newFakeMemory(1 << 20)
	p := newPool(mem, 1<<20, 10)
	a, _ := p.acquire(512 << 10)
	if err := p.release(a); err != nil {
		t.Fatal(err)
	}
	b, err := p.acquire(768 << 10)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.acquire(512 << 10)
	var oom *MemoryError
	if !errors.As(err, &oom) || oom.Asked != 512<<10 || oom.Held != b.bytes {
		t.Errorf("got %v", err)
	}
	if _, err := p.acquire(-1); err == nil {
		t.Error("negative size accepted")
	}
}

// The capacity is what counts, the last released block of a class comes first.
func TestPoolReusesTheWarmBlock(t *testing.T) {
	p := newPool(newFakeMemory(1<<20), 1<<20, 10)
	a, _ := p.acquire(4000)
	b, _ := p.acquire(4000)
	if p.stats.Live != 2*4096 {
		t.Errorf("live %d, want the capacity of both", p.stats.Live)
	}
	p.release(a)
	p.release(b)
	if c, _ := p.acquire(3900); c.block != b.block {
		t.Error("got the colder block")
	}
}
