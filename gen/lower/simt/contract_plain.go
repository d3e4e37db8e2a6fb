package simt

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// The tiles of products of f32 without matrix units.
var (
	plainTile      = tile{side: 128, threads: 256, depth: 8, chunk: 4, slices: 2}
	smallPlainTile = tile{side: 64, threads: 128, depth: 8, chunk: 4, slices: 2}
)

const (
	quad      = 4  // neighbouring rows, or columns, of a thread's results
	sideQuads = 16 // threads along the columns
	runDepth  = 32 // depth of the sums that are formed before they are added to the total
)

// plainProduct multiplies with fused multiply-adds: a thread keeps 8 x 8 sums (8 x 4 of
// a small tile), of quads of rows and columns half a tile apart, so that it reads shared
// memory 16 bytes at a time and its neighbours read what lies beside. Slices lie in
// shared memory with a line for each depth. Sums are formed for a depth of 32 and then
// added to the total, which bounds the rounding error of a deep product.
type plainProduct struct {
	*product
	sum, run            *ir.Array // totals, and the sums that are being formed
	left, right         *ir.Array // a line of both slices, as far as the thread needs it
	row, column         ir.Expr   // the thread's first ones
	ownRows, ownColumns int64
}

func newPlainProduct(t *product) *plainProduct {
	t.tile = plainTile
	if t.small {
		t.tile = smallPlainTile
	}
	rows, columns := t.side*sideQuads/t.threads, t.side/sideQuads
	for _, s := range []*operand{&t.a, &t.b} {
		s.pitch = t.side + quad // chunks along the depth go to other banks
		t.arrays(s, ir.F32, 2*t.tile.depth*s.pitch)
	}
	return &plainProduct{
		product: t, ownRows: rows, ownColumns: columns,
		sum: t.private("sum", rows*columns), run: t.private("run", rows*columns),
		left: t.private("a_part", rows), right: t.private("b_part", columns),
		row:    t.Name("row", lower.MulI(lower.DivI(t.thread, lower.Int(sideQuads)), lower.Int(quad))),
		column: t.Name("column", lower.MulI(lower.RemI(t.thread, lower.Int(sideQuads)), lower.Int(quad))),
	}
}

func (t *plainProduct) clear() {
	t.unrolled("i", t.sum.Len, func(i ir.Expr) {
		t.Emit(&ir.Put{A: t.sum, I: i, X: zero()}, &ir.Put{A: t.run, I: i, X: zero()})
	})
}

func (t *plainProduct) store(s *operand, line ir.Expr) {
	line = lower.AddI(line, s.k)
	if !s.alongK {
		t.Emit(&ir.Spread{To: s.slices, At: s.in(line, s.at), A: s.next, I: lower.Int(0), N: t.chunk})
		return
	}
	t.unrolled("i", t.chunk, func(i ir.Expr) {
		t.Emit(&ir.Put{A: s.slices, I: s.in(lower.AddI(line, i), s.at), X: &ir.At{A: s.next, I: i}})
	})
}

func (t *plainProduct) multiply(first, end ir.Expr) {
	t.unrolled("d", t.tile.depth, func(d ir.Expr) {
		line := lower.AddI(first, d)
		t.read(t.left, &t.a, line, t.row)
		t.read(t.right, &t.b, line, t.column)
		t.unrolled("i", t.ownRows, func(i ir.Expr) {
			t.unrolled("j", t.ownColumns, func(j ir.Expr) {
				at := t.at(i, j)
				args := []ir.Expr{&ir.At{A: t.left, I: i}, &ir.At{A: t.right, I: j}, &ir.At{A: t.run, I: at}}
				t.Emit(&ir.Put{A: t.run, I: at, X: &ir.Call{Fn: expr.FnFMA, Args: args, T: ir.Scalar(ir.F32)}})
			})
		})
	})
	full := bin(ir.Eq, lower.RemI(end, lower.Int(runDepth)), lower.Int(0))
	t.when(bin(ir.Or, full, bin(ir.Ge, end, t.end)), t.total)
}

// total adds the sums that have been formed to the totals, and begins new ones.
func (t *plainProduct) total() {
	t.unrolled("i", t.sum.Len, func(i ir.Expr) {
		t.Emit(&ir.Put{A: t.sum, I: i, X: bin(ir.Add, &ir.At{A: t.sum, I: i}, &ir.At{A: t.run, I: i})})
		t.Emit(&ir.Put{A: t.run, I: i, X: zero()})
	})
}

func (t *plainProduct) at(i, j ir.Expr) ir.Expr {
	return lower.AddI(lower.MulI(i, lower.Int(t.ownColumns)), j)
}

// read brings the thread's quads of a line of the slices into registers.
func (t *plainProduct) read(to *ir.Array, s *operand, line, first ir.Expr) {
	for q := range to.Len / quad {
		at := lower.AddI(first, lower.Int(q*t.side*quad/to.Len))
		t.Emit(&ir.Spread{To: to, At: lower.Int(q * quad), A: s.slices, I: s.in(line, at), N: quad})
	}
}

func (t *plainProduct) columns(body func(col ir.Expr, rows func(func(row, sum ir.Expr)))) {
	place := func(first, i ir.Expr, own int64) ir.Expr {
		q := lower.MulI(lower.DivI(i, lower.Int(quad)), lower.Int(t.side*quad/own))
		return lower.AddI(first, lower.AddI(q, lower.RemI(i, lower.Int(quad))))
	}
	t.unrolled("j", t.ownColumns, func(j ir.Expr) {
		body(place(t.column, j, t.ownColumns), func(result func(row, sum ir.Expr)) {
			t.unrolled("i", t.ownRows, func(i ir.Expr) {
				result(place(t.row, i, t.ownRows), &ir.At{A: t.sum, I: t.at(i, j)})
			})
		})
	})
}
