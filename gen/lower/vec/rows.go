package vec

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// rows lowers a row program: an item is a row, or a block of rows where column
// sums are kept for each block.
func (l *lowering) rows() {
	l.findKept()
	inner := last(l.k.Red)
	all := [2]ir.Expr{lower.Int(0), l.Size(inner)}
	if l.k.Chunk == nil {
		l.items(each(l.k.Par), func(at []ir.Expr) {
			for i, a := range l.k.Par {
				l.Bind(a, at[i])
			}
			l.row(all[0], all[1])
		})
		l.perItem = int64(1 + len(l.k.Stages))
	} else {
		grid := each([]*expr.Axis{l.k.Chunk.Axis})
		if len(l.k.Stages) == 0 { // no value of a row depends on others
			grid = append(grid, Dim{[]*expr.Axis{inner}, mapTile})
		}
		l.items(grid, func(at []ir.Expr) {
			l.Bind(l.k.Chunk.Axis, at[0])
			from, to := all[0], all[1]
			if len(at) > 1 {
				from, to = l.tile(inner, at[1], mapTile)
			}
			l.acrossRow(clearing, from, to, func() {
				for _, s := range l.k.Sums {
					l.Store(s.Let, &ir.Lit{T: ir.Scalar(ir.F32)})
				}
			})
			row, count := l.span("row", at[0], lower.Int(l.k.Chunk.Size), l.extent(l.k.Par))
			l.flat(l.k.Par, "row", row, count, func(ir.Expr) { l.row(from, to) })
		})
		l.perItem = int64(1+len(l.k.Stages)+len(l.k.Sums)) * l.k.Chunk.Size
	}
	l.out.Cost = l.k.Red
}

// row computes the positions from..to of the row at hand: its reductions run
// along the row in as few passes as their dependencies allow, then the outputs
// follow.
func (l *lowering) row(from, to ir.Expr) {
	passes := l.k.Passes()
	for phase, pass := range passes {
		l.rowPass(phase, pass, from, to)
	}
	perRow, perElement := l.k.RowStores()
	values := l.values(perRow)
	if len(perElement)+len(l.k.Sums) > 0 {
		l.acrossRow(len(passes), from, to, func() {
			l.storeAll(perElement)
			l.addSums()
		})
	}
	for i, x := range values {
		l.Store(perRow[i].T, x)
	}
}

// acrossRow runs body for the positions from..to of a row.
func (l *lowering) acrossRow(phase int, from, to ir.Expr, body func()) {
	inner := last(l.k.Red)
	l.nest(l.k.Red[:len(l.k.Red)-1], func() {
		l.alongRow(phase, from, to, func(from, to ir.Expr, body func()) { l.along(inner, from, to, body) }, body)
	})
}

// addSums adds the row's terms to the sums of its block.
func (l *lowering) addSums() {
	for _, s := range l.k.Sums {
		old := l.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: s.Let})
		l.Store(s.Let, &ir.Bin{Op: ir.Add, X: old, Y: lower.SplatLike(l.Value(s.Expr), old)})
	}
}

// partial reduces one chunk of the whole index space.
func (l *lowering) partial() {
	of := l.k.Chunk.Of
	l.items(each(l.k.Par), func(at []ir.Expr) {
		l.Bind(l.k.Par[0], at[0])
		from, to := l.tile(of[0], at[0], plan.ChunkSize)
		for phase, pass := range l.k.Passes() {
			l.rowPass(phase, pass, from, to)
		}
		l.stores()
	})
	l.perItem = plan.ChunkSize
}

func last(axes []*expr.Axis) *expr.Axis { return axes[len(axes)-1] }

// rowPass runs the stages of a pass over the positions from..to of the
// innermost reduced axis (and all of the outer ones) and binds their results.
func (l *lowering) rowPass(phase int, stages []*plan.Stage, from, to ir.Expr) {
	var accs []*acc
	for _, s := range stages {
		accs = append(accs, l.newAcc(s, l.vec))
	}
	inner := last(l.k.Red)
	l.nest(l.k.Red[:len(l.k.Red)-1], func() {
		l.alongRow(phase, from, to, func(from, to ir.Expr, body func()) { l.reduceAlong(&accs, inner, from, to, body) }, func() {
			for _, c := range accs {
				l.take(c, l.Count())
			}
		})
	})
	for _, a := range accs {
		l.Local(a.stage.Let, l.result(a))
	}
}

// reduceAlong runs body, which adds to the accumulators, for the positions
// from..to of axis a. Sums are kept apart for each block, which bounds their
// rounding error.
func (l *lowering) reduceAlong(accs *[]*acc, a *expr.Axis, from, to ir.Expr, body func()) {
	block := l.Var("block", ir.Scalar(ir.I64))
	at := lower.RefTo(block)
	var stmts []ir.Stmt
	l.In(&stmts, func() {
		end := l.Name("end", lower.MinI(lower.AddI(at, lower.Int(sumBlock)), to))
		all := *accs
		l.blockwise(all, func(inner []*acc) {
			wide := l.side(inner)
			var bodies []func()
			for _, w := range wide {
				bodies = append(bodies, func() {
					*accs = w
					body()
				})
			}
			l.alongWide(a, at, end, bodies, func() {
				*accs = inner
				body()
			})
			*accs = all
			for _, w := range wide {
				l.join(inner, w)
			}
		})
	})
	l.Emit(&ir.For{V: block, From: from, To: to, Step: lower.Int(sumBlock), Body: stmts})
}

// side returns sets of accumulators beside accs, so that a loop need not wait for
// one sum before it adds to it again: none where a step of the loop takes long
// itself, or looks for a position, or where there are few of them because they are
// the chunks of a longer sum.
func (l *lowering) side(accs []*acc) [][]*acc {
	if !l.vec || l.once || l.Plan.IsChunk(last(l.k.Red)) {
		return nil
	}
	nodes := 0
	for _, a := range accs {
		if a.index != nil {
			return nil
		}
		expr.Walk(a.stage.Expr, func(expr.Expr) bool {
			nodes++
			return true
		})
	}
	if nodes > lightStep {
		return nil
	}
	sets := make([][]*acc, sideSums)
	for i := range sets {
		for _, a := range accs {
			sets[i] = append(sets[i], l.newAcc(a.stage, true))
		}
	}
	return sets
}

// join adds the accumulators of others to accs.
func (l *lowering) join(accs, others []*acc) {
	for i, a := range accs {
		l.Emit(&ir.Assign{V: a.v, X: lower.Combine(a.stage.Reduce, lower.RefTo(a.v), lower.RefTo(others[i].v))})
	}
}

// blockwise runs body with fresh accumulators for the sums, and adds those to
// the ones given.
func (l *lowering) blockwise(accs []*acc, body func([]*acc)) {
	inner := slices.Clone(accs)
	for i, a := range accs {
		if a.stage.Reduce == expr.Sum && a.v.Type.Elem == ir.F32 {
			inner[i] = l.newAcc(a.stage, a.v.Type.Vec)
		}
	}
	body(inner)
	for i, a := range accs {
		if inner[i] != a {
			sum := &ir.Bin{Op: ir.Add, X: lower.RefTo(a.v), Y: lower.RefTo(inner[i].v)}
			l.Emit(&ir.Assign{V: a.v, X: sum})
		}
	}
}
