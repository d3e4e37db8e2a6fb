package simt

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// WideSuffix ends the symbol of a kernel's wide form.
const WideSuffix = "_wide"

const accessBytes = 16 // of memory that a thread of the wide form reads or writes at a time

// wide is the state of lowering the wide form of a kernel: threads take runs of
// neighbouring elements along one axis, 16 bytes of the narrowest type at a time.
type wide struct {
	*lowering
	inner *expr.Axis
	run   int64        // elements of a run
	reads []*expr.Read // those whose elements lie side by side along a run, each once
	flat  bool         // runs go along the flattened index of a map
	temp  map[string]*ir.Array
}

// LowerWide lowers the wide form of kernel k, nil if it has none: where the memory of
// some tensors begins at a multiple of 16 bytes and some extents are multiples of a
// run, a thread reads and writes runs of elements at once, and a row stays in
// registers as far as they hold it.
func LowerWide(p *plan.Plan, k *plan.Kernel, symbol string, block *lower.Block) (*Kernel, error) {
	f := &ir.Func{Symbol: symbol + WideSuffix, SIMT: true}
	l := &lowering{Builder: lower.New(p, k, f, block), k: k, out: &Kernel{Func: f}}
	w := &wide{lowering: l, temp: map[string]*ir.Array{}}
	switch {
	case k.Shape == plan.Map && len(k.Par) > 0:
		w.inner = k.Par[len(k.Par)-1]
	case k.Shape == plan.Rows && len(k.Red) > 0:
		w.inner = k.Red[len(k.Red)-1]
	default:
		return nil, nil
	}
	if !w.find() {
		return nil, nil
	}
	if k.Shape == plan.Map {
		w.mapKernel()
	} else {
		w.rows()
	}
	return l.finish()
}

// find finds what lies side by side; false if nothing does, or if floats that vary
// along the inner axis lie apart, of which threads beside each other had better read
// one each.
func (w *wide) find() bool {
	w.run = 1
	seen, apart := map[string]bool{}, false
	for _, e := range w.k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			r, ok := e.(*expr.Read)
			switch {
			case !ok || seen[expr.Key(r)] || w.k.Local(r.T):
			case w.contiguous(r):
				seen[expr.Key(r)] = true
				w.reads = append(w.reads, r)
				w.takes(r.T)
			default:
				apart = apart || isFloat(r.T.Type) && w.varies(r)
			}
			return true
		})
	}
	if apart {
		return false
	}
	for _, s := range w.k.Stores {
		if w.storesRuns(s) {
			w.takes(s.T)
		}
	}
	for _, s := range w.k.Sums {
		w.takes(s.Let)
	}
	return w.run > 1
}

// takes notes that runs of t are read or written.
func (w *wide) takes(t *expr.Tensor) {
	w.run = max(w.run, accessBytes/int64(t.Type.Bytes()))
	if !slices.Contains(w.out.Aligned, t) {
		w.out.Aligned = append(w.out.Aligned, t)
	}
}

func isFloat(t expr.DType) bool { return t == expr.F32 || t == expr.F16 || t == expr.BF16 }

func (w *wide) contiguous(e *expr.Read) bool {
	return isFloat(e.T.Type) && e.T.Bounds == nil && lower.Contiguous(e, w.inner)
}

// varies reports whether what e reads varies along the inner axis.
func (w *wide) varies(e *expr.Read) bool {
	if e.Idx == nil {
		return slices.Contains(e.T.Axes, w.inner)
	}
	return slices.ContainsFunc(e.Idx, func(x expr.Expr) bool { return expr.Uses(x, w.inner) })
}

func (w *wide) storesRuns(s *plan.Store) bool {
	n := len(s.T.Axes)
	return isFloat(s.T.Type) && n > 0 && s.T.Axes[n-1] == w.inner
}

// array is the thread's array of the given name and length.
func (w *wide) array(name string, n int64) *ir.Array {
	if a := w.temp[name]; a != nil {
		return a
	}
	a := w.private(name, n)
	w.temp[name] = a
	return a
}

// runIn is where a run of e is.
func (w *wide) runIn(e *expr.Read) *ir.Array {
	return w.array(e.T.Name+"_run"+w.number(e), w.run)
}

