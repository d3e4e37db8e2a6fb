package simt

import (
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// mapThreads is the number of threads in a group of a map.
const mapThreads = 256

// mapKernel computes each element of the outputs on its own: a thread for each.
// The index is flattened, so that an innermost axis of any extent, one included,
// fills the groups.
func (l *lowering) mapKernel() {
	axes := l.k.Par
	l.out.Func.Threads = mapThreads
	if len(axes) == 0 {
		l.when(bin(ir.Eq, &ir.Here{ID: ir.Thread}, lower.Int(0)), func() { l.stores(l.k.Stores) })
		return
	}
	l.out.Grid = []Dim{{axes, mapThreads}}
	n := l.extent("n", axes)
	at := l.Name(posName(axes), lower.AddI(times(&ir.Here{ID: ir.GroupX}, mapThreads), &ir.Here{ID: ir.Thread}))
	l.when(less(at, n), func() {
		l.bind(axes, at)
		l.stores(l.k.Stores)
	})
}
