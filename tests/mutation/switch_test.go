package mutation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/ir"
)

// kind is what a mutant leaves out.
type kind string

// The kinds. A guard bounds the offset of an access that it stands before; a condition
// does not.
const (
	barrier   kind = "barrier"
	guard     kind = "bounds guard"
	clamp     kind = "clamp"
	loopEnd   kind = "loop end"
	condition kind = "condition"
)

// left is what one mutant of a kernel leaves out.
type left struct {
	number int64
	kind   kind
	text   string
}

// switched is a kernel that holds all of its mutants: the last field of its parameter
// block is the number of the one that runs, and none is in force for numbers below 0.
type switched struct {
	f       *ir.Func
	field   *ir.Field
	mutants []left

	defs  map[*ir.Var]ir.Expr // of variables that are assigned once
	loops map[*ir.Var]bool
	done  map[ir.Expr]bool // what has been changed, since expressions are shared
}

// newSwitched changes f, whose parameter block takes blockBytes.
func newSwitched(f *ir.Func, blockBytes int) *switched {
	s := &switched{f: f, defs: map[*ir.Var]ir.Expr{}, loops: map[*ir.Var]bool{}, done: map[ir.Expr]bool{}}
	ir.WalkStmts(f.Body, func(x ir.Stmt) {
		switch x := x.(type) {
		case *ir.Decl:
			if !x.V.Mut {
				s.defs[x.V] = x.X
			}
		case *ir.For:
			s.loops[x.V] = true
		}
	})
	s.field = &ir.Field{Name: "mutant", Type: ir.I64, Offset: blockBytes}
	s.body(f.Body)
	f.Fields = slices.Clone(f.Fields) // forms share them
	if end := endOf(f.Fields); end < blockBytes {
		f.Fields = append(f.Fields, &ir.Field{Name: "filler", Type: ir.I32, Offset: end})
	}
	f.Fields = append(f.Fields, s.field)
	return s
}

// endOf is where the last field ends.
func endOf(fields []*ir.Field) int {
	if len(fields) == 0 {
		return 0
	}
	last := fields[len(fields)-1]
	if last.Type == ir.I64 || last.Type == ir.U64 {
		return last.Offset + 8
	}
	return last.Offset + 4
}

// is is true in the mutant that leaves out what text says.
func (s *switched) is(k kind, text string) ir.Expr {
	n := int64(len(s.mutants))
	s.mutants = append(s.mutants, left{n, k, text})
	return &ir.Bin{Op: ir.Eq, X: &ir.Get{F: s.field}, Y: &ir.Lit{T: ir.Scalar(ir.I64), I: n}}
}

func (s *switched) body(list []ir.Stmt) {
	for i, x := range list {
		for _, e := range ir.Exprs(x) {
			s.expr(e)
		}
		switch x := x.(type) {
		case *ir.Barrier:
			here := &ir.Un{Op: ir.Not, X: s.is(barrier, "barrier")}
			list[i] = &ir.If{C: here, Then: []ir.Stmt{x}}
		case *ir.If:
			s.ifStmt(x)
		case *ir.For:
			s.body(x.Body)
			s.forStmt(x)
		}
	}
}

func (s *switched) ifStmt(x *ir.If) {
	accesses := accessesOf(x.Then, s)
	x.C = s.conjuncts(x.C, accesses)
	s.body(x.Then)
	s.body(x.Else)
}

// conjuncts makes each part of a conjunction true in a mutant of its own.
func (s *switched) conjuncts(c ir.Expr, accesses []bases) ir.Expr {
	if b, ok := c.(*ir.Bin); ok && b.Op == ir.And {
		return &ir.Bin{Op: ir.And, X: s.conjuncts(b.X, accesses), Y: s.conjuncts(b.Y, accesses)}
	}
	k := condition
	if s.bounds(c, accesses) {
		k = guard
	}
	return &ir.Bin{Op: ir.Or, X: s.is(k, textOf(c)), Y: c}
}

// bounds reports whether c compares integers on which the offset of an access depends.
func (s *switched) bounds(c ir.Expr, accesses []bases) bool {
	if r, ok := c.(*ir.Ref); ok && s.defs[r.V] != nil {
		return s.bounds(s.defs[r.V], accesses)
	}
	b, ok := c.(*ir.Bin)
	if ok && (b.Op == ir.And || b.Op == ir.Or) {
		return s.bounds(b.X, accesses) || s.bounds(b.Y, accesses)
	}
	if !ok || b.Op < ir.Lt || b.Op > ir.Ge || b.X.Type().Elem == ir.F32 {
		return false
	}
	of := s.basesOf(c)
	if len(of) == 0 || s.notFirst(b) {
		return false
	}
	for _, a := range accesses {
		if of.within(a) {
			return true
		}
	}
	return false
}

// notFirst reports whether c is false in the first turn of a loop only, which bounds
// nothing.
func (s *switched) notFirst(c *ir.Bin) bool {
	r, ok := c.X.(*ir.Ref)
	_, constant := c.Y.(*ir.Lit)
	return ok && s.loops[r.V] && constant && (c.Op == ir.Gt || c.Op == ir.Ge)
}

