package expr

import (
	"math"

	"github.com/kernelgen/kgen/gen/diag"
)

// convert converts x to kind where the language does so by itself: an int
// becomes a float, an int literal any number.
func (e *env) convert(x Expr, kind Kind) Expr {
	switch {
	case x == nil || x.Kind() == kind:
		return x
	case x.Kind() == Int && kind == Float:
		return e.toFloat(x)
	case isLiteral(x) && (kind == Uint || kind == Uint64):
		return e.toUint(x.(*Const), kind)
	}
	return e.failHint(x.Pos(), castHint(x.Kind(), kind), "%s stands where %s is wanted", aKind(x.Kind()), aKind(kind))
}

func castHint(from, to Kind) string {
	switch {
	case from == Float && to == Int:
		return "i32(x) truncates"
	case to == Uint && from == Int:
		return "u32(x) converts"
	case to == Float && from != Bool:
		return "f32(x) converts"
	case to == Uint64 && from != Bool && from != Float:
		return "u64(x) converts"
	case from == Bool:
		return "where(c, 1, 0) gives a number"
	case to == Bool:
		return "x != 0 gives a bool"
	}
	return ""
}

func isLiteral(x Expr) bool {
	c, ok := x.(*Const)
	return ok && c.K == Int
}

func (e *env) toFloat(x Expr) Expr {
	if c, ok := x.(*Const); ok {
		f := float64(c.I)
		if int64(f) != c.I || float64(float32(f)) != f {
			return e.failHint(c.At, "write it with a point to round it", "%d is not exact in f32, which holds 24 bits", c.I)
		}
		return &Const{Node: Node{Float, c.At}, F: f}
	}
	if d := intDivision(x); d != nil {
		return e.failHint(d.At, "f32(a)/b divides floats, f32(a/b) rounds down on purpose",
			"the quotient of two ints is rounded down before it becomes a float")
	}
	return &Convert{Node: Node{Float, x.Pos()}, X: x}
}

// intDivision finds a division of ints whose value x is computed from.
func intDivision(x Expr) *Binary {
	switch x := x.(type) {
	case *Binary:
		if x.Op == Div && x.K == Int {
			return x
		}
		if d := intDivision(x.X); d != nil {
			return d
		}
		return intDivision(x.Y)
	case *Unary:
		return intDivision(x.X)
	case *Where:
		if d := intDivision(x.A); d != nil {
			return d
		}
		return intDivision(x.B)
	}
	return nil
}

func (e *env) toUint(c *Const, kind Kind) Expr {
	if c.I < 0 || kind == Uint && c.I > math.MaxUint32 {
		return e.fail(c.At, "%d is no %s", c.I, kind)
	}
	return &Const{Node: Node{kind, c.At}, U: uint64(c.I)}
}

// unify gives two operands one kind.
func (e *env) unify(at diag.Pos, what string, x, y Expr) (Expr, Expr) {
	kx, ky := x.Kind(), y.Kind()
	switch {
	case kx == ky:
		return x, y
	case isLiteral(x) && ky != Bool || kx == Int && ky == Float:
		return e.convert(x, ky), y
	case isLiteral(y) && kx != Bool || ky == Int && kx == Float:
		return x, e.convert(y, kx)
	}
	return e.failHint(at, castHint(ky, kx), "%s has %s on one side and %s on the other", what, aKind(kx), aKind(ky)), nil
}

// cast checks a conversion that is written as a call of a type.
func (e *env) cast(a *astCall, to Kind, round DType) Expr {
	if len(a.args) != 1 {
		return e.fail(a.at, "%s has one operand, not %d", a.name, len(a.args))
	}
	x := e.check(a.args[0])
	if x == nil {
		return nil
	}
	from := x.Kind()
	if from == Bool {
		x = boolToInt(a.at, x)
		from = Int
	}
	if c, ok := x.(*Const); ok && c.K == Int && (to == Uint || to == Uint64) {
		return e.toUint(c, to)
	}
	switch {
	case from == Float && (to == Uint || to == Uint64):
		return e.failHint(a.at, a.name+"(i32(x))", "%s does not take a float", a.name)
	case from == to && round == InvalidDType:
		return x
	}
	return &Convert{Node: Node{to, a.at}, X: x, Round: round}
}

// boolToInt returns 1 or 0.
func boolToInt(at diag.Pos, c Expr) Expr {
	if v, ok := constBool(c); ok {
		if v {
			return intConst(at, 1)
		}
		return intConst(at, 0)
	}
	return &Where{Node{Int, at}, c, intConst(at, 1), intConst(at, 0)}
}

func intConst(at diag.Pos, n int64) *Const { return &Const{Node: Node{Int, at}, I: n} }