// runOut is where a run of what a store computes is.
func (w *wide) runOut(s *plan.Store) *ir.Array { return w.array(s.T.Name+"_out", w.run) }

// number tells apart several reads of one tensor.
func (w *wide) number(e *expr.Read) string {
	n := 1
	for _, other := range w.reads[:slices.Index(w.reads, e)] {
		if other.T == e.T {
			n++
		}
	}
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("_%d", n)
}

// load puts the run that e names from position first of the inner axis on into a.
func (w *wide) load(a *ir.Array, at ir.Expr, e *expr.Read, first ir.Expr) {
	w.Emit(&ir.LoadRun{A: a, At: at, X: w.place(e, first), N: w.run})
}

// place is where a run lies.
func (w *wide) place(e *expr.Read, first ir.Expr) *ir.Load {
	if w.flat {
		return &ir.Load{B: w.Buffer(e.T), Off: first}
	}
	return w.RunLoad(e, w.inner, first)
}

// elements runs body for each element of a run whose first is at the given position of
// the inner axis; v is its number in the run.
func (w *wide) elements(first ir.Expr, body func(v ir.Expr)) {
	w.unrolled("v", w.run, func(v ir.Expr) {
		w.Bind(w.inner, w.Name(axisName(w.inner), lower.AddI(first, v)))
		body(v)
	})
}

// computes gathers in arrays what the stores of a run compute for element v. Each
// sees the old value of an inout.
func (w *wide) computes(stores []*plan.Store, v ir.Expr) {
	for _, s := range stores {
		if w.storesRuns(s) {
			w.Emit(&ir.Put{A: w.runOut(s), I: v, X: w.Value(s.Expr)})
		}
	}
	var others []*plan.Store
	for _, s := range stores {
		if !w.storesRuns(s) {
			others = append(others, s)
		}
	}
	w.stores(others)
}

// put writes the runs that computes has gathered, at the positions at hand.
func (w *wide) put(stores []*plan.Store, first ir.Expr) {
	for _, s := range stores {
		if w.storesRuns(s) {
			w.storeRun(s.T, first, w.runOut(s), lower.Int(0))
		}
	}
}

// storeRun writes a run of t from position first of the inner axis on.
func (w *wide) storeRun(t *expr.Tensor, first ir.Expr, a *ir.Array, at ir.Expr) {
	x := w.place(&expr.Read{Node: expr.Node{K: expr.Float}, T: t}, first)
	var store ir.Stmt = &ir.StoreRun{B: x.B, Off: x.Off, A: a, At: at, N: w.run}
	if w.k.Lazy(t) {
		store = &ir.If{C: w.Wanted(t), Then: []ir.Stmt{store}}
	}
	w.Emit(store)
}

// mapKernel is the wide form of a map: a thread has 32 bytes of a result or a run,
// whichever is more. What is left at the end it computes one by one.
func (w *wide) mapKernel() {
	axes := w.k.Par
	w.flat = w.isFlat()
	w.out.Func.Threads = mapThreads
	own := max(int64(mapBytes/max(w.k.Stores[0].T.Type.Bytes(), 2)), w.run)
	tile := mapThreads * own
	w.out.Grid = []Dim{{axes, tile}}
	n := w.extent("n", axes)
	from := w.Name("from", times(&ir.Here{ID: ir.GroupX}, tile))
	thread := w.here(ir.Thread, "thread")
	s := &ir.If{C: bin(ir.Le, lower.AddI(from, lower.Int(tile)), n)}
	w.Guarded(&s.Then, func() {
		w.unrolled("i", own/w.run, func(i ir.Expr) {
			at := lower.MulI(lower.AddI(lower.MulI(i, lower.Int(mapThreads)), thread), lower.Int(w.run))
			w.mapRun(w.Name(posName(axes), lower.AddI(from, at)))
		})
	})
	w.Guarded(&s.Else, func() {
		w.loop(posName(axes), lower.AddI(from, thread), n, lower.Int(mapThreads), func(at ir.Expr) {
			w.bind(axes, at)
			w.stores(w.k.Stores)
		})
	})
	w.Emit(s)
}

