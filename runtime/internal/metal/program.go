//go:build cgo && (darwin || (softmetal && linux))

package metal

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// code is how a program is laid out: its commands with their bindings, and what a
// parameter buffer holds: kgm_head, kgm_state, fault words, parameter blocks.
type code struct {
	dev    *Device
	cmds   []C.kgm_cmd
	binds  []C.kgm_bind
	at     []int   // of each command of the program, its place in cmds
	ops    []int32 // of each fault word, the operation that it is for
	blocks []byte
	patch  []patch
	slots  int

	scratch *C.kgm_memory // of products, nil without any

	state, words, blockOff int64
}

// patch copies a parameter of a run to an offset of the parameter buffer.
type patch struct {
	off   int64
	param int32
	wide  bool
}

const (
	headBytes = int64(C.sizeof_kgm_head)
	wordBytes = int64(C.sizeof_kg_fault)

	moveThreads = 256   // of kgb_copy and kgb_fill
	moveTile    = 16384 // bytes of a threadgroup
)

func align(n int64) int64 { return (n + C.KGM_ALIGN - 1) &^ (C.KGM_ALIGN - 1) }

// paramSlot stands for the parameter buffer among the slots of bindings and accesses. Two
// slots follow those of the program.
const paramSlot = -1

// historySlot says which of the last programs failed.
func (c *code) historySlot() int32 { return int32(c.slots) }

// scratchSlot is the scratch memory of products.
func (c *code) scratchSlot() int32 { return int32(c.slots) + 1 }

// builder lays a program out.
type builder struct {
	*code
	hazards
	gathered int // fault words that were gathered, the first one among them
}

// Build compiles the kernels of a program that are not ready, and lays it out.
func (d *Device) Build(p *backend.Program) (backend.Code, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &builder{code: &code{dev: d, slots: p.Slots, ops: []int32{-1}, state: align(headBytes)}, gathered: 1}
	b.words = align(b.state + C.sizeof_kgm_state)
	own := int64(1)
	for i := range p.Commands {
		c := &p.Commands[i]
		if err := check(c); err != nil {
			return nil, err
		}
		if c.Faults && !c.Guarded {
			own++
		}
	}
	b.blockOff = align(b.words + own*wordBytes)
	products := d.productsOf(p.Commands)
	if err := d.load(p.Commands, products); err != nil {
		return nil, err
	}
	b.begin()
	for i := range p.Commands {
		if products[i] != nil {
			b.multiply(products[i])
		} else if err := b.add(&p.Commands[i]); err != nil {
			return nil, err
		}
	}
	b.end()
	if n := len(d.scratch); n > 0 {
		b.scratch = d.scratch[n-1]
	}
	return b.code, nil
}

// binding is a place in memory for a kernel, and what the kernel does there.
type binding struct {
	slot  int32
	off   int64
	bytes int64 // 0: to the end of the slot
	use   use
}

type use uint8

const (
	ignored use = iota // bound, since the kernel names it, but not touched
	read
	written
)

// dispatch appends a command of one kernel.
func (b *builder) dispatch(p *C.kgm_pipeline, grid [3]int64, threads int, binds []binding) {
	cmd := C.kgm_cmd{pipeline: p, first: C.int64_t(len(b.binds)), n: C.int64_t(len(binds)), threads: C.uint32_t(threads)}
	for i, n := range grid {
		cmd.groups[i] = C.uint32_t(n)
	}
	var uses []access
	for i, x := range binds {
		b.binds = append(b.binds, C.kgm_bind{slot: C.int32_t(x.slot), index: C.int32_t(i), off: C.int64_t(x.off)})
		end := x.off + x.bytes
		if x.bytes == 0 {
			end = math.MaxInt64
		}
		if x.use != ignored {
			uses = append(uses, access{x.slot, x.off, end, x.use == written})
		}
	}
	if b.hazards.next(uses) {
		cmd.barrier = 1
	}
	b.cmds = append(b.cmds, cmd)
}

func one() [3]int64 { return [3]int64{1, 1, 1} }

// frameBinds are those of kgb_begin and kgb_end.
func (b *builder) frameBinds(history, state use) []binding {
	return []binding{
		{paramSlot, 0, headBytes, read},
		{b.historySlot(), 0, C.KGM_HISTORY * 4, history},
		{paramSlot, b.state, C.sizeof_kgm_state, state},
		{paramSlot, b.words, b.blockOff - b.words, written},
	}
}

func (b *builder) begin() {
	b.dispatch(b.dev.frame.begin, one(), simdWidth, b.frameBinds(read, written))
}

func (b *builder) end() { b.dispatch(b.dev.frame.end, one(), 1, b.frameBinds(written, read)) }

