package simt

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

const (
	tileSide    = 64           // rows and columns of a group's tile of the product
	tileDepth   = 16           // of the tiles of its operands
	tilePitch   = tileSide + 1 // distance of the lines of an operand's tile: no two banks in the way
	downThreads = 8            // threads along the rows of the tile
	sideThreads = 16           // and along its columns
	matThreads  = downThreads * sideThreads
	ownRows     = tileSide / downThreads // rows that a thread has
	ownCols     = tileSide / sideThreads
	ownResults  = ownRows * ownCols
)

// contract lowers a matrix product: a group computes a tile of the result. It
// brings tiles of both operands into shared memory (computing their prologue on
// the way) and multiplies them; a thread keeps 8 x 4 sums in registers, of rows
// 8 apart and columns 16 apart. The results go out with the epilogue. A depth of zero gives
// zeros.
func (l *lowering) contract() {
	p := l.k.Prod
	l.out.Grid = []Dim{{p.N, tileSide}, {p.M, tileSide}}
	if len(p.Batch) > 0 {
		l.out.Grid = append(l.out.Grid, Dim{p.Batch, 1})
		l.bind(p.Batch, &ir.Here{ID: ir.GroupZ})
	}
	l.out.Func.Threads = matThreads
	t := &product{
		lowering: l,
		thread:   l.here(ir.Thread, "thread"),
		depth:    l.extent("depth", l.k.Red),
		a:        side{axes: p.M, expr: p.A, name: "a", tile: l.shared("a_tile", ir.F32, tileDepth*tilePitch), threads: downThreads, own: ownRows, regs: l.private("a_part", ownRows)},
		b:        side{axes: p.N, expr: p.B, name: "b", tile: l.shared("b_tile", ir.F32, tileDepth*tilePitch), threads: sideThreads, own: ownCols, regs: l.private("b_part", ownCols)},
		sum:      l.private("sum", ownResults),
		run:      l.private("run", ownResults),
	}
	t.a.from = l.Name("row_from", times(&ir.Here{ID: ir.GroupY}, tileSide))
	t.a.n = l.extent("rows", p.M)
	t.a.first = l.Name("row", lower.DivI(t.thread, lower.Int(sideThreads)))
	t.b.from = l.Name("column_from", times(&ir.Here{ID: ir.GroupX}, tileSide))
	t.b.n = l.extent("columns", p.N)
	t.b.first = l.Name("column", lower.RemI(t.thread, lower.Int(sideThreads)))
	t.clear(t.sum)
	l.loop("k_from", lower.Int(0), t.depth, lower.Int(tileDepth), func(kFrom ir.Expr) {
		t.load(&t.a, kFrom)
		t.load(&t.b, kFrom)
		l.Emit(&ir.Barrier{})
		t.multiply()
		l.Emit(&ir.Barrier{})
	})
	t.epilogue()
}

// product is one tile of a product.
type product struct {
	*lowering
	thread, depth ir.Expr
	a, b          side
	sum, run      *ir.Array // totals, and the sums of the tiles at hand
}

// side is one operand: the axes that only it varies over, and a thread's place
// among their positions.
type side struct {
	axes         []*expr.Axis
	expr         expr.Expr
	name         string
	from, n      ir.Expr // of the group's tile; of the whole operand
	first        ir.Expr // the thread's first position in the tile
	threads, own int64   // threads beside it: how far its positions are apart; how many it has
	tile, regs   *ir.Array
}

// at is the thread's i-th position in the tile, counted from base.
func (s *side) at(base, i ir.Expr) ir.Expr {
	return lower.AddI(lower.AddI(base, s.first), lower.MulI(i, lower.Int(s.threads)))
}

func (t *product) clear(a *ir.Array) {
	t.unrolled("i", a.Len, func(i ir.Expr) { t.Emit(&ir.Put{A: a, I: i, X: &ir.Lit{T: ir.Scalar(ir.F32)}}) })
}