// mapRun computes the run whose first element is at a flat position.
func (w *wide) mapRun(at ir.Expr) {
	first := at
	if w.flat { // no value depends on where along which axis it lies
		for _, a := range w.k.Par {
			w.Bind(a, lower.Int(0))
		}
	} else {
		w.bind(w.k.Par, at)
		first = w.innerAt()
		w.multiple(w.inner)
	}
	for _, e := range w.reads {
		w.load(w.runIn(e), lower.Int(0), e, first)
	}
	w.elements(first, func(v ir.Expr) {
		for _, e := range w.reads {
			w.Known(e, &ir.At{A: w.runIn(e), I: v})
		}
		w.computes(w.k.Stores, v)
	})
	w.put(w.k.Stores, first)
}

// innerAt is the position along the inner axis at hand.
func (w *wide) innerAt() ir.Expr {
	return w.Value(&expr.Index{Node: expr.Node{K: expr.Int}, A: w.inner})
}

// multiple asks for an extent of whole runs.
func (w *wide) multiple(a *expr.Axis) {
	if !slices.ContainsFunc(w.out.Multiple, func(d Dim) bool { return d.Axes[0] == a }) {
		w.out.Multiple = append(w.out.Multiple, Dim{[]*expr.Axis{a}, w.run})
	}
}

// isFlat reports whether every tensor of a map lies as the flattened index goes and
// nothing else depends on positions, so that runs need not keep to the inner axis.
func (w *wide) isFlat() bool {
	axes := w.k.Par
	flat := true
	for _, s := range w.k.Stores {
		flat = flat && w.storesRuns(s) && slices.Equal(s.T.Axes, axes)
		expr.Walk(s.Expr, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Read:
				flat = flat && (len(e.T.Axes) == 0 || w.contiguous(e) && e.Idx == nil && slices.Equal(e.T.Axes, axes))
			case *expr.Index, *expr.Flat:
				flat = false
			}
			return true
		})
	}
	return flat
}

const (
	wideThreads = 256 // in a group of a row program, at most
	rowOwn      = 16  // elements of a row that a thread keeps
)

// wideRow is a row in the wide form: its first 16 elements for each thread stay in
// registers, what lies beyond is read again in each phase.
type wideRow struct {
	*wide
	group
	n, threads, slab ir.Expr
	phase            []lower.Phase
	held             []*expr.Read // whose elements stay in registers
	keep             []lower.Kept
}

// rows is the wide form of a row program: a group, of as many threads as give each 16
// elements of the row, has a row or a block of rows.
func (w *wide) rows() {
	w.out.Func.Threads = wideThreads
	w.out.PerThread, w.out.Row = rowOwn, w.k.Red
	w.multiple(w.inner)
	r := &wideRow{wide: w, phase: lower.Phases(w.k), keep: lower.Keep(w.k)}
	r.findHeld()
	par, c := w.k.Par, w.k.Chunk
	switch {
	case c != nil:
		w.out.Grid = []Dim{{[]*expr.Axis{c.Axis}, 1}}
		w.Bind(c.Axis, &ir.Here{ID: ir.GroupX})
	case len(par) > 0:
		w.out.Grid = []Dim{{par, 1}}
		w.bind(par, &ir.Here{ID: ir.GroupX})
	}
	r.n = w.extent("n", w.k.Red)
	r.group = group{thread: w.here(ir.Thread, "thread"), simd: w.here(ir.SIMDGroup, "simd")}
	r.threads = w.here(ir.Threads, "threads")
	r.slab = w.Name("slab", times(r.threads, rowOwn))
	if c == nil {
		r.row()
		return
	}
	r.block(c)
}

// block computes a block of rows and sums their columns: in registers as far as those
// go, beyond in memory.
func (r *wideRow) block(c *plan.Chunk) {
	rows := r.extent("rows", r.k.Par)
	from := r.Name("from", times(&ir.Here{ID: ir.GroupX}, c.Size))
	to := r.Name("to", lower.MinI(lower.AddI(from, lower.Int(c.Size)), rows))
	for _, s := range r.k.Sums {
		a := r.sums(s)
		r.unrolled("i", a.Len, func(i ir.Expr) { r.Emit(&ir.Put{A: a, I: i, X: &ir.Lit{T: ir.Scalar(ir.F32)}}) })
	}
	r.beyond(func(at ir.Expr) {
		r.bind(r.k.Red, at)
		r.elements(r.innerAt(), func(ir.Expr) {
			for _, s := range r.k.Sums {
				r.Store(s.Let, &ir.Lit{T: ir.Scalar(ir.F32)})
			}
		})
	})
	r.loop("row", from, to, lower.Int(1), func(at ir.Expr) {
		r.bind(r.k.Par, at)
		r.row()
		if len(r.k.Passes()) == 1 {
			r.Emit(&ir.Barrier{}) // see rowBlock
		}
	})
	r.within(func(i, at ir.Expr) {
		r.bind(r.k.Red, at)
		for _, s := range r.k.Sums {
			r.storeRun(s.Let, r.innerAt(), r.sums(s), lower.MulI(i, lower.Int(r.run)))
		}
	})
}