// forStmt gives a loop one turn more in a mutant, where nothing inside of it bounds what
// the loop accesses.
func (s *switched) forStmt(x *ir.For) {
	if _, constant := x.To.(*ir.Lit); constant || !s.loose(x.Body, x.V) {
		return
	}
	text := fmt.Sprintf("%s < %s", x.V.Name, textOf(x.To))
	more := &ir.Bin{Op: ir.Add, X: x.To, Y: x.Step}
	x.To = &ir.Select{C: s.is(loopEnd, text), A: more, B: x.To}
}

// loose reports whether body has an access whose offset depends on v and which no
// condition inside of body that depends on v stands before.
func (s *switched) loose(body []ir.Stmt, v *ir.Var) bool {
	for _, x := range body {
		for _, a := range directAccesses(x, s) {
			if a[v] {
				return true
			}
		}
		if c, ok := x.(*ir.If); ok && s.basesOf(c.C)[v] {
			if s.loose(c.Else, v) {
				return true
			}
			continue
		}
		for _, b := range ir.Blocks(x) {
			if s.loose(*b, v) {
				return true
			}
		}
	}
	return false
}

// expr changes the conditional loads, the choices of loads and the clamps of e.
func (s *switched) expr(e ir.Expr) {
	ir.WalkExpr(e, func(e ir.Expr) {
		if s.done[e] {
			return
		}
		s.done[e] = true
		switch e := e.(type) {
		case *ir.Load:
			if e.If != nil {
				e.If = s.conjuncts(e.If, []bases{s.offset(e)})
			}
		case *ir.Select:
			c, ok := e.C.(*ir.Bin)
			if ok && c.Op == ir.Lt && c.X == e.A && c.Y == e.B && isIndex(e.A) && len(s.basesOf(e.A)) > 0 {
				e.C = &ir.Bin{Op: ir.Or, X: s.is(clamp, textOf(e)), Y: c}
				return
			}
			s.choice(e)
		}
	})
}

// choice takes each side of e in a mutant where its condition, which bounds what that side
// loads, is for the other one.
func (s *switched) choice(e *ir.Select) {
	c := e.C
	if a := s.loads(e.A); s.bounds(c, a) {
		e.C = s.conjuncts(c, a)
	}
	if s.bounds(c, s.loads(e.B)) {
		e.C = &ir.Bin{Op: ir.And, X: &ir.Un{Op: ir.Not, X: s.is(guard, "not "+textOf(c))}, Y: e.C}
	}
}

func isIndex(e ir.Expr) bool { return e.Type().Elem == ir.I32 || e.Type().Elem == ir.I64 }

// bases are what a value is made of beside constants and extents: loop variables,
// variables that change, positions and loads.
type bases map[any]bool

func (b bases) within(other bases) bool {
	for x := range b {
		if !other[x] {
			return false
		}
	}
	return true
}

func (s *switched) basesOf(es ...ir.Expr) bases {
	b := bases{}
	for _, e := range es {
		s.addBases(b, e)
	}
	return b
}

func (s *switched) addBases(b bases, e ir.Expr) {
	if e == nil {
		return
	}
	switch e := e.(type) {
	case *ir.Ref:
		if def := s.defs[e.V]; def != nil {
			s.addBases(b, def)
		} else {
			b[e.V] = true
		}
		return
	case *ir.Here:
		b[e.ID] = true
		return
	case *ir.Load:
		b[e.B] = true
		return
	case *ir.At:
		b[e.A] = true
	}
	for _, x := range ir.Operands(e) {
		s.addBases(b, x)
	}
}

func (s *switched) offset(l *ir.Load) bases { return s.basesOf(l.Off, l.At) }

// accessesOf are the bases of the offsets of all accesses in body.
func accessesOf(body []ir.Stmt, s *switched) []bases {
	var list []bases
	ir.WalkStmts(body, func(x ir.Stmt) { list = append(list, directAccesses(x, s)...) })
	return list
}

// directAccesses are those of a statement but not of the statements in it. Loads that
// bear a condition of their own count where that is the caller's.
func directAccesses(x ir.Stmt, s *switched) []bases {
	var list []bases
	switch x := x.(type) {
	case *ir.Store:
		list = append(list, s.basesOf(x.Off))
	case *ir.StoreRun:
		list = append(list, s.basesOf(x.Off))
	case *ir.Put:
		if !x.A.Private {
			list = append(list, s.basesOf(x.I))
		}
	case *ir.Fetch:
		list = append(list, s.basesOf(x.Off))
	case *ir.Spread:
		list = append(list, s.basesOf(x.I, x.At))
	case *ir.MatrixLoad:
		list = append(list, s.basesOf(x.At))
	}
	for _, e := range ir.Exprs(x) {
		list = append(list, s.loads(e)...)
	}
	return list
}

// loads are the accesses in e.
func (s *switched) loads(e ir.Expr) []bases {
	var list []bases
	ir.WalkExpr(e, func(e ir.Expr) {
		switch e := e.(type) {
		case *ir.Load:
			if e.If == nil {
				list = append(list, s.offset(e))
			}
		case *ir.At:
			if !e.A.Private {
				list = append(list, s.basesOf(e.I))
			}
		}
	})
	return list
}

// textOf is the text of an expression.
func textOf(e ir.Expr) string {
	for line := range strings.SplitSeq(ir.Format(&ir.Func{Body: []ir.Stmt{&ir.If{C: e}}}), "\n") {
		if c, ok := strings.CutPrefix(strings.TrimSpace(line), "if "); ok {
			return strings.TrimSuffix(c, " {")
		}
	}
	return ""
}