// gather appends a command that makes the first fault word say what all of the commands
// before it found, and names the operation that uses the first word next.
func (b *builder) gather(op int32) {
	from := int64(b.gathered)
	b.gathered = len(b.ops)
	args := binary.NativeEndian.AppendUint64(nil, uint64(from))
	args = binary.NativeEndian.AppendUint64(args, uint64(b.gathered))
	args = binary.NativeEndian.AppendUint64(args, uint64(uint32(op)))
	b.dispatch(b.dev.frame.gather, one(), 1, []binding{b.block(args), {paramSlot, b.words, int64(b.gathered) * wordBytes, written}})
}

// word returns the fault word of a command.
func (b *builder) word(cmd *backend.Command) binding {
	first := binding{paramSlot, b.words, wordBytes, read}
	switch depends := cmd.Guarded || cmd.OnFault; {
	case depends && cmd.Faults:
		b.gather(cmd.Op)
		first.use = written
	case depends:
		if b.gathered < len(b.ops) {
			b.gather(-1)
		}
	case cmd.Faults:
		b.ops = append(b.ops, cmd.Op)
		return binding{paramSlot, b.words + int64(len(b.ops)-1)*wordBytes, wordBytes, written}
	default:
		first.use = ignored
	}
	return first
}

// block places a parameter block and returns its binding.
func (b *builder) block(data []byte) binding {
	at := b.blockOff + int64(len(b.blocks))
	b.blocks = append(b.blocks, data...)
	b.blocks = append(b.blocks, make([]byte, align(int64(len(b.blocks)))-int64(len(b.blocks)))...)
	return binding{paramSlot, at, int64(len(data)), read}
}

// add appends a command.
func (b *builder) add(cmd *backend.Command) error {
	if cmd.Kind != backend.Kernel {
		b.move(cmd)
		return nil
	}
	pipeline, err := b.dev.pipeline(*cmd.Source, cmd.Name, cmd.Threads)
	if err != nil {
		return err
	}
	word := b.word(cmd)
	binds := make([]binding, 0, len(cmd.Bufs)+2)
	for _, x := range cmd.Bufs {
		u := read
		if x.Write {
			u = written
		}
		binds = append(binds, binding{x.Slot, x.Off, x.Bytes, u})
	}
	params := word // where there is no block nothing is read at its index
	params.use = ignored
	if len(cmd.Block) > 0 {
		params = b.block(cmd.Block)
		for _, p := range cmd.Patches {
			b.patch = append(b.patch, patch{params.off + int64(p.Off), p.Param, p.Bytes == 8})
		}
	}
	b.dispatch(pipeline, cmd.Grid, cmd.Threads, append(binds, params, word))
	b.at = append(b.at, len(b.cmds)-1)
	return nil
}

// move appends a copy or a fill, which kernels of this package do: with another encoder
// the program would have to wait for it.
func (b *builder) move(cmd *backend.Command) {
	var tail []binding
	pipeline := b.dev.frame.fill
	switch {
	case cmd.OnFault:
		pipeline, tail = b.dev.frame.copyIf, []binding{b.word(cmd)}
	case cmd.Kind == backend.Copy:
		pipeline = b.dev.frame.copy
	}
	wide := uint64(1)
	binds := make([]binding, 0, 4)
	for i, x := range cmd.Bufs {
		u := read
		if i == 0 {
			u = written
		}
		binds = append(binds, binding{x.Slot, x.Off, cmd.Bytes, u})
		if x.Off%16 != 0 {
			wide = 0
		}
	}
	args := binary.NativeEndian.AppendUint64(nil, uint64(cmd.Bytes))
	args = binary.NativeEndian.AppendUint64(args, cmd.Pattern)
	args = binary.NativeEndian.AppendUint64(args, wide)
	grid := [3]int64{max((cmd.Bytes+moveTile-1)/moveTile, 1), 1, 1}
	b.dispatch(pipeline, grid, moveThreads, append(append(binds, b.block(args)), tail...))
	b.at = append(b.at, len(b.cmds)-1)
}

// smallest is the smallest size of a parameter buffer; the others are its doubles.
const smallest = 4096

func sizeOfParams(n int64) int64 {
	return max(smallest, int64(1)<<bits.Len64(uint64(n-1)))
}

// instance is one run of a program.
type instance struct {
	code  *code
	c     *C.kgm_program
	param *C.kgm_memory
	times []int64
}

// Instance takes the memory for one run, which is kept when it is released.
func (c *code) Instance() (backend.Instance, error) {
	bytes := c.blockOff + int64(len(c.blocks))
	m := c.dev.takeParams(sizeOfParams(bytes))
	if m == nil {
		return nil, fmt.Errorf("metal: a program of %d bytes: %w", bytes, backend.ErrMemory)
	}
	in := &instance{code: c, param: m, c: (*C.kgm_program)(C.calloc(1, C.sizeof_kgm_program))}
	in.c.param = *m
	in.c.slot = (*C.kgm_place)(C.calloc(C.size_t(c.slots+2), C.sizeof_kgm_place))
	in.slot()[c.historySlot()].buffer = c.dev.history.buffer
	if c.scratch != nil {
		in.slot()[c.scratchSlot()].buffer = c.scratch.buffer
	}
	host := in.bytes()
	clear(host)
	copy(host[c.blockOff:], c.blocks)
	(*C.kgm_head)(in.host(0)).nword = C.int64_t(len(c.ops))
	for i, op := range c.ops {
		(*C.kg_fault)(in.host(c.words + int64(i)*wordBytes)).op = C.int32_t(op)
	}
	return in, nil
}

