package gpu

import "github.com/kernelgen/kgen/gen/ir"

// Ints that are data, read from memory or made of floats, may be as large as an
// int is, and arithmetic on them may leave its range. What it gives then is
// nobody's promise, but an int that overflows is undefined in C++: such arithmetic
// wraps. That on indices, and on data whose bounds the kernel checks, is in range
// and stays as it reads best.

// wrapping are the helpers for operators of ints that wrap.
var wrapping = map[ir.Op]string{ir.Add: "kg_wrap_add", ir.Sub: "kg_wrap_sub", ir.Mul: "kg_wrap_mul", ir.Neg: "kg_wrap_neg"}

// intData says which ints of a kernel are data.
type intData struct {
	vars    map[*ir.Var]bool
	checked map[*ir.Buffer]bool // the kernel checks their bounds
}

func newIntData(body []ir.Stmt) *intData {
	d := &intData{map[*ir.Var]bool{}, map[*ir.Buffer]bool{}}
	ir.WalkStmts(body, func(s ir.Stmt) {
		if f, ok := s.(*ir.Fault); ok {
			d.checked[f.B] = true
		}
	})
	for again := true; again; {
		again = false
		note := func(v *ir.Var, x ir.Expr) {
			if !d.vars[v] && x != nil && d.has(x) {
				d.vars[v], again = true, true
			}
		}
		ir.WalkStmts(body, func(s ir.Stmt) {
			switch s := s.(type) {
			case *ir.Decl:
				note(s.V, s.X)
			case *ir.Assign:
				note(s.V, s.X)
			}
		})
	}
	return d
}

// has reports whether an int is data, or made of some.
func (d *intData) has(e ir.Expr) bool {
	if t := e.Type().Elem; t != ir.I32 && t != ir.I64 {
		return false
	}
	switch e := e.(type) {
	case *ir.Ref:
		return d.vars[e.V]
	case *ir.Load:
		return !d.checked[e.B]
	case *ir.At:
		return true
	case *ir.Conv:
		return e.X.Type().Elem == ir.F32 || d.has(e.X)
	}
	for _, x := range ir.Operands(e) {
		if d.has(x) {
			return true
		}
	}
	return false
}
