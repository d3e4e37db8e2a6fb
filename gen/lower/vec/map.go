package vec

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// mapKernel computes each element of the outputs on its own: an item is a tile
// of the innermost axis, and of the axis before it.
func (l *lowering) mapKernel() {
	if m := l.newMover(); m != nil {
		m.kernel()
		return
	}
	axes := l.k.Par
	switch len(axes) {
	case 0:
		l.items(nil, func([]ir.Expr) { l.stores() })
	case 1:
		l.items([]Dim{{axes, mapTile}}, func(at []ir.Expr) {
			from, to := l.tile(axes[0], at[0], mapTile)
			l.along(axes[0], from, to, l.stores)
		})
		l.perItem = mapTile
	default:
		n := len(axes)
		l.mapRows(axes[:n-2], axes[n-2], axes[n-1])
	}
}

// tile is the range of axis a that tile number i covers.
func (l *lowering) tile(a *expr.Axis, i ir.Expr, size int64) (from, to ir.Expr) {
	from = l.Name("from", lower.MulI(i, lower.Int(size)))
	to = l.Name("to", lower.MinI(lower.AddI(from, lower.Int(size)), l.Size(a)))
	return from, to
}

// mapRows is the map over two axes or more: an item is a tile of rows by
// columns. Where the rows have one element (an operand of one value was
// broadcast) the vectors run across the rows.
func (l *lowering) mapRows(outer []*expr.Axis, row, col *expr.Axis) {
	width := int64(mapTile)
	if l.readsAcross(col) {
		width = acrossTile
	}
	grid := append(each(outer), Dim{[]*expr.Axis{row}, mapRows}, Dim{[]*expr.Axis{col}, width})
	l.items(grid, func(at []ir.Expr) {
		for i, a := range outer {
			l.Bind(a, at[i])
		}
		rowFrom, rowTo := l.tile(row, at[len(outer)], mapRows)
		colFrom, colTo := l.tile(col, at[len(outer)+1], width)
		byCols := func() {
			l.loop(row, rowFrom, rowTo, func() { l.along(col, colFrom, colTo, l.stores) })
		}
		if !l.vec || l.readsByIndex() {
			byCols()
			return
		}
		var across, along []ir.Stmt
		l.Guarded(&across, func() {
			l.Bind(col, lower.Int(0))
			l.Unit(col, func() { l.along(row, rowFrom, rowTo, l.stores) })
		})
		l.Guarded(&along, byCols)
		single := &ir.Bin{Op: ir.Eq, X: l.Size(col), Y: lower.Int(1)}
		l.Emit(&ir.If{C: single, Then: across, Else: along})
	})
	l.perItem = mapRows
	l.out.Cost = []*expr.Axis{col}
}

// readsAcross reports whether the positions along a lie apart in an operand, so
// that rows of the tile share the lines of memory that they read.
func (l *lowering) readsAcross(a *expr.Axis) bool {
	return slices.ContainsFunc(l.k.Reads(), func(t *expr.Tensor) bool {
		return slices.Contains(t.Axes, a) && last(t.Axes) != a
	})
}

// readsByIndex reports whether a read moves with another axis than its own.
func (l *lowering) readsByIndex() bool {
	for _, e := range l.k.Exprs() {
		indexed := false
		expr.Walk(e, func(e expr.Expr) bool {
			if r, ok := e.(*expr.Read); ok && (r.Idx != nil || r.T.Bounds != nil) {
				indexed = true
			}
			return !indexed
		})
		if indexed {
			return true
		}
	}
	return false
}

// stores computes every value and then writes them: what one store writes may be
// what another reads.
func (l *lowering) stores() { l.storeAll(l.k.Stores) }

func (l *lowering) storeAll(stores []*plan.Store) {
	for i, x := range l.values(stores) {
		l.Store(stores[i].T, x)
	}
}

// values computes what the stores write; where one of them overwrites an inout,
// each value is held in a variable.
func (l *lowering) values(stores []*plan.Store) []ir.Expr {
	hold := len(l.k.Stores) > 1 && slices.ContainsFunc(l.k.Stores, func(s *plan.Store) bool { return s.T.Role == expr.InOut })
	var xs []ir.Expr
	for _, s := range stores {
		x := l.Value(s.Expr)
		if hold {
			x = l.Name(s.T.Name, x)
		}
		xs = append(xs, x)
	}
	return xs
}
