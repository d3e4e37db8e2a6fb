package simt

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

const (
	mapThreads = 256 // in a group of a map
	mapBytes   = 32  // of a result that a thread computes
)

// mapKernel computes each element of the outputs on its own. The index is flattened, so
// that an innermost axis of any extent, one included, fills the groups. A thread has 32
// bytes of a result. So that all of its loads can be under way at a time, a group asks
// once whether it has all of its elements.
func (l *lowering) mapKernel(wide bool) {
	axes := l.k.Par
	l.out.Func.Threads = mapThreads
	if len(axes) == 0 {
		l.when(bin(ir.Eq, &ir.Here{ID: ir.Thread}, lower.Int(0)), func() { l.stores(l.k.Stores) })
		return
	}
	r := l.newRuns(wide, axes[len(axes)-1])
	r.flat = r.isFlat()
	own := int64(mapBytes / max(l.k.Stores[0].T.Type.Bytes(), 2))
	tile := mapThreads * own
	l.out.Grid = []Dim{{axes, tile}}
	n := l.extent("n", axes)
	from := l.Name("from", times(&ir.Here{ID: ir.GroupX}, tile))
	thread := l.here(ir.Thread, "thread")
	s := &ir.If{C: bin(ir.Le, lower.AddI(from, lower.Int(tile)), n)}
	l.Guarded(&s.Then, func() { r.mapTile(own, from, thread) })
	l.Guarded(&s.Else, func() {
		l.loop(posName(axes), lower.AddI(from, thread), n, lower.Int(mapThreads), r.mapElement)
	})
	l.Emit(s)
}

// mapTile computes the thread's part of a tile that is there as a whole: its elements
// are as far apart as there are threads, so that neighbours touch what lies side by
// side, and in the wide form its runs are.
func (r *runs) mapTile(own int64, from, thread ir.Expr) {
	name := posName(r.k.Par)
	run := int64(1)
	if r.wide {
		run = r.run
	}
	r.unrolled("i", own/run, func(i ir.Expr) {
		at := times(lower.AddI(lower.MulI(i, lower.Int(mapThreads)), thread), run)
		at = r.Name(name, lower.AddI(from, at))
		if r.wide {
			r.mapRun(at)
		} else {
			r.mapElement(at)
		}
	})
}

func (r *runs) mapElement(at ir.Expr) {
	r.bind(r.k.Par, at)
	r.stores(r.k.Stores)
}

// mapRun computes the run whose first element is at a flat position.
func (r *runs) mapRun(at ir.Expr) {
	first := at
	if r.flat { // no value depends on where along which axis it lies
		for _, a := range r.k.Par {
			r.Bind(a, lower.Int(0))
		}
	} else {
		r.bind(r.k.Par, at)
		first = r.innerAt()
		r.multiple(r.inner)
	}
	for _, e := range r.reads {
		r.load(r.runOf(e), lower.Int(0), e, first)
	}
	r.elements(first, func(v ir.Expr) {
		for _, e := range r.reads {
			r.Known(e, &ir.At{A: r.runOf(e), I: v})
		}
		r.computes(r.k.Stores, v)
	})
	r.writes(r.k.Stores, first)
}

// isFlat reports whether every tensor of a map lies as the flattened index goes and
// nothing else depends on positions, so that runs need not keep to the inner axis.
func (r *runs) isFlat() bool {
	axes := r.k.Par
	flat := true
	for _, s := range r.k.Stores {
		flat = flat && r.storesRuns(s) && slices.Equal(s.T.Axes, axes)
		expr.Walk(s.Expr, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Read:
				flat = flat && (len(e.T.Axes) == 0 || r.contiguous(e) && e.Idx == nil && slices.Equal(e.T.Axes, axes))
			case *expr.Index, *expr.Flat:
				flat = false
			}
			return true
		})
	}
	return flat
}
