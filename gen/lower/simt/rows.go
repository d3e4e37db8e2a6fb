package simt

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// rowThreads is the number of threads that share a row, or a chunk.
const rowThreads = 128

// group is a threadgroup as one of its threads sees it.
type group struct{ thread, simd ir.Expr }

func (l *lowering) group() group {
	l.out.Func.Threads = rowThreads
	return group{thread: l.here(ir.Thread, "thread"), simd: l.here(ir.SIMDGroup, "simd")}
}

// rows lowers a row program: a group has a row, or a block of rows where column
// sums are kept for each block. Its threads stride along the row, once for each
// pass of reductions, and then for the outputs.
func (l *lowering) rows() {
	par, red := l.k.Par, l.k.Red
	if l.k.Chunk != nil {
		l.rowBlock()
		return
	}
	if len(par) > 0 {
		l.out.Grid = []Dim{{par, 1}}
		l.bind(par, &ir.Here{ID: ir.GroupX})
	}
	n := l.extent("n", red)
	l.row(l.group(), n)
}

// rowBlock lowers a row program with column sums: a group has a block of rows,
// each of its threads the same columns of all of them.
func (l *lowering) rowBlock() {
	c := l.k.Chunk
	l.out.Grid = []Dim{{[]*expr.Axis{c.Axis}, 1}}
	l.Bind(c.Axis, &ir.Here{ID: ir.GroupX})
	n := l.extent("n", l.k.Red)
	rows := l.extent("rows", l.k.Par)
	from := l.Name("from", times(&ir.Here{ID: ir.GroupX}, c.Size))
	to := l.Name("to", lower.MinI(lower.AddI(from, lower.Int(c.Size)), rows))
	g := l.group()
	l.acrossRow(g, n, func() {
		for _, s := range l.k.Sums {
			l.Store(s.Let, &ir.Lit{T: ir.Scalar(ir.F32)})
		}
	})
	l.loop("row", from, to, lower.Int(1), func(at ir.Expr) {
		l.bind(l.k.Par, at)
		l.row(g, n)
		if len(l.k.Passes()) == 1 {
			// The next row's parts must not overtake the reading of this one's;
			// where there are more passes, their barriers lie between.
			l.Emit(&ir.Barrier{})
		}
	})
}

// row computes the row of n elements at hand by all threads of the group.
func (l *lowering) row(g group, n ir.Expr) {
	row := span{axes: l.k.Red, from: lower.Int(0), to: n, first: g.thread, step: lower.Int(rowThreads)}
	for _, stages := range l.k.Passes() {
		l.groupPass(stages, row, g)
	}
	perRow, perElement := l.k.RowStores()
	if len(perElement)+len(l.k.Sums) > 0 {
		l.acrossRow(g, n, func() {
			l.stores(perElement)
			l.addSums()
		})
	}
	l.fence(perRow)
	l.once(g, perRow)
}

// acrossRow runs body for the thread's positions of a row of n elements.
func (l *lowering) acrossRow(g group, n ir.Expr, body func()) {
	red := l.k.Red
	l.loop(posName(red), g.thread, n, lower.Int(rowThreads), func(at ir.Expr) {
		l.bind(red, at)
		body()
	})
}

// addSums adds the row's terms to the sums of its block.
func (l *lowering) addSums() {
	for _, s := range l.k.Sums {
		old := l.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: s.Let})
		l.Store(s.Let, bin(ir.Add, old, l.Value(s.Expr)))
	}
}

// fence lets all threads of the group read the old value of an inout before one
// of them stores the new one.
func (l *lowering) fence(ss []*plan.Store) {
	for _, s := range ss {
		if s.T.Role == expr.InOut {
			l.Emit(&ir.Barrier{Device: true})
			return
		}
	}
}

// partial reduces one chunk of the whole index space in each group.
func (l *lowering) partial() {
	c := l.k.Chunk
	l.out.Grid = []Dim{{l.k.Par, 1}}
	l.bind(l.k.Par, &ir.Here{ID: ir.GroupX})
	n := l.extent("n", c.Of)
	from := l.Name("from", times(&ir.Here{ID: ir.GroupX}, plan.ChunkSize))
	to := l.Name("to", lower.MinI(lower.AddI(from, lower.Int(plan.ChunkSize)), n))
	g := l.group()
	chunk := span{axes: l.k.Red, from: from, to: to, first: g.thread, step: lower.Int(rowThreads)}
	for _, stages := range l.k.Passes() {
		l.groupPass(stages, chunk, g)
	}
	l.once(g, l.k.Stores)
}

// once runs the stores in the group's first thread.
func (l *lowering) once(g group, ss []*plan.Store) {
	if len(ss) > 0 {
		l.when(bin(ir.Eq, g.thread, lower.Int(0)), func() { l.stores(ss) })
	}
}

// groupPass reduces the positions of s by all threads of the group. Every thread
// gets the results.
func (l *lowering) groupPass(stages []*plan.Stage, s span, g group) {
	accs := l.newAccs(stages, "_thread")
	l.sweep(accs, s, rowRuns)
	for _, a := range accs {
		l.foldSIMD(a)
	}
	var slots []slot
	for _, a := range accs {
		slots = append(slots, l.newSlot(a, rowThreads/simdWidth))
	}
	l.when(bin(ir.Eq, &ir.Here{ID: ir.Lane}, lower.Int(0)), func() {
		for _, s := range slots {
			l.put(s, g.simd)
		}
	})
	l.Emit(&ir.Barrier{})
	accs = l.newAccs(stages, "")
	l.unrolled("s", rowThreads/simdWidth, func(i ir.Expr) { l.gather(slots, accs, i) })
	l.publish(accs)
}

// foldSIMD leaves in a what the threads of a SIMD group come to together.
func (l *lowering) foldSIMD(a *acc) {
	v := lower.RefTo(a.v)
	if a.index == nil {
		l.Emit(&ir.Assign{V: a.v, X: lower.Across(a.stage.Reduce, v)})
		return
	}
	fold := ir.FoldMax
	if a.isMin() {
		fold = ir.FoldMin
	}
	best := l.Name(a.stage.Let.Name+"_best", &ir.Horizontal{Fold: fold, X: v})
	// The lowest index among the threads that have the best value.
	worse := &ir.Better{X: best, Best: v, Min: a.isMin()}
	index := &ir.Select{C: worse, A: lit32(lower.NoIndex), B: lower.RefTo(a.index)}
	l.Emit(
		&ir.Assign{V: a.index, X: &ir.Horizontal{Fold: ir.FoldMin, X: index}},
		&ir.Assign{V: a.v, X: best},
	)
}
