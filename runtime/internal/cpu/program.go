//go:build cgo

package cpu

/*
#include "pool.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// code is how a program is laid out for C. Each instance is one piece of C
// memory: header, commands, table of addresses, parameter blocks.
type code struct {
	dev    *Device
	cmds   []backend.Command
	table  []backend.Buf
	blocks []byte
	at     []int64 // offset of each command's block in the piece
	patch  []patch

	cmdOff, tableOff, blockOff, bytes int64
}

// patch copies a parameter of a run to an offset of the piece.
type patch struct {
	off   int64
	param int32
	wide  bool
}

const (
	headerBytes = int64(unsafe.Sizeof(C.kgp_program{}))
	cmdBytes    = int64(unsafe.Sizeof(C.kgp_cmd{}))
	ptrBytes    = int64(unsafe.Sizeof(uintptr(0)))
)

func align(n int64) int64 { return (n + 63) &^ 63 }

// Build lays a program out.
func (d *Device) Build(p *backend.Program) (backend.Code, error) {
	c := &code{dev: d, cmds: p.Commands, at: make([]int64, len(p.Commands))}
	for i := range c.cmds {
		cmd := &c.cmds[i]
		if cmd.Kind == backend.Host || cmd.Kind == backend.Kernel && cmd.Func == nil {
			return nil, fmt.Errorf("cpu: command %s has no C function", cmd.Name)
		}
		c.table = append(c.table, cmd.Bufs...)
	}
	c.cmdOff = align(headerBytes)
	c.tableOff = align(c.cmdOff + cmdBytes*int64(len(c.cmds)))
	c.blockOff = align(c.tableOff + ptrBytes*int64(len(c.table)))
	for i := range c.cmds {
		c.addBlock(i)
	}
	c.bytes = align(c.blockOff + int64(len(c.blocks)))
	return c, nil
}

// addBlock places the parameter block of a command.
func (c *code) addBlock(i int) {
	cmd := &c.cmds[i]
	c.at[i] = c.blockOff + int64(len(c.blocks))
	for _, p := range cmd.Patches {
		c.patch = append(c.patch, patch{c.at[i] + int64(p.Off), p.Param, p.Bytes == 8})
	}
	c.blocks = append(c.blocks, cmd.Block...)
	c.blocks = append(c.blocks, make([]byte, -len(cmd.Block)&15)...)
}

// instance is one piece of C memory.
type instance struct {
	code *code
	mem  unsafe.Pointer
}

// Instance allocates the memory for one run.
func (c *code) Instance() (backend.Instance, error) {
	mem := C.kgp_alloc(C.int64_t(c.bytes))
	if mem == nil {
		return nil, fmt.Errorf("%w for a program of %d bytes", backend.ErrMemory, c.bytes)
	}
	clear(unsafe.Slice((*byte)(mem), c.bytes))
	in := &instance{code: c, mem: mem}
	copy(unsafe.Slice((*byte)(unsafe.Add(mem, c.blockOff)), len(c.blocks)), c.blocks)
	h := in.header()
	h.cmd, h.ncmd = (*C.kgp_cmd)(unsafe.Add(mem, c.cmdOff)), C.int64_t(len(c.cmds))
	cmds := unsafe.Slice(h.cmd, len(c.cmds))
	ref := int64(0)
	for i := range c.cmds {
		in.fill(&cmds[i], &c.cmds[i], c.at[i], ref)
		ref += int64(len(c.cmds[i].Bufs))
	}
	return in, nil
}

// fill sets the C form of a command.
func (in *instance) fill(out *C.kgp_cmd, cmd *backend.Command, block, ref int64) {
	out.op = C.int32_t(cmd.Op)
	if cmd.OnFault {
		out.flags = C.KGP_ON_FAULT
	}
	out.buf = (*unsafe.Pointer)(unsafe.Add(in.mem, in.code.tableOff+ptrBytes*ref))
	out.n, out.pattern = C.int64_t(cmd.Bytes), C.uint64_t(cmd.Pattern)
	switch cmd.Kind {
	case backend.Copy:
		out.kind = C.KGP_COPY
	case backend.Fill:
		out.kind = C.KGP_FILL
	default:
		out.kind, out.fn = C.KGP_KERNEL, C.kg_kernel(cmd.Func)
		out.block = unsafe.Add(in.mem, block)
		out.n, out.chunk, out.scratch = C.int64_t(cmd.Items), C.int64_t(cmd.Chunk), C.int64_t(cmd.Scratch)
	}
}

func (in *instance) header() *C.kgp_program { return (*C.kgp_program)(in.mem) }

// Bind writes the addresses and the parameters of a run.
func (in *instance) Bind(base []unsafe.Pointer, param []uint64) {
	c := in.code
	table := unsafe.Slice((*unsafe.Pointer)(unsafe.Add(in.mem, c.tableOff)), len(c.table))
	for i, b := range c.table {
		table[i] = unsafe.Add(base[b.Slot], b.Off)
	}
	for _, p := range c.patch {
		at := unsafe.Add(in.mem, p.off)
		if p.wide {
			*(*uint64)(at) = param[p.param]
		} else {
			*(*uint32)(at) = uint32(param[p.param])
		}
	}
}

// After names the programs whose failure makes this one fail.
func (in *instance) After(seqs []uint64) error {
	h := in.header()
	h.nafter = 0
	if len(seqs) == 0 {
		return nil
	}
	if C.kgp_reserve_after(h, C.int64_t(len(seqs))) == 0 {
		return fmt.Errorf("%w for a program's dependencies", backend.ErrMemory)
	}
	h.nafter = C.int64_t(len(seqs))
	after := unsafe.Slice(h.after, len(seqs))
	for i, s := range seqs {
		after[i] = C.uint64_t(s)
	}
	return nil
}

// Command returns the position of the command that the program has come to.
func (in *instance) Command() int { return int(C.kgp_at(in.header())) }

// Timed turns the noting of times on or off.
func (in *instance) Timed(on bool) error {
	h := in.header()
	switch {
	case on && h.times == nil:
		n := int64(len(in.code.cmds)) + 1
		if h.times = (*C.int64_t)(C.kgp_alloc(C.int64_t(8 * n))); h.times == nil {
			return fmt.Errorf("%w for the times of %d commands", backend.ErrMemory, n-1)
		}
	case !on && h.times != nil:
		C.kgp_free(unsafe.Pointer(h.times))
		h.times = nil
	}
	return nil
}

// Times returns what a timed run noted.
func (in *instance) Times() []int64 {
	return unsafe.Slice((*int64)(in.header().times), len(in.code.cmds)+1)
}

// Release frees the memory.
func (in *instance) Release() {
	C.kgp_free(unsafe.Pointer(in.header().times))
	C.kgp_free(unsafe.Pointer(in.header().after))
	C.kgp_free(in.mem)
	in.mem = nil
}
