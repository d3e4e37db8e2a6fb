//go:build linux && cgo

package cuda

/*
#include "device.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// code is how a program is laid out for the card: its commands, and what a parameter
// buffer holds: kgc_head, table of addresses, parameter blocks, kgc_state. Copies and
// fills are kernels too, so a graph of a run holds no address that a later one changes.
type code struct {
	dev    *Device
	cmds   []C.kgc_cmd
	table  []backend.Buf
	blocks []byte
	patch  []patch

	tableOff, blockOff, state int64
}

// patch copies a parameter of a run to an offset of the parameter buffer.
type patch struct {
	off   int64
	param int32
	wide  bool
}

const (
	ptrBytes   = int64(unsafe.Sizeof(uintptr(0)))
	stateBytes = int64(C.sizeof_kgc_state)

	moveThreads = 256   // of kgb_copy and kgb_fill
	moveTile    = 16384 // bytes of a block
)

func align(n int64) int64 { return (n + 63) &^ 63 }

// Build compiles the kernels of a program that are not loaded, and lays it out.
func (d *Device) Build(p *backend.Program) (backend.Code, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range p.Commands {
		if err := check(&p.Commands[i]); err != nil {
			return nil, err
		}
	}
	products := d.productsOf(p.Commands)
	if err := d.load(d.units(p.Commands, products)); err != nil {
		return nil, err
	}
	c := &code{dev: d, tableOff: align(C.sizeof_kgc_head)}
	for i := range p.Commands {
		c.table = append(c.table, p.Commands[i].Bufs...)
	}
	c.blockOff = align(c.tableOff + ptrBytes*int64(len(c.table)))
	ref := int64(0)
	for i := range p.Commands {
		if err := c.add(&p.Commands[i], products[i], c.tableOff+ptrBytes*ref); err != nil {
			return nil, err
		}
		ref += int64(len(p.Commands[i].Bufs))
	}
	c.state = align(c.blockOff + int64(len(c.blocks)))
	return c, nil
}

// check refuses what the card cannot run.
func check(cmd *backend.Command) error {
	switch {
	case cmd.Kind == backend.Host, cmd.Kind == backend.Kernel && cmd.Source == nil:
		return fmt.Errorf("cuda: command %s has no CUDA source", cmd.Name)
	case cmd.OnFault && cmd.Kind != backend.Copy:
		return fmt.Errorf("cuda: command %s is to run after a fault, which only a copy can", cmd.Name)
	case cmd.Kind == backend.Kernel && (cmd.Threads < 1 || slices.Min(cmd.Grid[:]) < 1):
		return fmt.Errorf("cuda: kernel %s has a grid of %v blocks of %d threads", cmd.Name, cmd.Grid, cmd.Threads)
	}
	return nil
}

// add appends a command whose addresses are at an offset of the parameter buffer.
func (c *code) add(cmd *backend.Command, product *C.kgc_product, buf int64) error {
	out := C.kgc_cmd{op: C.int32_t(cmd.Op), buf: C.int64_t(buf), block: C.int64_t(c.addBlock(cmd))}
	switch {
	case product != nil:
		q := cmd.Product
		out.product = product
		out.left_at, out.right_at, out.out_at, out.bias_at = C.int32_t(q.B), C.int32_t(q.A), C.int32_t(q.C), C.int32_t(q.Bias)
	case cmd.Kind == backend.Kernel:
		k, err := c.dev.function(*cmd.Source, cmd.Name, cmd.Threads)
		if err != nil {
			return err
		}
		out.fn, out.early, out.threads = k.fn, C.bool(k.early), C.uint32_t(cmd.Threads)
		for i, n := range cmd.Grid {
			out.grid[i] = C.uint32_t(n)
		}
	default:
		k := c.dev.mover(cmd)
		out.fn, out.early, out.threads = k.fn, C.bool(k.early), moveThreads
		out.grid = [3]C.uint32_t{C.uint32_t(max((cmd.Bytes+moveTile-1)/moveTile, 1)), 1, 1}
	}
	c.cmds = append(c.cmds, out)
	return nil
}

// mover returns the kernel of a copy or fill.
func (d *Device) mover(cmd *backend.Command) kernel {
	switch {
	case cmd.Kind == backend.Fill:
		return d.fill
	case cmd.OnFault:
		return d.restore
	}
	return d.copy
}

// addBlock places the parameter block of a command and returns its offset.
func (c *code) addBlock(cmd *backend.Command) int64 {
	at := c.blockOff + int64(len(c.blocks))
	for _, p := range cmd.Patches {
		c.patch = append(c.patch, patch{at + int64(p.Off), p.Param, p.Bytes == 8})
	}
	if cmd.Kind == backend.Kernel {
		c.blocks = append(c.blocks, cmd.Block...)
	} else {
		c.blocks = binary.NativeEndian.AppendUint64(c.blocks, uint64(cmd.Bytes))
		c.blocks = binary.NativeEndian.AppendUint64(c.blocks, cmd.Pattern)
	}
	c.blocks = append(c.blocks, make([]byte, -len(c.blocks)&15)...)
	return at
}

// twins are a pinned piece of host memory and one on the card.
type twins struct {
	host unsafe.Pointer
	dev  C.uint64_t
}

// twinBytes is the smallest size of twins; the others are its doubles.
const twinBytes = 4096

func sizeOfTwins(n int64) int64 {
	return max(twinBytes, int64(1)<<bits.Len64(uint64(n-1)))
}

// instance is one run of a program.
type instance struct {
	code  *code
	c     C.kgc_program
	twins twins
	times []int64
}

// Instance takes the memory for one run. It is kept when it is released, since
// giving pinned memory back waits for every program that runs.
func (c *code) Instance() (backend.Instance, error) {
	bytes := c.state + stateBytes
	t, err := c.dev.takeTwins(sizeOfTwins(bytes))
	if err != nil {
		return nil, fmt.Errorf("a program of %d bytes: %w", bytes, err)
	}
	host := unsafe.Slice((*byte)(t.host), bytes)
	clear(host)
	copy(host[c.blockOff:], c.blocks)
	in := &instance{code: c, twins: t}
	in.c.host, in.c.dev, in.c.state = (*C.char)(t.host), t.dev, C.int64_t(c.state)
	return in, nil
}

func (d *Device) takeTwins(size int64) (t twins, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if list := d.spare[size]; len(list) > 0 {
		t, d.spare[size] = list[len(list)-1], list[:len(list)-1]
		return t, nil
	}
	err = d.err(C.kgc_alloc_twins(d.c, C.int64_t(size), &t.host, &t.dev))
	return t, err
}

// Bind writes the addresses and the parameters of a run.
func (in *instance) Bind(base []unsafe.Pointer, param []uint64) {
	c := in.code
	table := unsafe.Slice((*unsafe.Pointer)(unsafe.Add(in.twins.host, c.tableOff)), len(c.table))
	for i, b := range c.table {
		table[i] = unsafe.Add(base[b.Slot], b.Off)
	}
	for _, p := range c.patch {
		at := unsafe.Add(in.twins.host, p.off)
		if p.wide {
			*(*uint64)(at) = param[p.param]
		} else {
			*(*uint32)(at) = uint32(param[p.param])
		}
	}
}

// After names the programs whose failure makes this one fail.
func (in *instance) After(seqs []uint64) error {
	h := (*C.kgc_head)(in.twins.host)
	if len(seqs) > len(h.after) {
		return fmt.Errorf("cuda: a program depends on %d others, the most is %d", len(seqs), len(h.after))
	}
	h.nafter = C.int64_t(len(seqs))
	for i, s := range seqs {
		h.after[i] = C.uint64_t(s)
	}
	return nil
}

// Command returns -1: to note each command's end where the host sees it would cost
// more than many kernels.
func (in *instance) Command() int { return -1 }

// Timed turns the noting of times on or off. A timed run is not a replay.
func (in *instance) Timed(on bool) error {
	switch d := in.code.dev; {
	case on && in.c.event == nil:
		in.times = make([]int64, len(in.code.cmds)+1)
		return d.err(C.kgc_time(d.c, &in.c, C.int64_t(len(in.code.cmds))))
	case !on && in.c.event != nil:
		C.kgc_untime(d.c, &in.c)
	}
	return nil
}

// Times returns what a timed run noted.
func (in *instance) Times() []int64 {
	C.kgc_times(in.code.dev.c, &in.c, (*C.int64_t)(&in.times[0]))
	return in.times
}

// result reads the outcome of a run that is complete.
func (in *instance) result() backend.Result {
	s := (*C.kgc_state)(unsafe.Add(in.twins.host, in.code.state))
	f := &s.fault
	switch {
	case s.skipped != 0:
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
	C.kgc_release(d.c, &in.c)
	d.mu.Lock()
	defer d.mu.Unlock()
	size := sizeOfTwins(in.code.state + stateBytes)
	d.spare[size] = append(d.spare[size], in.twins)
	in.twins = twins{}
}
