package simt

import (
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
)

// slot is where threads leave their part of an accumulator for the others.
type slot struct {
	from         *acc
	value, index *ir.Array
}

// newSlot makes shared arrays for n parts of a. Truth values are kept as ints:
// shared arrays of bool are broken on some devices.
func (l *lowering) newSlot(a *acc, n int64) slot {
	t := a.v.Type.Elem
	if t == ir.Bool {
		t = ir.I32
	}
	s := slot{from: a, value: l.shared(a.stage.Let.Name+"_parts", t, n)}
	if a.index != nil {
		s.index = l.shared(a.stage.Let.Name+"_parts_at", ir.I32, n)
	}
	return s
}

// put leaves the thread's part at position i.
func (l *lowering) put(s slot, i ir.Expr) {
	x := lower.RefTo(s.from.v)
	if s.from.v.Type.Elem == ir.Bool {
		x = &ir.Select{C: x, A: lit32(1), B: lit32(0)}
	}
	l.Emit(&ir.Put{A: s.value, I: i, X: x})
	if s.index != nil {
		l.Emit(&ir.Put{A: s.index, I: i, X: lower.RefTo(s.from.index)})
	}
}

// gather joins the parts at position i to accs, one for each slot.
func (l *lowering) gather(slots []slot, accs []*acc, i ir.Expr) {
	for k, s := range slots {
		var x ir.Expr = &ir.At{A: s.value, I: i}
		var at ir.Expr
		if s.from.v.Type.Elem == ir.Bool {
			x = bin(ir.Ne, x, lit32(0))
		}
		if s.index != nil {
			at = l.Name(s.from.stage.Let.Name+"_value_at", &ir.At{A: s.index, I: i})
		}
		l.add(accs[k], x, at)
	}
}