// host is where an offset of the parameter buffer lies in the host's memory.
func (in *instance) host(off int64) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(in.param.address), off)
}

func (in *instance) bytes() []byte {
	return unsafe.Slice((*byte)(in.host(0)), in.code.blockOff+int64(len(in.code.blocks)))
}

func (in *instance) slot() []C.kgm_place { return unsafe.Slice(in.c.slot, in.code.slots+2) }

func (d *Device) takeParams(size int64) *C.kgm_memory {
	d.mu.Lock()
	defer d.mu.Unlock()
	if list := d.spare[size]; len(list) > 0 {
		d.spare[size] = list[:len(list)-1]
		return list[len(list)-1]
	}
	m := newMemory()
	if C.kgm_alloc_shared(d.c, C.int64_t(size), m) == 0 {
		C.free(unsafe.Pointer(m))
		return nil
	}
	return m
}

// Bind notes the memory of the slots and writes the parameters of a run.
func (in *instance) Bind(base []unsafe.Pointer, param []uint64) {
	slots := in.slot()
	in.code.dev.mu.Lock()
	for i, p := range base {
		m, off := in.code.dev.find(p)
		slots[i] = C.kgm_place{buffer: m.buffer, off: C.int64_t(off)}
	}
	in.code.dev.mu.Unlock()
	for _, p := range in.code.patch {
		if p.wide {
			*(*uint64)(in.host(p.off)) = param[p.param]
		} else {
			*(*uint32)(in.host(p.off)) = uint32(param[p.param])
		}
	}
}

// After names the programs whose failure makes this one fail.
func (in *instance) After(seqs []uint64) error {
	h := (*C.kgm_head)(in.host(0))
	if len(seqs) > len(h.after) {
		return fmt.Errorf("metal: a program depends on %d others, the most is %d", len(seqs), len(h.after))
	}
	h.nafter = C.int64_t(len(seqs))
	for i, s := range seqs {
		h.after[i] = C.uint64_t(s)
	}
	return nil
}

// Command returns -1: Metal does not tell the host which command of an encoder runs.
func (in *instance) Command() int { return -1 }

// Timed turns the noting of times on or off. A timed run has a command buffer for each
// command, since Metal gives times of whole command buffers.
func (in *instance) Timed(on bool) error {
	n := len(in.code.cmds)
	switch {
	case on && in.c.ends == nil:
		in.c.ends = (*C.double)(C.calloc(C.size_t(n+1), C.sizeof_double))
		in.times = make([]int64, len(in.code.at)+1)
	case !on && in.c.ends != nil:
		C.free(unsafe.Pointer(in.c.ends))
		in.c.ends = nil
	}
	return nil
}

// Times returns what a timed run noted.
func (in *instance) Times() []int64 {
	ends := unsafe.Slice(in.c.ends, len(in.code.cmds)+1)
	nanoseconds := func(i int) int64 { return int64(float64(ends[i]) * 1e9) }
	in.times[0] = nanoseconds(1) // the end of kgb_begin
	for i, at := range in.code.at {
		in.times[i+1] = nanoseconds(at + 1)
	}
	return in.times
}

// result reads the outcome of a run that is complete. Whatever the error is, part of the
// program may have changed memory, so it does not wrap backend.ErrMemory: the device is
// lost.
func (in *instance) result() backend.Result {
	if in.c.error.text != nil {
		return backend.Result{Err: taken("run", &in.c.error)}
	}
	f := (*C.kg_fault)(in.host(in.code.words))
	switch {
	case (*C.kgm_state)(in.host(in.code.state)).skipped != 0:
		return backend.Result{Skipped: true}
	case f.set != 0:
		return backend.Result{Fault: backend.Fault{Set: true, Op: int32(f.op), Tensor: int32(f.tensor),
			Pos: int64(f.pos), Value: int64(f.value), Bound: int64(f.bound)}}
	}
	return backend.Result{}
}

// Release frees the instance.
func (in *instance) Release() {
	d := in.code.dev
	C.kgm_free_text(in.c.error.text)
	C.free(unsafe.Pointer(in.c.ends))
	C.free(unsafe.Pointer(in.c.slot))
	C.free(unsafe.Pointer(in.c))
	d.mu.Lock()
	defer d.mu.Unlock()
	size := int64(in.param.bytes)
	d.spare[size] = append(d.spare[size], in.param)
	in.param = nil
}
