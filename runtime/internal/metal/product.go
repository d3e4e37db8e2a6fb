//go:build cgo && (darwin || (softmetal && linux))

package metal

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// MetalPerformanceShaders loads 16 bytes at a time: it wants matrices and rows that begin
// at multiples of them. A matrix that does not lie so is copied to one whose rows are of
// whole cache lines of 64 bytes, and the result is copied back.
const (
	rowAlign  = 16
	paddedRow = 64
)

// OpenProducts lets MetalPerformanceShaders compute the products of programs that are
// built from now on.
func (d *Device) OpenProducts() error {
	var e C.kgm_error
	if C.kgm_open_products(d.c, &e) == 0 {
		return taken("MetalPerformanceShaders", &e)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.products == nil {
		d.products = map[C.kgm_shape]*C.kgm_product{}
	}
	return nil
}

// Products returns how many commands of the programs that were built are products of
// MetalPerformanceShaders.
func (d *Device) Products() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.multiplied
}

// product is a product that MetalPerformanceShaders computes: A, B and C.
type product struct {
	c       *C.kgm_product
	operand [3]operand
	scratch int64 // bytes
}

// operand is a matrix of a product, or a batch of them: all rows lie equally far apart.
type operand struct {
	buf       backend.Buf
	rows, row int64 // of so many bytes
	padded    bool  // copied to scratch memory, or from there
	off       int64 // in scratch memory
}

// pitch is how many bytes apart the framework finds rows.
func (o *operand) pitch() int64 {
	if o.padded {
		return (o.row + paddedRow - 1) / paddedRow * paddedRow
	}
	return o.row
}

// productsOf returns for each command the product that it is. The caller holds d.mu.
func (d *Device) productsOf(cmds []backend.Command) []*product {
	list := make([]*product, len(cmds))
	for i := range cmds {
		list[i] = d.productOf(&cmds[i])
	}
	return list
}

// productOf returns the product that a command is, nil if MetalPerformanceShaders is not
// to compute it. The caller holds d.mu.
func (d *Device) productOf(cmd *backend.Command) *product {
	if d.products == nil || !multiplies(cmd) {
		return nil
	}
	q, p := cmd.Product, &product{}
	shape := C.kgm_shape{
		_type: C.KGM_F32, trans_a: flag(q.TransA), trans_b: flag(q.TransB),
		batch: C.int64_t(q.Batch), m: C.int64_t(q.M), n: C.int64_t(q.N), k: C.int64_t(q.K),
	}
	if q.Type == backend.F16 {
		shape._type = C.KGM_F16
	}
	shape.row_a = p.place(0, cmd, q.A, q.M, q.K, q.TransA)
	shape.row_b = p.place(1, cmd, q.B, q.K, q.N, q.TransB)
	shape.row_c = p.place(2, cmd, q.C, q.M, q.N, false)
	if p.scratch > most || !d.reserve(p.scratch) {
		return nil
	}
	if p.c = d.newProduct(shape); p.c == nil {
		return nil
	}
	return p
}

// place says where operand i lies, which is Bufs[buf] of a command, of so many rows and
// columns before it is transposed; and returns how far apart its rows lie.
func (p *product) place(i int, cmd *backend.Command, buf int, rows, columns int64, transposed bool) C.int64_t {
	if transposed {
		rows, columns = columns, rows
	}
	o := &p.operand[i]
	*o = operand{buf: cmd.Bufs[buf], rows: cmd.Product.Batch * rows, row: columns * bytesOf[cmd.Product.Type]}
	if o.row%rowAlign != 0 || o.buf.Off%rowAlign != 0 { // slots are aligned to more
		o.padded, o.off = true, p.scratch
		p.scratch += o.rows * o.pitch()
	}
	return C.int64_t(o.pitch())
}

// newProduct returns the framework's product of a shape, nil if it has none.
func (d *Device) newProduct(shape C.kgm_shape) *C.kgm_product {
	p, known := d.products[shape]
	if !known {
		var e C.kgm_error
		p = C.kgm_new_product(d.c, &shape, &e)
		C.kgm_free_text(e.text)
		d.products[shape] = p
	}
	return p
}

