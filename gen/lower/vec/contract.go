package vec

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// contract lowers a matrix product: an item is a tile of the result. It packs
// blocks of both operands (computing their prologue on the way), multiplies the
// packed panels into scratch memory, and stores with the epilogue.
func (l *lowering) contract() {
	p := l.k.Prod
	grid := append(each(p.Batch), Dim{p.M, gemmRows}, Dim{p.N, gemmCols})
	c := &tile{
		lowering: l,
		a:        l.Array("left_panels", ir.F32, (gemmRows+panelPad)*gemmDepth),
		b:        l.Array("right_panels", ir.F32, (gemmCols+panelPad)*gemmDepth),
		c:        l.Array("sums", ir.F32, gemmRows*gemmCols),
	}
	l.items(grid, func(at []ir.Expr) {
		for i, a := range p.Batch {
			l.Bind(a, at[i])
		}
		n := len(p.Batch)
		rows := l.extent(p.M)
		c.rowFrom, c.rows = l.span("row", at[n], l.balanced(rows), rows)
		c.colFrom, c.cols = l.span("col", at[n+1], lower.Int(gemmCols), l.extent(p.N))
		c.multiply()
		c.epilogue()
	})
	l.out.Cost = l.k.Red
	l.perItem = gemmRows * gemmCols / 32
}

// balanced is the height of a tile: gemmRows, or where there are few tiles less,
// so that they are about the same height (a multiple of rowUnit).
func (l *lowering) balanced(rows ir.Expr) ir.Expr {
	tiles := l.Name("tiles", lower.CeilDiv(rows, gemmRows))
	even := lower.DivI(lower.AddI(rows, lower.SubI(tiles, lower.Int(1))), tiles)
	even = lower.MulI(lower.CeilDiv(even, rowUnit), lower.Int(rowUnit))
	few := &ir.Bin{Op: ir.Le, X: tiles, Y: lower.Int(fewTiles)}
	return l.Name("height", &ir.Select{C: few, A: even, B: lower.Int(gemmRows)})
}

// tile is one tile of a product.
type tile struct {
	*lowering
	a, b, c                      *ir.Array
	rowFrom, rows, colFrom, cols ir.Expr
}

// multiply computes the tile's sums. Few rows are multiplied by the right operand
// where it lies, if that is a matrix in memory.
func (t *tile) multiply() {
	p := t.k.Prod
	depth := t.Name("depth", t.extent(t.k.Red))
	right, alongK, plain := t.plain(p.B, p.N)
	if !plain {
		t.byPanels(depth)
		return
	}
	var few, many []ir.Stmt
	t.Guarded(&few, func() { t.thin(depth, right, alongK) })
	t.Guarded(&many, func() { t.byPanels(depth) })
	t.Emit(&ir.If{C: &ir.Bin{Op: ir.Le, X: t.rows, Y: lower.Int(thinRows)}, Then: few, Else: many})
}

// byPanels multiplies packed panels.
func (t *tile) byPanels(depth ir.Expr) {
	p := t.k.Prod
	t.alongDepth(depth, gemmDepth, func(stmts *[]ir.Stmt, from, count, first ir.Expr) {
		t.In(stmts, func() { t.pack(t.a, false, p.A, p.M, t.rowFrom, t.rows, from, count) })
		t.In(stmts, func() { t.pack(t.b, true, p.B, p.N, t.colFrom, t.cols, from, count) })
		t.Emit(&ir.Multiply{A: t.a, B: t.b, C: t.c, Rows: t.rows, Cols: t.cols, K: count, LDC: gemmCols, First: first})
	})
}

// thin multiplies the rows of the left operand, side by side in its array, by a
// matrix in memory.
func (t *tile) thin(depth ir.Expr, right *expr.Tensor, alongK bool) {
	p := t.k.Prod
	t.alongDepth(depth, thinDepth, func(stmts *[]ir.Stmt, from, count, first ir.Expr) {
		t.In(stmts, func() { t.putRows(from, count) })
		t.In(stmts, func() {
			t.Bind(p.N[0], t.colFrom)
			t.Bind(t.k.Red[0], from)
			t.Emit(&ir.MultiplyPlain{
				A: t.a, C: t.c, B: t.Buffer(right), Off: t.OffsetOf(right), LD: t.Size(last(right.Axes)), AlongK: alongK,
				Rows: t.rows, Cols: t.cols, K: count, LDC: gemmCols, First: first,
			})
		})
	})
}

// putRows puts the tile's rows of the left operand one after another.
func (t *tile) putRows(from, count ir.Expr) {
	p := t.k.Prod
	if m, alongK, ok := t.plain(p.A, p.M); ok {
		b := t.block(m, p.M[0], t.rowFrom, from)
		b.A, b.Rows, b.AlongK, b.Count, b.Depth = t.a, true, alongK, t.rows, count
		t.Emit(b)
		return
	}
	t.flat(p.M, "o", t.rowFrom, t.rows, func(row ir.Expr) {
		t.flatLanes(t.k.Red, "i", from, count, func(k ir.Expr) {
			x := t.Value(p.A)
			if t.vec && len(t.k.Red) == 1 {
				x = lower.Splat(x)
			}
			t.Emit(&ir.Put{A: t.a, I: lower.AddI(lower.MulI(row, count), k), X: x, N: t.Count()})
		})
	})
}

