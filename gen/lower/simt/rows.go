package simt

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

const keptRow = 4096 // elements of a row that the threads of a group keep, at most

// row is a row program. A slab is as many elements of a row as a thread keeps, for each
// thread of the group. A row's first slab stays in registers, and what lies beyond is read
// again in each phase.
type row struct {
	*runs
	group
	own              int64 // elements of a row that a thread has; of longer rows it has more
	n, threads, slab ir.Expr
	phase            []lower.Phase
	held             []*expr.Read // whose elements stay in registers
	common           []*expr.Read // that all rows of a block have in common, likewise
	keep             []kept       // values that do
	streams          bool         // no phase after the last two passes needs the elements
	first            ir.Expr      // whether the row at hand is the first of its block
}

// rows lowers a row program: a group, of as many threads as give each 16 or 32 elements of
// the row, has a row; or a block of rows where column sums are kept for each block, and
// then a thread has 8 elements, since it has sums for them, too, and while a group waits
// for a row another one works.
func (l *lowering) rows(wide bool) {
	par, red, c := l.k.Par, l.k.Red, l.k.Chunk
	r := &row{phase: lower.Phases(l.k), own: 16}
	if c != nil {
		r.own = 8
		l.out.Func.Resident = 2
	}
	if len(red) > 0 {
		r.runs = l.newRuns(wide, red[len(red)-1])
		r.multiple(r.inner)
	} else {
		r.runs = &runs{lowering: l, run: 1, temp: map[string]*ir.Array{}}
	}
	r.streams = r.findStream()
	if !r.streams {
		for _, k := range lower.Keep(l.k) {
			r.keep = append(r.keep, kept{Kept: k})
		}
		r.findHeld()
		r.findReplaced()
	}
	if c == nil && r.run > 1 {
		r.own = r.perThread()
	}
	l.out.PerThread, l.out.Row = r.own, red
	switch {
	case c != nil:
		l.out.Grid = []Dim{{[]*expr.Axis{c.Axis}, 1}}
		l.Bind(c.Axis, &ir.Here{ID: ir.GroupX})
	case len(par) > 0:
		l.out.Grid = []Dim{{par, 1}}
		l.bind(par, &ir.Here{ID: ir.GroupX})
	}
	r.n = l.extent("n", red)
	r.group = l.group(keptRow / r.own)
	r.threads = l.here(ir.Threads, "threads")
	r.simds = lower.DivI(r.threads, lower.Int(simdWidth))
	r.slab = l.Name("slab", times(r.threads, r.own))
	if c == nil {
		r.one()
		return
	}
	r.block(c)
}

// block computes a block of rows, of as many as the number of blocks leaves for each, and
// sums their columns: in registers as far as those go, beyond in memory.
func (r *row) block(c *plan.Chunk) {
	rows := r.extent("rows", r.k.Par)
	size := r.Name("size", lower.DivI(lower.AddI(rows, lower.SubI(r.Size(c.Axis), lower.Int(1))), r.Size(c.Axis)))
	from := r.Name("from", lower.MulI(&ir.Here{ID: ir.GroupX}, size))
	to := r.Name("to", lower.MinI(lower.AddI(from, size), rows))
	for _, s := range r.k.Sums {
		a := r.sums(s)
		r.unrolled("i", a.Len, func(i ir.Expr) { r.Emit(&ir.Put{A: a, I: i, X: zero()}) })
	}
	r.hold(r.common)
	r.loop("row", from, to, lower.Int(1), func(at ir.Expr) {
		r.first = bin(ir.Eq, at, from)
		r.ahead(lower.AddI(at, lower.Int(1)), to)
		r.bind(r.k.Par, at)
		if len(r.k.Passes()) == 1 { // where there are more, their barriers lie between
			r.turn = r.Name("turn", lower.RemI(at, lower.Int(2)))
		}
		r.one()
	})
	r.within(func(i, at ir.Expr) {
		if !r.wide {
			r.each(at, func(v ir.Expr) {
				for _, s := range r.k.Sums {
					r.Store(s.Let, r.inSlab(r.sums(s), i, v))
				}
			})
			return
		}
		r.bind(r.k.Red, at)
		for _, s := range r.k.Sums {
			r.storeRun(s.Let, r.innerAt(), r.sums(s), lower.MulI(i, lower.Int(r.run)))
		}
	})
}

// sums are the thread's sums of the columns that it keeps.
func (r *row) sums(s *plan.Stage) *ir.Array { return r.array(s.Let.Name+"_sums", r.own) }

// within runs body for the runs that the thread keeps: number i, at a position of the
// row.
func (r *row) within(body func(i, at ir.Expr)) { r.runsOf(lower.Int(0), body) }

// beyond runs body for the slabs of the row that threads do not keep; from is the
// position of a slab.
func (r *row) beyond(body func(from ir.Expr)) { r.loop("from", r.slab, r.n, r.slab, body) }

