package runtime

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// reference is the backend that runs generated Go functions. Programs run one
// after another on the goroutine that waits for them, or on one that lives as
// long as there is queued work.
type reference struct {
	mu     sync.Mutex
	ready  sync.Cond
	done   uint64 // programs complete
	queue  []queued
	busy   bool // the goroutine for queued work exists
	failed [2 * backend.MaxInFlight]bool
	blocks map[unsafe.Pointer][]byte
}

type queued struct {
	seq uint64
	in  *referenceInstance
}

func newReference() *reference {
	b := &reference{blocks: map[unsafe.Pointer][]byte{}}
	b.ready.L = &b.mu
	return b
}

func (b *reference) Name() string { return "reference" }

func (b *reference) Alloc(bytes int64) unsafe.Pointer {
	if bytes > min(maxGoAlloc, math.MaxInt-blockAlign) {
		return nil
	}
	mem := make([]byte, bytes+blockAlign)
	p := unsafe.Pointer(&mem[0])
	p = unsafe.Add(p, -uintptr(p)&(blockAlign-1))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blocks[p] = mem
	return p
}

// maxGoAlloc is the most that the Go heap is asked for at once: more would end
// the process instead of giving an error.
const maxGoAlloc = 1 << 40

func (b *reference) Free(p unsafe.Pointer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.blocks, p)
}

func (b *reference) Upload(dst, src unsafe.Pointer, n int64) error {
	copy(bytesAt(dst, n), bytesAt(src, n))
	return nil
}

func (b *reference) Download(dst, src unsafe.Pointer, n int64) error { return b.Upload(dst, src, n) }

func (b *reference) Build(p *backend.Program) (backend.Code, error) { return referenceCode{p}, nil }

func (b *reference) Run(seq uint64, in backend.Instance) backend.Result {
	b.run(seq, in.(*referenceInstance))
	return in.(*referenceInstance).result
}

func (b *reference) Submit(seq uint64, in backend.Instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, queued{seq, in.(*referenceInstance)})
	if !b.busy {
		b.busy = true
		go b.drain()
	}
}

// drain runs queued programs until there is none.
func (b *reference) drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 {
		q := b.queue[0]
		b.queue = append(b.queue[:0], b.queue[1:]...)
		b.mu.Unlock()
		b.run(q.seq, q.in)
		b.mu.Lock()
	}
	b.busy = false
	b.ready.Broadcast()
}

func (b *reference) Wait(seq uint64, in backend.Instance) backend.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.done < seq {
		b.ready.Wait()
	}
	return in.(*referenceInstance).result
}

var referenceStart = time.Now()

func referenceNow() int64 { return int64(time.Since(referenceStart)) }

func (b *reference) Now() int64 { return referenceNow() }

func (b *reference) Await(seq uint64, d time.Duration) bool {
	end := time.Now().Add(d)
	wake := time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ready.Broadcast()
	})
	defer wake.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.done < seq && time.Now().Before(end) {
		b.ready.Wait()
	}
	return b.done >= seq
}

func (b *reference) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.busy {
		b.ready.Wait()
	}
	clear(b.blocks)
}

// run executes a program when its turn comes.
func (b *reference) run(seq uint64, in *referenceInstance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.done != seq-1 {
		b.ready.Wait()
	}
	in.result = backend.Result{}
	for _, s := range in.after {
		in.result.Skipped = in.result.Skipped || b.failed[s%uint64(len(b.failed))]
	}
	if !in.result.Skipped {
		b.mu.Unlock()
		in.execute()
		b.mu.Lock()
	}
	b.failed[seq%uint64(len(b.failed))] = !in.result.OK()
	b.done = seq
	b.ready.Broadcast()
}

type referenceCode struct{ program *backend.Program }

func (c referenceCode) Instance() (backend.Instance, error) {
	return &referenceInstance{program: c.program, base: make([]unsafe.Pointer, c.program.Slots), param: make([]uint64, c.program.Params)}, nil
}

type referenceInstance struct {
	program *backend.Program
	base    []unsafe.Pointer
	param   []uint64
	after   []uint64
	bufs    []unsafe.Pointer
	times   []int64 // nil unless timed
	at      atomic.Int64
	result  backend.Result
}

func (in *referenceInstance) Bind(base []unsafe.Pointer, param []uint64) {
	copy(in.base, base)
	copy(in.param, param)
}

func (in *referenceInstance) After(seqs []uint64) error {
	in.after = append(in.after[:0], seqs...)
	return nil
}

func (in *referenceInstance) Command() int { return int(in.at.Load()) }

func (in *referenceInstance) Timed(on bool) error {
	in.times = nil
	if on {
		in.times = make([]int64, len(in.program.Commands)+1)
	}
	return nil
}

func (in *referenceInstance) Times() []int64 { return in.times }

func (in *referenceInstance) Release() {}

// execute runs the commands. After a fault only those run that undo what was
// written.
func (in *referenceInstance) execute() {
	in.at.Store(0)
	in.noteTime(0)
	for i := range in.program.Commands {
		c := &in.program.Commands[i]
		if c.OnFault == in.result.Fault.Set {
			in.command(c)
		}
		in.noteTime(i + 1)
		in.at.Store(int64(i + 1))
	}
}

func (in *referenceInstance) noteTime(i int) {
	if in.times != nil {
		in.times[i] = referenceNow()
	}
}

func (in *referenceInstance) command(c *backend.Command) {
	in.bufs = in.bufs[:0]
	for _, b := range c.Bufs {
		in.bufs = append(in.bufs, unsafe.Add(in.base[b.Slot], b.Off))
	}
	switch c.Kind {
	case backend.Host:
		if f := c.HostFunc(in.bufs, in.param); f.Set {
			in.result.Fault = f
			in.result.Fault.Op = c.Op
		}
	case backend.Copy:
		copy(bytesAt(in.bufs[0], c.Bytes), bytesAt(in.bufs[1], c.Bytes))
	case backend.Fill:
		fillPattern(bytesAt(in.bufs[0], c.Bytes), c.Pattern)
	}
}

func bytesAt(p unsafe.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }

func fillPattern(dst []byte, pattern uint64) {
	for i := range dst {
		dst[i] = byte(pattern >> (8 * (i & 7)))
	}
}
