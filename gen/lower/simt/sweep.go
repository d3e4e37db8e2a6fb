package simt

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// span is a run of positions along the product of some axes, of which a thread
// takes first, first+step, …
type span struct {
	axes        []*expr.Axis
	from, to    ir.Expr
	first, step ir.Expr
}

// The numbers of terms after which a thread starts a new partial sum, shortest
// first. Partial sums bound the rounding error of long runs.
var (
	chunkRuns = []int64{32}
	colRuns   = []int64{32, 1024}
)

// sweep adds the thread's positions of s to accs.
func (l *lowering) sweep(accs []*acc, s span, runs []int64) {
	if len(runs) == 0 || !slices.ContainsFunc(accs, (*acc).isSum) {
		l.loop(posName(s.axes), lower.AddI(s.from, s.first), s.to, s.step, func(at ir.Expr) {
			l.bind(s.axes, at)
			for _, a := range accs {
				l.take(a, at)
			}
		})
		return
	}
	n := runs[len(runs)-1]
	length := times(s.step, n)
	if _, constant := length.(*ir.Lit); !constant {
		length = l.Name("run", length)
	}
	l.loop("block", s.from, s.to, length, func(block ir.Expr) {
		part := s
		part.from = block
		part.to = l.Name("end", lower.MinI(lower.AddI(block, length), s.to))
		l.blockwise(accs, func(accs []*acc) { l.sweep(accs, part, runs[:len(runs)-1]) })
	})
}

// blockwise runs body with fresh accumulators for the sums, and adds those to
// the ones given.
func (l *lowering) blockwise(accs []*acc, body func([]*acc)) {
	inner := slices.Clone(accs)
	for i, a := range accs {
		if a.isSum() {
			inner[i] = l.newAcc(a.stage, "_run")
			inner[i].met = a.met
		}
	}
	body(inner)
	for i, a := range accs {
		if inner[i] != a {
			l.Emit(&ir.Assign{V: a.v, X: bin(ir.Add, lower.RefTo(a.v), lower.RefTo(inner[i].v))})
		}
	}
}
