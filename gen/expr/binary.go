package expr

import (
	"go/token"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

var binaryOps = map[token.Token]BinaryOp{
	token.ADD: Add, token.SUB: Sub, token.MUL: Mul, token.QUO: Div, token.REM: Rem,
	token.LSS: Lt, token.LEQ: Le, token.GTR: Gt, token.GEQ: Ge, token.EQL: Eq, token.NEQ: Ne,
	token.LAND: LogicAnd, token.LOR: LogicOr,
	token.AND: And, token.OR: Or, token.XOR: Xor, token.SHL: Shl, token.SHR: Shr,
}

func (e *env) binary(a *astBinary) Expr {
	op := binaryOps[a.op]
	switch {
	case op == LogicAnd || op == LogicOr:
		return e.logic(a, op)
	case op == Eq || op == Ne:
		if x, done := e.compareStatic(a, op); done {
			return x
		}
	}
	x, y := e.check(a.x), e.check(a.y)
	if x == nil || y == nil {
		return nil
	}
	if op >= Lt && op <= Ge && x.Kind() == Bool {
		return e.failHint(a.at, "a < b && b < c", "%s has a bool on one side", a.op)
	}
	x, y = e.unify(a.at, a.op.String(), x, y)
	if x == nil || y == nil {
		return nil
	}
	return e.operate(a, op, x, y)
}

// operate applies op to operands of one kind.
func (e *env) operate(a *astBinary, op BinaryOp, x, y Expr) Expr {
	k := x.Kind()
	switch {
	case op >= Lt && op <= Ne:
		if k == Bool {
			return e.compareBool(a, op, x, y)
		}
		return &Binary{Node{Bool, a.at}, op, x, y}
	case k == Bool:
		return e.fail(a.at, "%s has no meaning for bools", a.op)
	case op >= And && k == Float:
		return e.fail(a.at, "%s has no meaning for floats", a.op)
	case k == Uint64 && op != Add && op != Sub && op != Mul:
		return e.fail(a.at, "%s has no meaning for u64, which is for seeds and counters", a.op)
	case op == Rem && k == Float:
		return e.failHint(a.at, "x - y*floor(x/y)", "%% has no meaning for floats")
	case op == Div && k == Int:
		return e.divide(a, x, y)
	}
	return &Binary{Node{k, a.at}, op, x, y}
}

// divide refuses what can only be a slip: a quotient of literals that is not
// whole.
func (e *env) divide(a *astBinary, x, y Expr) Expr {
	cx, okx := x.(*Const)
	cy, oky := y.(*Const)
	switch {
	case oky && cy.I == 0:
		return e.fail(a.at, "division by zero")
	case okx && oky && cx.I%cy.I != 0:
		return e.failHint(a.at, "write one of them with a point, as in 1.0/2", "%d/%d of ints is not whole", cx.I, cy.I)
	}
	return &Binary{Node{Int, a.at}, Div, x, y}
}

// compareBool turns == and != of bools into logic, which every target has.
func (e *env) compareBool(a *astBinary, op BinaryOp, x, y Expr) Expr {
	if op == Eq {
		y = not(a.at, y)
	}
	return or(a.at, and(a.at, x, not(a.at, y)), and(a.at, not(a.at, x), y))
}

func and(at diag.Pos, x, y Expr) Expr {
	if v, ok := constBool(x); ok {
		if v {
			return y
		}
		return x
	}
	if v, ok := constBool(y); ok {
		if v {
			return x
		}
		return y
	}
	return &Binary{Node{Bool, at}, LogicAnd, x, y}
}

func or(at diag.Pos, x, y Expr) Expr {
	if v, ok := constBool(x); ok {
		if v {
			return x
		}
		return y
	}
	if v, ok := constBool(y); ok {
		if v {
			return y
		}
		return x
	}
	return &Binary{Node{Bool, at}, LogicOr, x, y}
}

// logic checks && and ||. What the left side decides at compile time leaves
// the right side out.
func (e *env) logic(a *astBinary, op BinaryOp) Expr {
	x := e.want(a.x, Bool)
	if v, ok := constBool(x); ok && v == (op == LogicOr) {
		e.dead(a.y)
		return x
	}
	y := e.want(a.y, Bool)
	if x == nil || y == nil {
		return nil
	}
	if op == LogicAnd {
		return and(a.at, x, y)
	}
	return or(a.at, x, y)
}

// compareStatic compares a static with one of its values, at compile time.
func (e *env) compareStatic(a *astBinary, op BinaryOp) (x Expr, done bool) {
	name, value, ok := e.static(a.x)
	other := a.y
	if !ok {
		name, value, ok = e.static(a.y)
		other = a.x
	}
	if !ok {
		return nil, false
	}
	s, isString := other.(*astString)
	values := e.in.u.staticValues(name)
	switch {
	case !isString:
		return e.failHint(other.pos(), name+` == "`+values[0]+`"`, "the static %s is compared with a string", name), true
	case !contains(values, s.value):
		return e.failHint(s.at, "its values are "+strings.Join(values, " "), "the static %s has no value %q", name, s.value), true
	}
	return boolConst(a.at, (value == s.value) == (op == Eq)), true
}