// block is the packing of the matrix m, from the given position along its side
// and along the reduced axis.
func (t *tile) block(m *expr.Tensor, side *expr.Axis, from, kFrom ir.Expr) *ir.PackBlock {
	t.Bind(side, from)
	t.Bind(t.k.Red[0], kFrom)
	return &ir.PackBlock{B: t.Buffer(m), Off: t.OffsetOf(m), LD: t.Size(last(m.Axes))}
}

// alongDepth runs body for blocks of the depth, with the first position and the
// length of each. A depth of zero runs once, so that sums are zeros.
func (t *tile) alongDepth(depth ir.Expr, block int64, body func(stmts *[]ir.Stmt, from, count, first ir.Expr)) {
	v := t.Var("k_from", ir.Scalar(ir.I64))
	from := lower.RefTo(v)
	var stmts []ir.Stmt
	t.In(&stmts, func() {
		count := t.Name("ks", lower.MinI(lower.SubI(depth, from), lower.Int(block)))
		body(&stmts, from, count, &ir.Bin{Op: ir.Eq, X: from, Y: lower.Int(0)})
	})
	once := &ir.Select{C: &ir.Bin{Op: ir.Lt, X: depth, Y: lower.Int(1)}, A: lower.Int(1), B: depth}
	t.Emit(&ir.For{V: v, From: lower.Int(0), To: once, Step: lower.Int(block), Body: stmts})
}

// pack fills a panel array with the operand e: positions from.. along the side
// axes, kFrom.. along the reduced ones. The inner loop, and its vectors, run
// along the axis that is innermost in memory.
func (t *tile) pack(a *ir.Array, right bool, e expr.Expr, side []*expr.Axis, from, count, kFrom, kCount ir.Expr) {
	if m, alongK, ok := t.plain(e, side); ok {
		b := t.block(m, side[0], from, kFrom)
		b.A, b.Right, b.AlongK, b.Count, b.Depth = a, right, alongK, count, kCount
		t.Emit(b)
		return
	}
	outer, inner := t.k.Red, side
	outerFrom, outerCount, innerFrom, innerCount := kFrom, kCount, from, count
	alongK := slices.Contains(t.k.Red, innermostAxis(e))
	if alongK {
		outer, inner = inner, outer
		outerFrom, outerCount, innerFrom, innerCount = from, count, kFrom, kCount
	}
	t.flat(outer, "o", outerFrom, outerCount, func(o ir.Expr) {
		t.flatLanes(inner, "i", innerFrom, innerCount, func(i ir.Expr) {
			put := &ir.Pack{A: a, Right: right, AlongK: alongK, At: i, K: o, Depth: kCount, X: t.Value(e), N: t.Count()}
			if alongK {
				put.At, put.K = o, i
			}
			t.Emit(put)
		})
	})
}

// plain reports whether e is a matrix in memory: a tensor whose last two axes
// are the reduced one and the side's, in the order that alongK tells.
func (t *tile) plain(e expr.Expr, side []*expr.Axis) (m *expr.Tensor, alongK, ok bool) {
	r, isRead := e.(*expr.Read)
	if !isRead || r.Idx != nil || len(side) != 1 || len(t.k.Red) != 1 || t.k.Local(r.T) {
		return nil, false, false
	}
	n := len(r.T.Axes)
	if n < 2 || r.T.Type == expr.I32 || r.T.Type == expr.U8 {
		return nil, false, false
	}
	x, y, k := r.T.Axes[n-2], r.T.Axes[n-1], t.k.Red[0]
	return r.T, y == k, x == side[0] && y == k || x == k && y == side[0]
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
	return last(widest.Axes)
}

// flatLanes is flat by vectors, where there is one axis to run along.
func (t *tile) flatLanes(axes []*expr.Axis, name string, from, count ir.Expr, body func(ir.Expr)) {
	if !t.vec || len(axes) > 1 {
		t.flat(axes, name, from, count, body)
		return
	}
	v := t.Var(name, ir.Scalar(ir.I64))
	at := lower.RefTo(v)
	w := &ir.Width{}
	var stmts []ir.Stmt
	t.In(&stmts, func() {
		t.BindLanes(axes[0], lower.AddI(from, at), t.Name("n", lower.MinI(lower.SubI(count, at), w)))
		body(at)
	})
	t.Emit(&ir.For{V: v, From: lower.Int(0), To: count, Step: w, Body: stmts})
}

// epilogue stores the tile with what follows the product.
func (t *tile) epilogue() {
	p := t.k.Prod
	t.flat(p.M, "row", t.rowFrom, t.rows, func(row ir.Expr) {
		t.flatLanes(p.N, "col", t.colFrom, t.cols, func(col ir.Expr) {
			at := lower.AddI(lower.MulI(row, lower.Int(gemmCols)), col)
			sum := &ir.At{A: t.c, I: at, Vec: t.vec && len(p.N) == 1}
			t.Local(p.Acc, t.Name(p.Acc.Name, sum))
			t.stores()
		})
	})
}