// sums are the thread's sums of the columns that it keeps.
func (r *wideRow) sums(s *plan.Stage) *ir.Array { return r.array(s.Let.Name+"_sums", rowOwn) }

// findHeld finds the reads that several phases need, of which those do not count that
// only a value needs that is kept.
func (r *wideRow) findHeld() {
	count := map[string]int{}
	for n := range r.phase {
		for _, e := range r.needed(n, true) {
			count[expr.Key(e)]++
		}
	}
	for _, e := range r.reads {
		if count[expr.Key(e)] > 1 {
			r.held = append(r.held, e)
		}
	}
}

// needed returns the runs that phase n reads; with kept, values that were kept before
// are at hand.
func (r *wideRow) needed(n int, kept bool) []*expr.Read {
	found := map[string]bool{}
	for _, e := range r.phase[n].All {
		expr.Walk(e, func(e expr.Expr) bool {
			if kept && slices.ContainsFunc(r.keep, func(k lower.Kept) bool { return k.First < n && expr.Key(k.Expr) == expr.Key(e) }) {
				return false
			}
			found[expr.Key(e)] = true
			return true
		})
	}
	return slices.DeleteFunc(slices.Clone(r.reads), func(e *expr.Read) bool { return !found[expr.Key(e)] })
}

func (r *wideRow) holds(e *expr.Read) bool { return slices.Contains(r.held, e) }

// within runs body for the runs that the thread keeps: number i, at a position of the
// row.
func (r *wideRow) within(body func(i, at ir.Expr)) {
	r.unrolled("i", rowOwn/r.run, func(i ir.Expr) { r.runAt(lower.Int(0), i, func(at ir.Expr) { body(i, at) }) })
}

// beyond runs body for the thread's runs that lie beyond those that it keeps.
func (r *wideRow) beyond(body func(at ir.Expr)) {
	r.loop("from", r.slab, r.n, r.slab, func(from ir.Expr) {
		r.unrolled("i", rowOwn/r.run, func(i ir.Expr) { r.runAt(from, i, body) })
	})
}

// runAt runs body for run i of the thread in the slab that begins at a position, if
// the row goes that far.
func (r *wideRow) runAt(from, i ir.Expr, body func(at ir.Expr)) {
	run := lower.AddI(lower.MulI(i, r.threads), r.thread)
	at := r.Name(posName(r.k.Red), lower.AddI(from, lower.MulI(run, lower.Int(r.run))))
	s := &ir.If{C: less(at, r.n)}
	r.In(&s.Then, func() { body(at) })
	r.Emit(s)
}

func (r *wideRow) heldIn(e *expr.Read) *ir.Array {
	return r.array(e.T.Name+"_row"+r.number(e), rowOwn)
}

func (r *wideRow) keptIn(k lower.Kept) *ir.Array {
	return r.array("kept"+r.numberKept(k), rowOwn)
}

func (r *wideRow) numberKept(k lower.Kept) string {
	for i := range r.keep {
		if r.keep[i].Expr == k.Expr && i > 0 {
			return fmt.Sprintf("_%d", i+1)
		}
	}
	return ""
}

// row computes the row at hand.
func (r *wideRow) row() {
	if len(r.held) > 0 {
		r.within(func(i, at ir.Expr) {
			r.bind(r.k.Red, at)
			for _, e := range r.held {
				r.load(r.heldIn(e), lower.MulI(i, lower.Int(r.run)), e, r.innerAt())
			}
		})
	}
	for n, stages := range r.k.Passes() {
		r.pass(n, stages)
	}
	perRow, perElement := r.k.RowStores()
	if len(perElement)+len(r.k.Sums) > 0 {
		r.along(len(r.phase)-1, func(i, at, v ir.Expr) {
			r.computes(perElement, v)
			r.addSums(i, v)
		}, func() { r.put(perElement, r.innerAt()) })
	}
	r.fence(perRow)
	r.once(r.group, perRow)
}