// runsOf runs body for the thread's runs in the slab at a position: number i, at a position
// of the row. Runs are whole ones that the row has, but where each asks for every element.
func (r *row) runsOf(from ir.Expr, body func(i, at ir.Expr)) {
	r.unrolled("i", r.own/r.run, func(i ir.Expr) {
		at := r.Name(posName(r.k.Red), r.runAt(from, i))
		if r.asks() {
			body(i, at)
			return
		}
		s := &ir.If{C: less(at, r.n)}
		r.In(&s.Then, func() { body(i, at) })
		r.Emit(s)
	})
}

// asks reports whether the row may end within a run.
func (r *row) asks() bool { return !r.wide && r.run > 1 }

// runAt is where the thread's run i of the slab at a position begins.
func (r *row) runAt(from, i ir.Expr) ir.Expr {
	return lower.AddI(from, times(lower.AddI(lower.MulI(i, r.threads), r.thread), r.run))
}

// each runs body for the elements of the run that begins at a position of the row, v is
// the number of one: in the wide form, which has whole runs, for all of them, else as far as
// the row goes.
func (r *row) each(at ir.Expr, body func(v ir.Expr)) {
	if r.wide {
		r.bind(r.k.Red, at)
		r.elements(r.innerAt(), body)
		return
	}
	if !r.asks() {
		r.bind(r.k.Red, at)
		body(lower.Int(0))
		return
	}
	r.unrolled("v", r.run, func(v ir.Expr) {
		one := r.Name(posName(r.k.Red), lower.AddI(at, v))
		s := &ir.If{C: less(one, r.n)}
		r.In(&s.Then, func() {
			r.bind(r.k.Red, one)
			body(v)
		})
		r.Emit(s)
	})
}

// get puts what e reads of the run that begins at a position of the row into a, from
// element i on.
func (r *row) get(a *ir.Array, i ir.Expr, e *expr.Read, at ir.Expr) {
	if r.wide {
		r.bind(r.k.Red, at)
		r.load(a, i, e, r.innerAt())
		return
	}
	r.each(at, func(v ir.Expr) { r.Emit(&ir.Put{A: a, I: lower.AddI(i, v), X: r.Value(e)}) })
}

// one computes the row at hand.
func (r *row) one() {
	perRow, perElement := r.k.RowStores()
	r.ordered = readFirstAlone(perRow) && len(r.k.Stages) > 0
	r.readFirst()
	passes := r.k.Passes()
	for n := 0; n < len(passes); n++ {
		if p := findRunning(r.k, n); p != nil {
			r.running(n, p)
			n++
		} else {
			r.pass(n, passes[n])
		}
	}
	if len(perElement)+len(r.k.Sums) > 0 {
		last := len(r.phase) - 1
		body := func(i, at, v ir.Expr) {
			if r.wide {
				r.computes(perElement, v)
			} else {
				r.stores(perElement)
			}
			r.addSums(i, v)
		}
		after := func(at ir.Expr) {
			if r.wide {
				r.bind(r.k.Red, at)
				r.writes(perElement, r.innerAt())
			}
		}
		r.kept(last, body, after)
		r.beyond(func(from ir.Expr) { r.read(last, from, body, after) })
	}
	if !r.ordered {
		r.fence(perRow)
	}
	r.once(r.group, perRow)
}

// readFirst reads what registers hold of the row, and what all its elements need at one
// place, which would otherwise be waited for where it is needed, between the phases.
func (r *row) readFirst() {
	for _, e := range r.k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			read, ok := e.(*expr.Read)
			if ok && isFloat(read.T.Type) && !varies(read, r.k.Red...) && r.known(read) {
				r.Known(read, r.Value(read))
			}
			return true
		})
	}
	r.hold(r.held)
}

// hold reads into registers what the thread has of reads.
func (r *row) hold(reads []*expr.Read) {
	if len(reads) == 0 {
		return
	}
	r.within(func(i, at ir.Expr) {
		for _, e := range reads {
			r.get(r.heldIn(e), lower.MulI(i, lower.Int(r.run)), e, at)
		}
	})
}

// ahead asks for the next row of a block that ends before row end, which comes from memory
// while the row at hand is computed. Where a thread has several runs of a row, those
// keep the memory busy by themselves: on an H200 it gains 13 % in 16 bits and would lose
// 5 % in 32.
func (r *row) ahead(next, end ir.Expr) {
	if !r.wide || len(r.held) == 0 || r.own > r.run {
		return
	}
	s := &ir.Ahead{C: less(next, end)}
	r.In(&s.Body, func() {
		r.bind(r.k.Par, next)
		r.within(func(_, at ir.Expr) {
			r.bind(r.k.Red, at)
			for _, e := range r.held {
				run := r.place(e, r.innerAt())
				r.Emit(&ir.Prefetch{B: run.B, Off: run.Off})
			}
		})
	})
	r.Emit(s)
}

