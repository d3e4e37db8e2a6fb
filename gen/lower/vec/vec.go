package vec

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// Tile sizes, in elements. Results do not depend on how items are spread over
// workers, since each item is computed by one of them in a fixed order.
const (
	mapTile    = 4096 // of a map's innermost axis
	mapRows    = 16   // of the axis before it
	acrossTile = 64   // of the innermost axis where an operand is read across its rows
	acrossRows = 256  // of the axis before it where such elements are only moved
	colTile    = 64   // of the results of a column reduction
	sideSums   = 3    // accumulators beside the first one of a reduction along a row
	lightStep  = 12   // operations of a step of a loop that has them
	sumBlock   = 512  // longest run summed before it is added to the total
	colBlock   = 256  // the same for rows of a column reduction
	gemmRows   = 84   // rows of a product's tile: a multiple of the x86 register tiles
	gemmCols   = 512  // columns of it: a multiple of twice the widest vector
	gemmDepth  = 256
	thinRows   = 4    // products of no more rows do not pack their right operand (kgen_thin.h)
	thinDepth  = 4096 // so that thinRows of it fit the left operand's panels
	rowUnit    = 14   // tiles of fewer rows are a multiple of this
	fewTiles   = 5    // no more tiles than this are made lower than gemmRows
	panelPad   = 32   // largest register tile, by which packed panels are padded
)

// Kernel is a lowered kernel: its function and how it is launched.
type Kernel struct {
	Func *ir.Func
	// Grid: work items are the product over Grid of ceil(extent / Tile).
	Grid []Dim
	// An item costs about CostPer (nanoseconds per thousand) for each index of
	// the Cost axes.
	Cost    []*expr.Axis
	CostPer int64
	Scratch int64 // bytes a worker needs
}

// Dim is the product of some axes, cut into tiles.
type Dim struct {
	Axes []*expr.Axis
	Tile int64
}

// Lower lowers kernel k of p.
func Lower(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block) (*Kernel, error) {
	out, err := attempt(p, k, symbol, block, alongRed)
	if errors.Is(err, lower.ErrVector) && acrossWorks(k) {
		out, err = attempt(p, k, symbol, block, acrossPar)
	}
	if errors.Is(err, lower.ErrVector) {
		out, err = attempt(p, k, symbol, block, scalar)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", symbol, err)
	}
	return out, nil
}

// way is along which axis the vectors of a kernel run.
type way uint8

const (
	alongRed  way = iota // the innermost axis of the operands
	acrossPar            // the innermost axis of the results of a row program
	scalar               // none: one element at a time
)

// acrossWorks reports whether the rows of k can be computed side by side.
func acrossWorks(k *plan.Kernel) bool {
	_, perElement := k.RowStores()
	return k.Shape == plan.Rows && k.Chunk == nil && len(k.Par) > 0 && len(perElement) == 0
}

// lowering is the state of one attempt.
type lowering struct {
	*lower.Builder
	k   *plan.Kernel
	out *Kernel
	vec bool // vectors along the innermost axis; else one element at a time
	// perItem is how many elements of the Cost axes' product an item computes.
	perItem int64
	keep    []*kept // of a row program
	once    bool    // loops have one body, see along
}

func attempt(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block, by way) (*Kernel, error) {
	f := &ir.Func{Symbol: symbol}
	l := &lowering{Builder: lower.New(p, k, f, block), k: k, out: &Kernel{Func: f}, vec: by != scalar, perItem: 1}
	l.once = k.Shape != plan.Map && heavy(k.Exprs(), nil)
	switch k.Shape {
	case plan.Map:
		l.mapKernel()
	case plan.Rows:
		if by == acrossPar {
			l.cols()
			break
		}
		l.rows()
	case plan.Partial:
		l.partial()
	case plan.Cols:
		l.cols()
	case plan.Contract:
		l.contract()
	case plan.Scatter:
		l.scatter()
	}
	if l.Err() != nil {
		return nil, l.Err()
	}
	l.inPlace()
	for _, a := range f.Arrays {
		l.out.Scratch += (a.Len*4 + 63) &^ 63
	}
	l.out.CostPer = l.costPer() * l.perItem
	return l.out, nil
}

// costPer estimates the work of one element: loads and arithmetic count one
// unit of 50 ps, intrinsics twenty.
func (l *lowering) costPer() int64 {
	units := int64(0)
	for _, e := range l.k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			units++
			if _, ok := e.(*expr.Call); ok {
				units += 20
			}
			return units < 1000
		})
	}
	return max(units*50, 50)
}

// items runs body for each work item, with its position along each dimension of
// the grid (an index for tiles of one, a tile number otherwise).
func (l *lowering) items(grid []Dim, body func(at []ir.Expr)) {
	l.out.Grid = grid
	item := l.Var("item", ir.Scalar(ir.I64))
	var stmts []ir.Stmt
	l.In(&stmts, func() {
		at := make([]ir.Expr, len(grid))
		rest := lower.RefTo(item)
		for i := len(grid) - 1; i >= 0; i-- {
			if i == 0 {
				at[0] = rest
				break
			}
			n := lower.CeilDiv(l.extent(grid[i].Axes), grid[i].Tile)
			at[i] = l.Name("i", lower.RemI(rest, n))
			rest = l.Name("i", lower.DivI(rest, n))
		}
		body(at)
	})
	l.Emit(&ir.For{V: item, From: &ir.Here{ID: ir.ItemLo}, To: &ir.Here{ID: ir.ItemHi}, Step: lower.Int(1), Body: stmts})
}

