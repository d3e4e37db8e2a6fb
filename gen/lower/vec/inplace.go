package vec

import (
	"reflect"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/plan"
)

// inPlace notes which results may be computed in the memory of an operand: one of
// the same axes and type, each element of which is loaded for the last time before
// the element of the result that lies there is stored.
//
// The proof rests on two facts about the shapes below: an element of a result is
// stored once, and an item loads no elements of the operand but those at whose place
// it stores.
func (l *lowering) inPlace() {
	reads, writes := l.k.Reads(), l.k.Writes()
	for _, s := range l.k.Stores {
		if slices.Contains(reads, s.T) || !l.perElement(s.T) {
			continue
		}
		to := l.Buffer(s.T)
		for _, t := range reads {
			same := t.Type == s.T.Type && slices.Equal(t.Axes, s.T.Axes) && t.Bounds == nil
			if same && !slices.Contains(writes, t) && l.readsOwn(t) && l.inTurn(l.Buffer(t), to) {
				to.InPlace = append(to.InPlace, l.Buffer(t).Slot)
			}
		}
	}
}

// perElement reports whether the kernel stores each element of t on its own.
func (l *lowering) perElement(t *expr.Tensor) bool {
	switch l.k.Shape {
	case plan.Map, plan.Contract:
		return true
	case plan.Rows:
		return len(t.Axes) > len(l.k.Par)
	}
	return false
}

// readsOwn reports whether an item reads t only at the positions that it computes:
// in its own row where that is what an item is, else at the very position.
func (l *lowering) readsOwn(t *expr.Tensor) bool {
	fixed := t.Axes
	if l.k.Shape == plan.Rows && len(l.k.Stages) > 0 {
		fixed = l.k.Par
	}
	own := true
	for _, e := range l.k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			if r, ok := e.(*expr.Read); ok && r.T == t && r.Idx != nil {
				for i, a := range fixed {
					ix, ok := r.Idx[i].(*expr.Index)
					own = own && ok && ix.A == a
				}
			}
			return own
		})
	}
	return own
}

// inTurn reports whether the function loads each element of from before it stores
// the element of to that lies there.
func (l *lowering) inTurn(from, to *ir.Buffer) bool {
	t := turns{from: from, to: to, ok: true}
	owners := 1 // the loop over the items
	if l.k.Chunk != nil {
		owners++ // that over the rows of an item
	}
	early, stores := t.list(l.Func.Body, owners)
	return t.ok && (!early || !stores || l.k.Shape == plan.Rows)
}

// turns checks the order of loads and stores. A load is in turn if the very element
// is stored after it by the same list of statements; others are early, and must come
// before the first store of their row.
type turns struct {
	from, to *ir.Buffer
	ok       bool
}

// list goes over statements and reports whether there are early loads and stores
// among them. The outermost loops, as many as owners, have a row of their own in
// each iteration.
func (t *turns) list(body []ir.Stmt, owners int) (early, stores bool) {
	for i, s := range body {
		loads := t.loadsEarly(s, body[i:])
		store := t.stores(s)
		inner := owners
		_, loop := s.(*ir.For)
		if loop {
			inner--
		}
		for _, b := range ir.Blocks(s) {
			e, st := t.list(*b, inner)
			loads, store = loads || e, store || st
		}
		if loads && (stores || loop && store && inner < 0) {
			t.ok = false
		}
		early, stores = early || loads, stores || store
	}
	return early, stores
}

// loadsEarly reports whether s itself, the first of rest, loads an element that rest
// does not store.
func (t *turns) loadsEarly(s ir.Stmt, rest []ir.Stmt) bool {
	m, ok := s.(*ir.Move)
	early := ok && m.Src == t.from && m.B != t.to
	for _, e := range ir.Exprs(s) {
		ir.WalkExpr(e, func(e ir.Expr) {
			load, ok := e.(*ir.Load)
			if ok && load.B == t.from && !slices.ContainsFunc(rest, func(s ir.Stmt) bool { return t.storesWhat(s, load) }) {
				early = true
			}
		})
	}
	return early
}

// storesWhat reports whether s stores the elements that load reads. Variables have
// names of their own in a function, so equal expressions are equal values.
func (t *turns) storesWhat(s ir.Stmt, load *ir.Load) bool {
	st, ok := s.(*ir.Store)
	return ok && st.B == t.to && st.X.Type().Vec == load.Vec && reflect.DeepEqual(st.Off, load.Off) && reflect.DeepEqual(st.N, load.N) &&
		st.Stride == nil && load.Stride == nil && load.At == nil
}

// stores reports whether s itself stores elements of to. An element that is moved onto
// itself stays as it is; what else is done to whole blocks is in no known order.
func (t *turns) stores(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Store:
		return s.B == t.to
	case *ir.Move:
		onto := s.Src == t.from && reflect.DeepEqual(s.Off, s.From) && reflect.DeepEqual(s.LD, s.RowStep) && reflect.DeepEqual(s.ColStep, lower.Int(1))
		t.ok = t.ok && (s.B != t.to || onto)
	case *ir.Repeat:
		t.ok = t.ok && s.B != t.to
	case *ir.PackBlock:
		t.ok = t.ok && s.B != t.from
	case *ir.MultiplyPlain:
		t.ok = t.ok && s.B != t.from
	}
	return false
}