// readFirstAlone reports whether stores replace old values of inouts that readFirst has
// read: then a barrier after it keeps them apart.
func readFirstAlone(stores []*plan.Store) bool {
	inout := slices.DeleteFunc(slices.Clone(stores), func(s *plan.Store) bool { return s.T.Role != expr.InOut })
	return len(inout) > 0 && !slices.ContainsFunc(inout, func(s *plan.Store) bool { return !isFloat(s.T.Type) })
}

// known reports whether e needs nothing that the kernel computes.
func (r *row) known(e *expr.Read) bool {
	return !slices.ContainsFunc(append(expr.Reads(e), e.T), r.k.Local)
}

// read runs body in phase n for each of the thread's elements in the slab at a
// position, which are read; i is nil.
func (r *row) read(n int, from ir.Expr, body func(i, at, v ir.Expr), after func(at ir.Expr)) {
	none := func(*expr.Read) *ir.Array { return nil }
	r.runsOf(from, func(i, at ir.Expr) {
		r.runIn(at, i, r.needed(n, false), none, func(v ir.Expr) { body(nil, lower.AddI(at, v), v) })
		if after != nil {
			after(at)
		}
	})
}

// runIn runs body for each element of run i of a slab, which begins at a position of the
// row, with the reads that it needs: slab gives the array that has those of the whole
// slab, nil if there is none and the run is to be read.
func (r *row) runIn(at, i ir.Expr, need []*expr.Read, slab func(*expr.Read) *ir.Array, body func(v ir.Expr)) {
	for _, e := range need {
		if slab(e) == nil {
			r.get(r.runOf(e), lower.Int(0), e, at)
		}
	}
	r.each(at, func(v ir.Expr) {
		for _, e := range need {
			if a := slab(e); a != nil {
				r.Known(e, r.inSlab(a, i, v))
			} else {
				r.Known(e, &ir.At{A: r.runOf(e), I: v})
			}
		}
		body(v)
	})
}

// inSlab is element v of run i in an array of the thread's elements of a slab.
func (r *row) inSlab(a *ir.Array, i, v ir.Expr) *ir.At {
	return &ir.At{A: a, I: lower.AddI(lower.MulI(i, lower.Int(r.run)), v)}
}

// addSums adds the element's terms to the sums of its columns.
func (r *row) addSums(i, v ir.Expr) {
	for _, s := range r.k.Sums {
		x := r.Value(s.Expr)
		if i == nil {
			add := &ir.If{C: r.first}
			r.Guarded(&add.Then, func() { r.Store(s.Let, plus(zero(), x)) }) // a sum of -0 alone is 0
			r.Guarded(&add.Else, func() {
				r.Store(s.Let, plus(r.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: s.Let}), x))
			})
			r.Emit(add)
			continue
		}
		at := &ir.At{A: r.sums(s), I: lower.AddI(lower.MulI(i, lower.Int(r.run)), v)}
		r.Emit(&ir.Put{A: at.A, I: at.I, X: plus(at, x)})
	}
}

// pass reduces the row at hand. Every thread gets the results. A thread sums up each
// slab by itself, so that the rounding error does not grow with the length.
func (r *row) pass(n int, stages []*plan.Stage) {
	accs := r.newAccs(stages, "_thread")
	r.apart(n, accs, func(accs []*acc) {
		r.kept(n, r.adds(accs), nil)
		r.beyond(func(from ir.Expr) {
			r.blockwise(accs, func(accs []*acc) { r.read(n, from, r.adds(accs), nil) })
		})
	})
	r.fold(accs, stages, r.group)
}

// adds adds the element at hand to accs.
func (r *row) adds(accs []*acc) func(i, at, v ir.Expr) {
	return func(_, at, _ ir.Expr) {
		for _, a := range accs {
			r.take(a, at)
		}
	}
}

// apart runs body with those accs that go together in phase n: terms under a condition that
// the whole row has in common are summed up apart from the others, if it holds.
func (r *row) apart(n int, accs []*acc, body func(accs []*acc)) {
	groups, conds := map[string][]*acc{}, map[string]expr.Expr{}
	var order []string
	for _, a := range accs {
		key := ""
		w, ok := lower.Conditional(a.stage)
		if ok && !varies(w.C, r.k.Red...) && !r.keepsIn(n) {
			key = expr.Key(w.C)
			conds[key] = w.C
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], a)
	}
	for _, key := range order {
		c, ok := conds[key]
		if !ok {
			body(groups[key])
			continue
		}
		r.when(r.Value(c), func() {
			for _, a := range groups[key] {
				a.met = true
			}
			body(groups[key])
			for _, a := range groups[key] {
				a.met = false
			}
		})
	}
}
