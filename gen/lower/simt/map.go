package simt

import (
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

const (
	mapThreads = 256 // in a group of a map
	mapBytes   = 32  // of a result that a thread computes
)

// mapKernel computes each element of the outputs on its own. The index is flattened, so
// that an innermost axis of any extent, one included, fills the groups. A thread has a
// few elements, as far apart as there are threads: neighbours touch what lies side by
// side, and the loads of all of a thread's elements are under way at a time. So that
// they can be, a group asks once whether it has all of its elements.
func (l *lowering) mapKernel() {
	axes := l.k.Par
	l.out.Func.Threads = mapThreads
	if len(axes) == 0 {
		l.when(bin(ir.Eq, &ir.Here{ID: ir.Thread}, lower.Int(0)), func() { l.stores(l.k.Stores) })
		return
	}
	own := int64(mapBytes / max(l.k.Stores[0].T.Type.Bytes(), 2))
	tile := mapThreads * own
	l.out.Grid = []Dim{{axes, tile}}
	n := l.extent("n", axes)
	from := l.Name("from", times(&ir.Here{ID: ir.GroupX}, tile))
	first := l.Name("first", lower.AddI(from, &ir.Here{ID: ir.Thread}))
	each := func(element func(at ir.Expr)) func() {
		return func() {
			l.unrolled("i", own, func(i ir.Expr) {
				element(l.Name(posName(axes), lower.AddI(first, lower.MulI(i, lower.Int(mapThreads)))))
			})
		}
	}
	compute := func(at ir.Expr) {
		l.bind(axes, at)
		l.stores(l.k.Stores)
	}
	s := &ir.If{C: bin(ir.Le, lower.AddI(from, lower.Int(tile)), n)}
	l.Guarded(&s.Then, each(compute))
	l.Guarded(&s.Else, each(func(at ir.Expr) {
		l.when(less(at, n), func() { compute(at) })
	}))
	l.Emit(s)
}
