package runtime_test

import (
	"encoding/binary"
	"sync"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// latch makes the programs of a card late: each begins with a kernel that holds the
// card for some time and until a word in its memory is set.
type latch struct {
	on    backend.Backend
	words unsafe.Pointer

	mu   sync.Mutex
	used int32 // words that closed it, one after another
	now  int32 // the word of programs that are bound now
}

// Word 0 of a latch is always set. A latch that nobody opens opens by itself.
const (
	latchWords = 64
	latchMost  = 20 * time.Second
)

func newLatch(on backend.Backend) *latch {
	l := &latch{on: on, words: on.Alloc(4 * latchWords)}
	if l.words == nil {
		panic("no memory for a latch")
	}
	l.set(0, 1)
	return l
}

func (l *latch) free() { l.on.Free(l.words) }

func (l *latch) set(word, value int32) {
	if err := l.on.Upload(unsafe.Add(l.words, 4*word), unsafe.Pointer(&value), 4); err != nil {
		panic(err)
	}
}

// close makes programs wait that are bound from now on, until open is called.
func (l *latch) close() (open func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used++; l.used == latchWords {
		panic("a latch is closed too often")
	}
	word := l.used
	l.set(word, 0)
	l.now = word
	return func() { l.set(word, 1) }
}

// before puts the kernel before the commands of a program, and the word behind its
// slots.
func (l *latch) before(p *backend.Program, delay time.Duration) *backend.Program {
	late := *p
	late.Slots++
	late.Commands = append([]backend.Command{{
		Kind: backend.Kernel, Name: "kt_latch", Source: &testops.Source, Grid: [3]int64{1, 1, 1}, Threads: 1,
		Block: binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, uint64(delay)), uint64(latchMost)),
		Bufs:  []backend.Buf{{Slot: int32(p.Slots)}},
	}}, p.Commands...)
	return &late
}

// latched is an instance of a program that waits for a latch.
type latched struct {
	backend.Instance
	latch *latch
}

// unlatched returns the backend's instance.
func unlatched(in backend.Instance) backend.Instance {
	if l, ok := in.(*latched); ok {
		return l.Instance
	}
	return in
}

func (in *latched) Bind(base []unsafe.Pointer, param []uint64) {
	in.latch.mu.Lock()
	word := in.latch.now
	in.latch.mu.Unlock()
	in.Instance.Bind(append(base[:len(base):len(base)], unsafe.Add(in.latch.words, 4*word)), param)
}

// Times leaves the kernel that waits out.
func (in *latched) Times() []int64 { return in.Instance.Times()[1:] }