// load fills the tile of s with the depths from kFrom on, zeros outside.
// Neighbouring threads load what lies side by side in memory.
func (t *product) load(s *side, kFrom ir.Expr) {
	t.loop("e", t.thread, lower.Int(tileSide*tileDepth), lower.Int(matThreads), func(e ir.Expr) {
		var at, k ir.Expr
		if slices.Contains(t.k.Red, innermostAxis(s.expr)) {
			at, k = lower.DivI(e, lower.Int(tileDepth)), lower.RemI(e, lower.Int(tileDepth))
		} else {
			k, at = lower.DivI(e, lower.Int(tileSide)), lower.RemI(e, lower.Int(tileSide))
		}
		at, k = t.Name(s.name+"_at", at), t.Name("k", k)
		pos := t.Name(s.name+"_pos", lower.AddI(s.from, at))
		kPos := t.Name("k_pos", lower.AddI(kFrom, k))
		v := t.Mut(s.name+"_value", ir.Scalar(ir.F32))
		t.Emit(&ir.Decl{V: v, X: &ir.Lit{T: ir.Scalar(ir.F32)}})
		t.when(and(less(pos, s.n), less(kPos, t.depth)), func() {
			t.bind(s.axes, pos)
			t.bind(t.k.Red, kPos)
			t.Emit(&ir.Assign{V: v, X: t.Value(s.expr)})
		})
		t.Emit(&ir.Put{A: s.tile, I: lower.AddI(lower.MulI(k, lower.Int(tilePitch)), at), X: lower.RefTo(v)})
	})
}

// innermostAxis is the axis that is innermost in the widest operand of e.
func innermostAxis(e expr.Expr) *expr.Axis {
	var widest *expr.Tensor
	for _, t := range expr.Reads(e) {
		if len(t.Axes) > 0 && (widest == nil || len(t.Axes) > len(widest.Axes)) {
			widest = t
		}
	}
	if widest == nil {
		return nil
	}
	return widest.Axes[len(widest.Axes)-1]
}

// multiply adds the product of the tiles to the sums. The sum over a tile is
// formed first, which bounds the rounding error of a deep product.
func (t *product) multiply() {
	t.clear(t.run)
	t.loop("k", lower.Int(0), lower.Int(tileDepth), lower.Int(1), func(k ir.Expr) {
		t.fetch(&t.a, k)
		t.fetch(&t.b, k)
		t.each(func(i, j, at ir.Expr) {
			args := []ir.Expr{&ir.At{A: t.a.regs, I: i}, &ir.At{A: t.b.regs, I: j}, &ir.At{A: t.run, I: at}}
			t.Emit(&ir.Put{A: t.run, I: at, X: &ir.Call{Fn: expr.FnFMA, Args: args, T: ir.Scalar(ir.F32)}})
		})
	})
	t.unrolled("i", ownResults, func(i ir.Expr) {
		t.Emit(&ir.Put{A: t.sum, I: i, X: bin(ir.Add, &ir.At{A: t.sum, I: i}, &ir.At{A: t.run, I: i})})
	})
}

// fetch brings a line of the tile of s, as far as the thread needs it, into
// registers.
func (t *product) fetch(s *side, k ir.Expr) {
	t.unrolled("i", s.own, func(i ir.Expr) {
		at := s.at(lower.MulI(k, lower.Int(tilePitch)), i)
		t.Emit(&ir.Put{A: s.regs, I: i, X: &ir.At{A: s.tile, I: at}})
	})
}

// each runs body for each result of the thread.
func (t *product) each(body func(i, j, at ir.Expr)) {
	t.unrolled("i", ownRows, func(i ir.Expr) {
		t.unrolled("j", ownCols, func(j ir.Expr) {
			body(i, j, lower.AddI(lower.MulI(i, lower.Int(ownCols)), j))
		})
	})
}

// epilogue stores the thread's results with what follows the product.
func (t *product) epilogue() {
	p := t.k.Prod
	t.each(func(i, j, at ir.Expr) {
		row := t.Name("row_pos", t.a.at(t.a.from, i))
		col := t.Name("column_pos", t.b.at(t.b.from, j))
		t.when(and(less(row, t.a.n), less(col, t.b.n)), func() {
			t.bind(p.M, row)
			t.bind(p.N, col)
			t.Local(p.Acc, t.Name(p.Acc.Name, &ir.At{A: t.sum, I: at}))
			t.stores(t.k.Stores)
		})
	})
}