// bytesOf is the size of an element.
var bytesOf = [...]int64{backend.F32: 4, backend.F16: 2, backend.BF16: 2}

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}

// The framework has been seen to compute wrongly, without an error, on M1 and M2: products
// with (M+2K)·N elements in 2 GiB hold NaN, and sums of more than 32768 products are wrong.
const (
	most    = int64(1)<<31 - 1
	longest = 1 << 15
)

// multiplies reports whether MetalPerformanceShaders computes what a command does: products
// without an epilogue, which it has none for, and of no bfloat, for which it ends the process.
func multiplies(cmd *backend.Command) bool {
	q := cmd.Product
	if q == nil || q.Bias >= 0 || q.GELU || q.Type == backend.BF16 || q.K > longest || cmd.Guarded || cmd.Faults {
		return false
	}
	for _, n := range [][3]int64{{q.Batch, q.M, q.K}, {q.Batch, q.K, q.N}, {q.Batch, q.M, q.N}, {1, q.M + 2*q.K, q.N}} {
		if !fits(bytesOf[q.Type]*n[0], n[1], n[2]) {
			return false
		}
	}
	return true
}

// fits reports whether a product of positive numbers is at most most.
func fits(list ...int64) bool {
	n := uint64(1)
	for _, x := range list {
		high, low := bits.Mul64(n, uint64(x))
		if n = low; high != 0 || low > uint64(most) {
			return false
		}
	}
	return true
}

// reserve makes the scratch memory of products, which all programs share since they run one
// after another, at least so large, and reports whether it is. What it was before stays for
// the programs that were built with it. The caller holds d.mu.
func (d *Device) reserve(bytes int64) bool {
	if bytes == 0 || len(d.scratch) > 0 && int64(d.scratch[len(d.scratch)-1].bytes) >= bytes {
		return true
	}
	m := newMemory()
	if C.kgm_alloc(d.c, C.int64_t(int64(1)<<bits.Len64(uint64(bytes-1))), m) == 0 {
		C.free(unsafe.Pointer(m))
		return false
	}
	d.scratch = append(d.scratch, m)
	return true
}

// multiply appends a product, with the copies of what does not lie as it has to.
func (b *builder) multiply(p *product) {
	var binds [3]binding
	for i := range p.operand {
		o := &p.operand[i]
		u := read
		if i == 2 {
			u = written
		}
		binds[i] = binding{o.buf.Slot, o.buf.Off, o.rows * o.row, u}
		if o.padded {
			dense := binds[i]
			binds[i] = binding{b.scratchSlot(), o.off, o.rows * o.pitch(), u}
			if u == read {
				b.copyRows(o, binds[i], dense, o.pitch(), o.row)
			}
		}
	}
	cmd := C.kgm_cmd{product: p.c, first: C.int64_t(len(b.binds)), n: 3}
	for _, x := range binds {
		b.binds = append(b.binds, C.kgm_bind{slot: C.int32_t(x.slot), off: C.int64_t(x.off)})
	}
	b.cmds = append(b.cmds, cmd)
	b.hazards.settle()
	if c := &p.operand[2]; c.padded {
		b.copyRows(c, binding{c.buf.Slot, c.buf.Off, c.rows * c.row, written}, binds[2], c.row, c.pitch())
	}
	b.dev.multiplied++
	b.at = append(b.at, len(b.cmds)-1)
}

const (
	rowThreads = 256 // of kgb_rows
	rowTile    = 64  // rows of a threadgroup
)

// copyRows appends a copy of an operand's rows, which begin so many bytes apart here and
// there.
func (b *builder) copyRows(o *operand, dst, src binding, to, from int64) {
	dst.use, src.use = written, read
	words := uint64(0)
	if (o.row|to|from|dst.off|src.off)%4 == 0 {
		words = 1
	}
	var args []byte
	for _, x := range []int64{o.rows, o.row, to, from, int64(words)} {
		args = binary.NativeEndian.AppendUint64(args, uint64(x))
	}
	grid := [3]int64{(o.rows + rowTile - 1) / rowTile, 1, 1}
	b.dispatch(b.dev.frame.rows, grid, rowThreads, []binding{dst, src, b.block(args)})
}