func (l *lowering) extent(axes []*expr.Axis) ir.Expr {
	n := lower.Int(1)
	for _, a := range axes {
		n = lower.MulI(n, l.Size(a))
	}
	return n
}

// each returns a grid with one item for each index of axes.
func each(axes []*expr.Axis) []Dim {
	grid := make([]Dim, len(axes))
	for i, a := range axes {
		grid[i] = Dim{Axes: []*expr.Axis{a}, Tile: 1}
	}
	return grid
}

// along runs body for the positions from..to of axis a: by full vectors, then
// once for the remaining lanes; or one by one where nothing vectorises. In the
// longer kernels a body that computes much for each element stands in the source
// once, with a count of lanes: a second copy would double the time to compile it
// and save little.
func (l *lowering) along(a *expr.Axis, from, to ir.Expr, body func()) {
	l.alongWide(a, from, to, nil, body)
}

// alongWide is along where a loop before the others takes several vectors at a
// time: one for each of wide, and one for body.
func (l *lowering) alongWide(a *expr.Axis, from, to ir.Expr, wide []func(), body func()) {
	if !l.vec {
		l.loop(a, from, to, body)
		return
	}
	if l.once {
		l.alongCounted(a, from, to, body)
		return
	}
	v := l.Mut("d", ir.Scalar(ir.I64))
	at := lower.RefTo(v)
	l.Emit(&ir.Decl{V: v, X: from})
	var full, tail []ir.Stmt
	w := &ir.Width{}
	if len(wide) > 0 {
		var stmts []ir.Stmt
		for i, f := range append([]func(){body}, wide...) {
			first := at
			if i > 0 {
				first = lower.AddI(at, lower.MulI(lower.Int(int64(i)), w))
			}
			l.In(&stmts, func() {
				l.BindLanes(a, first, nil)
				f()
			})
		}
		step := lower.MulI(lower.Int(int64(len(wide)+1)), w)
		l.Emit(&ir.For{V: v, To: lower.SubI(to, lower.SubI(step, lower.Int(1))), Step: step, Body: stmts})
	}
	l.In(&full, func() {
		l.BindLanes(a, at, nil)
		body()
	})
	l.Emit(&ir.For{V: v, To: lower.SubI(to, lower.SubI(w, lower.Int(1))), Step: w, Body: full})
	l.In(&tail, func() {
		l.BindLanes(a, at, lower.SubI(to, at))
		body()
	})
	l.Emit(&ir.If{C: &ir.Bin{Op: ir.Lt, X: at, Y: to}, Then: tail})
}

// alongCounted is along with one body for full vectors and the rest.
func (l *lowering) alongCounted(a *expr.Axis, from, to ir.Expr, body func()) {
	v := l.Var("d", ir.Scalar(ir.I64))
	at := lower.RefTo(v)
	w := &ir.Width{}
	var stmts []ir.Stmt
	l.In(&stmts, func() {
		l.BindLanes(a, at, l.Name("n", lower.MinI(lower.SubI(to, at), w)))
		body()
	})
	l.Emit(&ir.For{V: v, From: from, To: to, Step: w, Body: stmts})
}

// heavy reports whether any of es computes a transcendental function other than
// the values at hand.
func heavy(es []expr.Expr, have []*kept) bool {
	found := false
	for _, e := range es {
		expr.Walk(e, func(e expr.Expr) bool {
			found = found || lower.Transcendental(e) && !keeps(have, e)
			return !found
		})
	}
	return found
}

// loop runs body for each position from..to of axis a.
func (l *lowering) loop(a *expr.Axis, from, to ir.Expr, body func()) {
	v := l.Var(loopName(a), ir.Scalar(ir.I64))
	var stmts []ir.Stmt
	l.In(&stmts, func() {
		l.Bind(a, lower.RefTo(v))
		body()
	})
	l.Emit(&ir.For{V: v, From: from, To: to, Step: lower.Int(1), Body: stmts})
}

func loopName(a *expr.Axis) string { return "i_" + a.Name }

// nest runs body for each index of the axes, all of their extents.
func (l *lowering) nest(axes []*expr.Axis, body func()) {
	if len(axes) == 0 {
		body()
		return
	}
	l.loop(axes[0], lower.Int(0), l.Size(axes[0]), func() { l.nest(axes[1:], body) })
}

// flat runs body for count positions of the product of axes, from the given
// one; body gets the position relative to it.
func (l *lowering) flat(axes []*expr.Axis, name string, from, count ir.Expr, body func(ir.Expr)) {
	v := l.Var(name, ir.Scalar(ir.I64))
	var stmts []ir.Stmt
	l.In(&stmts, func() {
		l.bindFlat(axes, lower.AddI(from, lower.RefTo(v)))
		body(lower.RefTo(v))
	})
	l.Emit(&ir.For{V: v, From: lower.Int(0), To: count, Step: lower.Int(1), Body: stmts})
}

// bindFlat gives each of axes its position in their row-major product.
func (l *lowering) bindFlat(axes []*expr.Axis, at ir.Expr) {
	for i := len(axes) - 1; i > 0; i-- {
		at = l.Name("at", at)
		l.Bind(axes[i], lower.RemI(at, l.Size(axes[i])))
		at = lower.DivI(at, l.Size(axes[i]))
	}
	l.Bind(axes[0], l.Name("at", at))
}

// span is the first position of tile number i and how many it has.
func (l *lowering) span(name string, i, size, extent ir.Expr) (from, count ir.Expr) {
	from = l.Name(name+"_from", lower.MulI(i, size))
	count = l.Name(name+"s", lower.MinI(lower.SubI(extent, from), size))
	return from, count
}
