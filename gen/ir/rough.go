package ir

import "github.com/kernelgen/kgen/gen/expr"

// Relax finds what only results of 16 bits depend on, which have no use for the last
// bits of a float (SIMT): there functions and quotients may be rough, and a product and
// the sum it goes into are one operation. Conditions, positions and what is kept in 32
// bits stay exact, and so does all that those read.
func (f *Func) Relax() {
	x := &exactness{vars: map[*Var]bool{}, arrays: map[*Array]bool{}}
	for n := -1; n < len(x.vars)+len(x.arrays); {
		n = len(x.vars) + len(x.arrays)
		WalkStmts(f.Body, x.statement)
	}
	WalkStmts(f.Body, x.relax)
}

// exactness is what is known to count to the last bit.
type exactness struct {
	vars   map[*Var]bool
	arrays map[*Array]bool
}

// narrow reports whether a buffer rounds to 16 bits.
func narrow(b *Buffer) bool { return b.Type == expr.F16 || b.Type == expr.BF16 }

// value returns the expression of s that counts only as much as what it goes to, and
// whether it counts to the last bit; nil if there is none.
func (x *exactness) value(s Stmt) (v *Expr, exact bool) {
	switch s := s.(type) {
	case *Decl:
		return &s.X, x.vars[s.V]
	case *Assign:
		return &s.X, x.vars[s.V]
	case *Put:
		return &s.X, x.arrays[s.A]
	case *Store:
		return &s.X, !narrow(s.B)
	}
	return nil, true
}

// statement notes what s needs exactly.
func (x *exactness) statement(s Stmt) {
	v, exact := x.value(s)
	for _, e := range Exprs(s) {
		x.note(e, exact || v == nil || e != *v)
	}
	switch s := s.(type) {
	case *StoreRun:
		if !narrow(s.B) {
			x.arrays[s.A] = true
		}
	case *Spread:
		if x.arrays[s.To] {
			x.arrays[s.A] = true
		}
	case *MatrixLoad:
		x.arrays[s.A] = true
	}
}

// note notes what e needs exactly where e counts to the last bit, and what it needs so
// in any case.
func (x *exactness) note(e Expr, exact bool) {
	switch e := e.(type) {
	case *Ref:
		if exact {
			x.vars[e.V] = true
		}
	case *At:
		if exact {
			x.arrays[e.A] = true
		}
		x.note(e.I, true)
		return
	case *Select:
		x.note(e.C, true)
		x.note(e.A, exact)
		x.note(e.B, exact)
		return
	case *Bin, *Un, *Call, *Conv, *Horizontal, *Shuffle:
		if e.Type().Elem != F32 {
			exact = true // a comparison, or an integer
		}
	default:
		exact = true
	}
	for _, o := range Operands(e) {
		x.note(o, exact)
	}
}

// relax rewrites the value of s where its last bits do not count.
func (x *exactness) relax(s Stmt) {
	if v, exact := x.value(s); !exact && *v != nil {
		*v = relaxed(*v)
	}
}

// relaxed returns e without what its last bits cost.
func relaxed(e Expr) Expr {
	if e.Type().Elem != F32 {
		return e
	}
	switch e := e.(type) {
	case *Un:
		return &Un{Op: e.Op, X: relaxed(e.X)}
	case *Bin:
		return contracted(&Bin{Op: e.Op, X: relaxed(e.X), Y: relaxed(e.Y), Rough: true})
	case *Select:
		return &Select{C: e.C, A: relaxed(e.A), B: relaxed(e.B)}
	case *Call:
		c := *e
		c.Rough, c.Args = true, make([]Expr, len(e.Args))
		for i, a := range e.Args {
			c.Args[i] = relaxed(a)
		}
		return &c
	case *Conv:
		c := *e
		c.X = relaxed(e.X)
		return &c
	case *Horizontal:
		return &Horizontal{Fold: e.Fold, X: relaxed(e.X)}
	}
	return e
}

// contracted returns a sum or difference with a product as one operation.
func contracted(e *Bin) Expr {
	product := func(e Expr) *Bin {
		if b, ok := e.(*Bin); ok && b.Op == Mul {
			return b
		}
		return nil
	}
	fma := func(p *Bin, x, sum Expr) Expr {
		return &Call{Fn: expr.FnFMA, Args: []Expr{x, p.Y, sum}, T: e.Type()}
	}
	x, y := product(e.X), product(e.Y)
	switch {
	case e.Op == Add && x != nil:
		return fma(x, x.X, e.Y)
	case e.Op == Add && y != nil:
		return fma(y, y.X, e.X)
	case e.Op == Sub && y != nil:
		return fma(y, &Un{Op: Neg, X: y.X}, e.X)
	case e.Op == Sub && x != nil:
		return fma(x, x.X, &Un{Op: Neg, X: e.Y})
	}
	return e
}
