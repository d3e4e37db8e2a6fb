package simt

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// A group of a scatter owns this many rows and columns of the result; a thread
// has a column.
const (
	scatterRows = 256
	scatterCols = 64
)

// scatter lowers a sum over places named by an id: a thread clears its part of
// the result, then goes over all positions in order and adds what falls there.
func (l *lowering) scatter() {
	s := l.k.Place
	inner := s.Acc.Axes[1:]
	l.out.Func.Threads = scatterCols
	l.out.Grid = []Dim{{[]*expr.Axis{s.Axis}, scatterRows}, {inner, scatterCols}}
	from := l.Name("from", times(&ir.Here{ID: ir.GroupX}, scatterRows))
	to := l.Name("to", lower.MinI(lower.AddI(from, lower.Int(scatterRows)), l.Size(s.Axis)))
	n := l.extent("n", inner)
	col := l.Name(posName(inner), lower.AddI(times(&ir.Here{ID: ir.GroupY}, scatterCols), &ir.Here{ID: ir.Thread}))
	l.when(less(col, n), func() {
		l.bind(inner, col)
		l.loop(axisName(s.Axis), from, to, lower.Int(1), func(v ir.Expr) {
			l.Bind(s.Axis, v)
			l.Store(s.Acc, &ir.Lit{T: ir.Scalar(ir.F32)})
		})
		red := l.k.Red
		l.loop(posName(red), lower.Int(0), l.extent("positions", red), lower.Int(1), func(at ir.Expr) {
			l.bind(red, at)
			l.place(s.ID, from, to)
		})
	})
}

// place adds the value at the current position where its id is one of the
// group's rows.
func (l *lowering) place(e expr.Expr, from, to ir.Expr) {
	s := l.k.Place
	id := l.Name("id", l.Value(e))
	ok := and(bin(ir.Ge, id, from), less(id, to))
	if s.Cond != nil {
		ok = and(ok, l.Value(s.Cond))
	}
	l.when(ok, func() {
		l.Bind(s.Axis, id)
		old := l.Value(&expr.Read{Node: expr.Node{K: expr.Float}, T: s.Acc})
		l.Store(s.Acc, bin(ir.Add, old, l.Value(s.Value)))
	})
}
