package vec

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// cols lowers a reduction along outer axes: an item is a tile of results that
// lie side by side; vectors run along it, the reduced axes are loops.
func (l *lowering) cols() {
	outer, inner := l.k.Par[:len(l.k.Par)-1], last(l.k.Par)
	grid := append(each(outer), Dim{[]*expr.Axis{inner}, colTile})
	l.items(grid, func(at []ir.Expr) {
		for i, a := range outer {
			l.Bind(a, at[i])
		}
		from, to := l.tile(inner, at[len(outer)], colTile)
		l.along(inner, from, to, func() {
			for _, pass := range l.k.Passes() {
				l.colPass(pass)
			}
			l.stores()
		})
	})
	l.out.Cost = l.k.Red
	l.perItem = colTile
}

// colPass runs the stages of a pass over all positions of the reduced axes, for
// the lanes at hand, and binds their results.
func (l *lowering) colPass(stages []*plan.Stage) {
	var accs []*acc
	for _, s := range stages {
		accs = append(accs, l.newAcc(s, l.vec))
	}
	inner := last(l.k.Red)
	l.nest(l.k.Red[:len(l.k.Red)-1], func() {
		block := l.Var("block", ir.Scalar(ir.I64))
		at := lower.RefTo(block)
		var stmts []ir.Stmt
		l.In(&stmts, func() {
			end := l.Name("end", lower.MinI(lower.AddI(at, lower.Int(colBlock)), l.Size(inner)))
			l.blockwise(accs, func(accs []*acc) {
				l.loop(inner, at, end, func() {
					for _, a := range accs {
						l.take(a, nil)
					}
				})
			})
		})
		l.Emit(&ir.For{V: block, From: lower.Int(0), To: l.Size(inner), Step: lower.Int(colBlock), Body: stmts})
	})
	for _, a := range accs {
		x := lower.RefTo(a.v)
		if a.index != nil {
			x = lower.RefTo(a.index)
			none := &ir.Bin{Op: ir.Eq, X: x, Y: lower.Lit32(lower.NoIndex, l.vec)}
			x = &ir.Select{C: none, A: lower.Lit32(0, l.vec), B: x}
		}
		l.Local(a.stage.Let, x)
	}
}

// scatter lowers a sum over places named by an id: an item owns a tile of
// columns of the result, clears it, and adds the rows in order.
func (l *lowering) scatter() {
	s := l.k.Place
	outer, inner := s.Acc.Axes[1:len(s.Acc.Axes)-1], last(s.Acc.Axes)
	grid := append(each(outer), Dim{[]*expr.Axis{inner}, colTile})
	zero := &ir.Lit{T: ir.Scalar(ir.F32)}
	l.items(grid, func(at []ir.Expr) {
		for i, a := range outer {
			l.Bind(a, at[i])
		}
		from, to := l.tile(inner, at[len(outer)], colTile)
		l.loop(s.Axis, lower.Int(0), l.Size(s.Axis), func() {
			l.along(inner, from, to, func() { l.Store(s.Acc, zero) })
		})
		l.nest(l.k.Red, func() {
			id := l.Value(s.ID)
			var ok ir.Expr = &ir.Bin{
				Op: ir.And,
				X:  &ir.Bin{Op: ir.Ge, X: id, Y: lower.Int(0)},
				Y:  &ir.Bin{Op: ir.Lt, X: id, Y: l.Size(s.Axis)},
			}
			if s.Cond != nil {
				ok = &ir.Bin{Op: ir.And, X: ok, Y: l.Value(s.Cond)}
			}
			var then []ir.Stmt
			l.Guarded(&then, func() {
				l.Bind(s.Axis, id)
				l.along(inner, from, to, func() {
					old := l.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: s.Acc})
					l.Store(s.Acc, &ir.Bin{Op: ir.Add, X: old, Y: lower.SplatLike(l.Value(s.Value), old)})
				})
			})
			l.Emit(&ir.If{C: ok, Then: then})
		})
	})
	l.out.Cost = l.k.Red
	l.perItem = colTile
}
