package simt

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

const accessBytes = 16 // of memory that a thread of the wide form reads or writes at a time

// runs is the state of lowering a map or a row program: threads take runs of
// neighbouring elements along one axis, 16 bytes of the narrowest type at a time. The
// wide form reads and writes a run at once, the other one element after element; both
// compute the same bits.
type runs struct {
	*lowering
	wide  bool
	inner *expr.Axis
	run   int64        // elements of a run; 1 where there is no wide form
	reads []*expr.Read // those whose elements lie side by side along a run, each once
	flat  bool         // runs go along the flattened index of a map
	temp  map[string]*ir.Array
}

// newRuns finds the runs of a kernel whose threads go along an axis.
func (l *lowering) newRuns(wide bool, inner *expr.Axis) *runs {
	r := &runs{lowering: l, wide: wide, inner: inner, run: 1, temp: map[string]*ir.Array{}}
	if !r.find() {
		r.run, r.reads, r.out.Aligned = 1, nil, nil
	}
	return r
}

// find finds what lies side by side; false if nothing does, or if floats that vary
// along the inner axis lie apart, of which threads beside each other had better read
// one each.
func (r *runs) find() bool {
	seen, apart := map[string]bool{}, false
	for _, e := range r.k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			read, ok := e.(*expr.Read)
			switch {
			case !ok || seen[expr.Key(read)] || r.k.Local(read.T):
			case r.contiguous(read):
				seen[expr.Key(read)] = true
				r.reads = append(r.reads, read)
				r.takes(read.T)
			default:
				apart = apart || isFloat(read.T.Type) && expr.Uses(read, r.inner)
			}
			return true
		})
	}
	if apart {
		return false
	}
	for _, s := range r.k.Stores {
		if r.storesRuns(s) {
			r.takes(s.T)
		}
	}
	for _, s := range r.k.Sums {
		r.takes(s.Let)
	}
	return r.run > 1
}

// takes notes that runs of t are read or written.
func (r *runs) takes(t *expr.Tensor) {
	r.run = max(r.run, accessBytes/int64(t.Type.Bytes()))
	if !slices.Contains(r.out.Aligned, t) {
		r.out.Aligned = append(r.out.Aligned, t)
	}
}

func isFloat(t expr.DType) bool { return t == expr.F32 || t == expr.F16 || t == expr.BF16 }

func (r *runs) contiguous(e *expr.Read) bool {
	return isFloat(e.T.Type) && e.T.Bounds == nil && lower.Contiguous(e, r.inner)
}

// varies reports whether e varies along one of the axes.
func varies(e expr.Expr, axes ...*expr.Axis) bool {
	return slices.ContainsFunc(axes, func(a *expr.Axis) bool { return expr.Uses(e, a) })
}

func (r *runs) storesRuns(s *plan.Store) bool {
	n := len(s.T.Axes)
	return isFloat(s.T.Type) && n > 0 && s.T.Axes[n-1] == r.inner
}

// array is the thread's array of the given name and length.
func (r *runs) array(name string, n int64) *ir.Array {
	if a := r.temp[name]; a != nil {
		return a
	}
	a := r.private(name, n)
	r.temp[name] = a
	return a
}

// runOf is where a run of e is.
func (r *runs) runOf(e *expr.Read) *ir.Array {
	return r.array(e.T.Name+"_run"+r.number(e), r.run)
}

// runOut is where a run of what a store computes is.
func (r *runs) runOut(s *plan.Store) *ir.Array { return r.array(s.T.Name+"_out", r.run) }

// number tells apart several reads of one tensor.
func (r *runs) number(e *expr.Read) string {
	n := 1
	for _, other := range r.reads[:slices.Index(r.reads, e)] {
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
func (r *runs) load(a *ir.Array, at ir.Expr, e *expr.Read, first ir.Expr) {
	r.Emit(&ir.LoadRun{A: a, At: at, X: r.place(e, first), N: r.run})
}

// place is where a run lies.
func (r *runs) place(e *expr.Read, first ir.Expr) *ir.Load {
	if r.flat {
		return &ir.Load{B: r.Buffer(e.T), Off: first}
	}
	return r.RunLoad(e, r.inner, first)
}

// elements runs body for each element of a run whose first is at the given position of
// the inner axis; v is its number in the run.
func (r *runs) elements(first ir.Expr, body func(v ir.Expr)) {
	r.unrolled("v", r.run, func(v ir.Expr) {
		r.Bind(r.inner, r.Name(axisName(r.inner), lower.AddI(first, v)))
		body(v)
	})
}

// computes gathers in arrays what the stores of a run compute for element v. Each
// sees the old value of an inout.
func (r *runs) computes(stores []*plan.Store, v ir.Expr) {
	for _, s := range stores {
		if r.storesRuns(s) {
			r.Emit(&ir.Put{A: r.runOut(s), I: v, X: r.Value(s.Expr)})
		}
	}
	var others []*plan.Store
	for _, s := range stores {
		if !r.storesRuns(s) {
			others = append(others, s)
		}
	}
	r.stores(others)
}

// writes stores the runs that computes has gathered, from position first of the inner
// axis on.
func (r *runs) writes(stores []*plan.Store, first ir.Expr) {
	for _, s := range stores {
		if r.storesRuns(s) {
			r.storeRun(s.T, first, r.runOut(s), lower.Int(0))
		}
	}
}

// storeRun writes a run of t from position first of the inner axis on.
func (r *runs) storeRun(t *expr.Tensor, first ir.Expr, a *ir.Array, at ir.Expr) {
	x := r.place(&expr.Read{Node: expr.Node{K: expr.Float}, T: t}, first)
	var store ir.Stmt = &ir.StoreRun{B: x.B, Off: x.Off, A: a, At: at, N: r.run}
	if r.k.Lazy(t) {
		store = &ir.If{C: r.Wanted(t), Then: []ir.Stmt{store}}
	}
	r.Emit(store)
}

// innerAt is the position along the inner axis at hand.
func (r *runs) innerAt() ir.Expr { return r.Position(r.inner) }

// multiple asks for an extent of whole runs.
func (r *runs) multiple(a *expr.Axis) {
	if !slices.ContainsFunc(r.out.Multiple, func(d Dim) bool { return d.Axes[0] == a }) {
		r.out.Multiple = append(r.out.Multiple, Dim{[]*expr.Axis{a}, r.run})
	}
}
