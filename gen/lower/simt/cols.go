package simt

import (
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

const (
	colTile    = 16  // results that a group of a column reduction has
	colThreads = 512 // threads in it
)

// columns is the place of a thread in a column reduction: its column among the
// group's, and which of the lanes of that column it is.
type columns struct {
	thread, count ir.Expr // count: columns of this group
	col           ir.Expr
	lane, lanes   ir.Expr
}

// cols lowers a reduction along outer axes: a group has 16 results that lie side
// by side and spreads the reduced positions over 32 threads for each. Where fewer
// results are left (one, at the extreme) each has more threads.
func (l *lowering) cols() {
	par, red := l.k.Par, l.k.Red
	l.out.Func.Threads = colThreads
	c := columns{thread: l.here(ir.Thread, "thread")}
	from := lower.Int(0)
	n := lower.Int(1)
	if len(par) > 0 {
		l.out.Grid = []Dim{{par, colTile}}
		n = l.extent("n", par)
		from = l.Name("from", times(&ir.Here{ID: ir.GroupX}, colTile))
	}
	c.count = l.Name("columns", lower.MinI(lower.SubI(n, from), lower.Int(colTile)))
	c.col = l.Name("column", lower.RemI(c.thread, c.count))
	c.lane = l.Name("lane", lower.DivI(c.thread, c.count))
	c.lanes = l.Name("lanes", lower.DivI(lower.Int(colThreads), c.count))
	l.bind(par, lower.AddI(from, c.col))
	run := span{axes: red, from: lower.Int(0), to: l.extent("depth", red), first: c.lane, step: c.lanes}
	for _, stages := range l.k.Passes() {
		l.colPass(stages, run, c)
	}
	l.fence(l.k.Stores)
	l.when(less(c.thread, c.count), func() { l.stores(l.k.Stores) })
}

// colPass reduces the positions of s for each column of the group. Every thread
// gets the results of its column. A thread beyond the last full lane sums what
// nobody reads.
func (l *lowering) colPass(stages []*plan.Stage, s span, c columns) {
	accs := l.newAccs(stages, "_lane")
	l.sweep(accs, s, colRuns)
	var slots []slot
	for _, a := range accs {
		slots = append(slots, l.newSlot(a, colThreads))
	}
	for _, s := range slots {
		l.put(s, c.thread)
	}
	l.Emit(&ir.Barrier{})
	accs = l.newAccs(stages, "")
	l.loop("i", lower.Int(0), c.lanes, lower.Int(1), func(i ir.Expr) {
		l.gather(slots, accs, lower.AddI(lower.MulI(i, c.count), c.col))
	})
	l.publish(accs)
}
