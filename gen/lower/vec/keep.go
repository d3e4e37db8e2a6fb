package vec

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// keptRow is how many values of a row are kept for the passes that follow.
const keptRow = 8192

// kept is a costly value of each element that several phases of a row program
// need: its passes in their order, and then the stores. The first one keeps it in
// scratch memory; the others compute it again only beyond keptRow.
type kept struct {
	e     expr.Expr
	first int
	array *ir.Array
}

// clearing is the phase before a row's first pass, in which there are no values.
const clearing = -1

// findKept finds what is worth keeping.
func (l *lowering) findKept() {
	if !l.vec || len(l.k.Red) != 1 {
		return
	}
	for _, k := range lower.Keep(l.k) {
		l.keep = append(l.keep, &kept{e: k.Expr, first: k.First, array: l.Array("kept", ir.F32, keptRow)})
	}
}

// uses reports whether e is part of one of es.
func uses(es []expr.Expr, e expr.Expr) bool {
	key, found := expr.Key(e), false
	for _, x := range es {
		expr.Walk(x, func(e expr.Expr) bool {
			found = found || expr.Key(e) == key
			return !found
		})
	}
	return found
}

// keeps reports whether e is among the kept values.
func keeps(list []*kept, e expr.Expr) bool {
	return slices.ContainsFunc(list, func(k *kept) bool { return expr.Key(k.e) == expr.Key(e) })
}

// alongRow runs body in phase n for the positions from..to of the row; run
// arranges the loop over a part of them.
func (l *lowering) alongRow(n int, from, to ir.Expr, run func(from, to ir.Expr, body func()), body func()) {
	var exprs []expr.Expr
	if n != clearing {
		exprs = lower.Phases(l.k)[n].All
	}
	keeping := func() {
		body()
		for _, k := range l.keep {
			if k.first == n {
				l.keepValue(k)
			}
		}
	}
	before := l.once
	defer func() { l.once = before }()
	have := slices.DeleteFunc(slices.Clone(l.keep), func(k *kept) bool { return k.first >= n || !uses(exprs, k.e) })
	if len(have) > 0 {
		mid := l.Name("kept_to", lower.MinI(to, lower.Int(keptRow)))
		l.once = heavy(exprs, have)
		run(from, mid, func() {
			for _, k := range have {
				l.Known(k.e, &ir.At{A: k.array, I: l.LanesAt(), Vec: true})
			}
			keeping()
		})
		from = mid
	}
	l.once = heavy(exprs, nil)
	run(from, to, keeping)
}

// keepValue puts the value at hand into k's array, if that has a place for it.
func (l *lowering) keepValue(k *kept) {
	at := l.LanesAt()
	put := &ir.Put{A: k.array, I: at, X: lower.Splat(l.Value(k.e)), N: l.Count()}
	l.Emit(&ir.If{C: &ir.Bin{Op: ir.Lt, X: at, Y: lower.Int(keptRow)}, Then: []ir.Stmt{put}})
}
