package simt

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

const chunkThreads = 128 // that share a chunk

// group is a threadgroup as one of its threads sees it.
type group struct {
	thread, simd ir.Expr
	simds        ir.Expr // SIMD groups in it
	most         int64   // threads that it has at most
	// turn is 0 or 1, by turns from one fold to the next: the parts of a fold lie apart from
	// those of the one before, which threads may still be reading. Nil where a barrier lies
	// between.
	turn ir.Expr
}

// group starts a kernel whose groups have at most the given number of threads.
func (l *lowering) group(most int64) group {
	l.out.Func.Threads = int(most)
	return group{thread: l.here(ir.Thread, "thread"), simd: l.here(ir.SIMDGroup, "simd"), most: most}
}

// partial reduces one chunk of the whole index space in each group.
func (l *lowering) partial() {
	c := l.k.Chunk
	l.out.Grid = []Dim{{l.k.Par, 1}}
	l.bind(l.k.Par, &ir.Here{ID: ir.GroupX})
	n := l.extent("n", c.Of)
	from := l.Name("from", times(&ir.Here{ID: ir.GroupX}, plan.ChunkSize))
	to := l.Name("to", lower.MinI(lower.AddI(from, lower.Int(plan.ChunkSize)), n))
	g := l.group(chunkThreads)
	g.simds = lower.Int(chunkThreads / simdWidth)
	chunk := span{axes: l.k.Red, from: from, to: to, first: g.thread, step: lower.Int(chunkThreads)}
	for _, stages := range l.k.Passes() {
		accs := l.newAccs(stages, "_thread")
		l.sweep(accs, chunk, chunkRuns)
		l.fold(accs, stages, g)
	}
	l.once(g, l.k.Stores)
}

// fold binds the results of stages, of which accs has each thread's part, for the
// stages and stores that follow. Every thread of the group gets them: each SIMD group
// leaves its part and then joins the parts of all, a lane taking one.
func (l *lowering) fold(accs []*acc, stages []*plan.Stage, g group) {
	for _, a := range accs {
		l.foldSIMD(a)
	}
	parts, first := g.most/simdWidth, lower.Int(0)
	if g.turn != nil {
		first = lower.MulI(g.turn, lower.Int(parts))
		parts *= 2
	}
	var slots []slot
	for _, a := range accs {
		slots = append(slots, l.newSlot(a, parts))
	}
	l.when(bin(ir.Eq, &ir.Here{ID: ir.Lane}, lower.Int(0)), func() {
		for _, s := range slots {
			l.put(s, lower.AddI(first, g.simd))
		}
	})
	l.Emit(&ir.Barrier{Device: l.ordered})
	accs = l.newAccs(stages, "")
	lane := l.here(ir.Lane, "lane")
	l.when(less(lane, g.simds), func() { l.gather(slots, accs, lower.AddI(first, lane)) })
	for _, a := range accs {
		l.foldSIMD(a)
	}
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

// once runs the stores in the group's first thread.
func (l *lowering) once(g group, ss []*plan.Store) {
	if len(ss) > 0 {
		l.when(bin(ir.Eq, g.thread, lower.Int(0)), func() { l.stores(ss) })
	}
}