// along runs body in phase n for each element of the row, and after for each run. In
// body, i is the number of a run that the thread keeps and nil beyond, at the position
// in the row and v that in the run.
func (r *wideRow) along(n int, body func(i, at, v ir.Expr), after func()) {
	r.within(func(i, at ir.Expr) { r.phaseRun(n, i, at, body, after) })
	r.beyond(func(at ir.Expr) { r.phaseRun(n, nil, at, body, after) })
}

func (r *wideRow) phaseRun(n int, i, at ir.Expr, body func(i, at, v ir.Expr), after func()) {
	r.bind(r.k.Red, at)
	first := r.innerAt()
	need := r.needed(n, i != nil)
	for _, e := range need {
		if i == nil || !r.holds(e) {
			r.load(r.runIn(e), lower.Int(0), e, first)
		}
	}
	r.elements(first, func(v ir.Expr) {
		place := func(a *ir.Array) ir.Expr {
			return &ir.At{A: a, I: lower.AddI(lower.MulI(i, lower.Int(r.run)), v)}
		}
		for _, e := range need {
			if i != nil && r.holds(e) {
				r.Known(e, place(r.heldIn(e)))
			} else {
				r.Known(e, &ir.At{A: r.runIn(e), I: v})
			}
		}
		for _, k := range r.keep {
			if i != nil && k.First < n {
				r.Known(k.Expr, place(r.keptIn(k)))
			}
		}
		body(i, lower.AddI(at, v), v)
		for _, k := range r.keep {
			if i != nil && k.First == n {
				r.Emit(&ir.Put{A: r.keptIn(k), I: lower.AddI(lower.MulI(i, lower.Int(r.run)), v), X: r.Value(k.Expr)})
			}
		}
	})
	if after != nil {
		after()
	}
}

// addSums adds the element's terms to the sums of its columns.
func (r *wideRow) addSums(i, v ir.Expr) {
	for _, s := range r.k.Sums {
		x := r.Value(s.Expr)
		if i == nil {
			old := r.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: s.Let})
			r.Store(s.Let, bin(ir.Add, old, x))
			continue
		}
		at := &ir.At{A: r.sums(s), I: lower.AddI(lower.MulI(i, lower.Int(r.run)), v)}
		r.Emit(&ir.Put{A: at.A, I: at.I, X: bin(ir.Add, at, x)})
	}
}

// pass reduces the row at hand. Every thread gets the results. Beyond what the thread
// keeps it sums up each slab by itself, so that the rounding error does not grow with
// the length.
func (r *wideRow) pass(n int, stages []*plan.Stage) {
	accs := r.newAccs(stages, "_thread")
	take := func(accs []*acc) func(i, at, v ir.Expr) {
		return func(_, at, _ ir.Expr) {
			for _, a := range accs {
				r.take(a, at)
			}
		}
	}
	r.within(func(i, at ir.Expr) { r.phaseRun(n, i, at, take(accs), nil) })
	r.loop("from", r.slab, r.n, r.slab, func(from ir.Expr) {
		r.blockwise(accs, func(accs []*acc) {
			r.unrolled("i", rowOwn/r.run, func(i ir.Expr) {
				r.runAt(from, i, func(at ir.Expr) { r.phaseRun(n, nil, at, take(accs), nil) })
			})
		})
	})
	for _, a := range accs {
		r.foldSIMD(a)
	}
	var slots []slot
	for _, a := range accs {
		slots = append(slots, r.newSlot(a, wideThreads/simdWidth))
	}
	r.when(bin(ir.Eq, &ir.Here{ID: ir.Lane}, lower.Int(0)), func() {
		for _, s := range slots {
			r.lowering.put(s, r.simd)
		}
	})
	r.Emit(&ir.Barrier{})
	accs = r.newAccs(stages, "")
	r.loop("s", lower.Int(0), lower.DivI(r.threads, lower.Int(simdWidth)), lower.Int(1), func(i ir.Expr) { r.gather(slots, accs, i) })
	r.publish(accs)
}
