package expr

import (
	"go/token"
	"math"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// env gives the names of one expression their meaning. Its methods return nil
// for what they have reported, or for what is wrong elsewhere and reported
// there.
type env struct {
	in   *instance
	list *diag.List
	// host names an expression that the host evaluates: it knows parameters and
	// extents only. It is "" inside a step.
	host string
	step string // the result of the step, for the names of hoisted lets

	// Inside an inlined spec, its names stand for these, and callee is it.
	bound  map[string]Expr
	callee *unit
}

func (e *env) fail(at diag.Pos, format string, args ...any) Expr {
	e.list.Add(at, format, args...)
	return nil
}

func (e *env) failHint(at diag.Pos, hint, format string, args ...any) Expr {
	e.list.AddHint(at, hint, format, args...)
	return nil
}

// want checks a and converts it to kind.
func (e *env) want(a ast, kind Kind) Expr { return e.convert(e.check(a), kind) }

// whole is want for an expression that is not part of another.
func (e *env) whole(a ast, kind Kind) Expr { return e.smallInts(e.want(a, kind)) }

// smallInts reports int literals that an int may not hold: it is at least 32
// bits wide, and on some targets no wider.
func (e *env) smallInts(x Expr) Expr {
	if x == nil {
		return nil
	}
	ok := true
	Walk(x, func(x Expr) bool {
		if c, isConst := x.(*Const); isConst && c.K == Int && int64(int32(c.I)) != c.I {
			e.failHint(c.At, "u64(n) is wider", "%d is beyond the range of an int", c.I)
			ok = false
		}
		return true
	})
	if !ok {
		return nil
	}
	return x
}

// check gives a its meaning and kind.
func (e *env) check(a ast) Expr {
	switch a := a.(type) {
	case *astName:
		return e.name(a)
	case *astNumber:
		return e.number(a)
	case *astString:
		return e.fail(a.at, "a string can only be compared with a static")
	case *astUnary:
		return e.unary(a)
	case *astBinary:
		return e.binary(a)
	case *astCall:
		return e.call(a)
	case *astIndex:
		return e.index(a)
	}
	return nil
}

func (e *env) number(a *astNumber) Expr {
	if a.tok == token.FLOAT {
		f, err := strconv.ParseFloat(a.lit, 64)
		switch {
		case err != nil || math.Abs(f) > math.MaxFloat32:
			return e.fail(a.at, "%s is beyond the range of f32", a.lit)
		case f != 0 && float32(f) == 0:
			return e.fail(a.at, "%s is zero in f32", a.lit)
		}
		return &Const{Node: Node{Float, a.at}, F: f}
	}
	n, err := strconv.ParseUint(a.lit, 0, 64)
	switch {
	case err != nil:
		return e.fail(a.at, "%s is beyond the range of u64", a.lit)
	case n > math.MaxInt64:
		return &Const{Node: Node{Uint64, a.at}, U: n}
	}
	return &Const{Node: Node{Int, a.at}, I: int64(n)}
}

// name checks a name that stands alone: a value.
func (e *env) name(a *astName) Expr {
	if _, declared := e.unit().names[a.name]; !declared && (a.name == "true" || a.name == "false") {
		return boolConst(a.at, a.name == "true")
	}
	if e.callee != nil {
		return e.bound[a.name]
	}
	in := e.in
	switch {
	case in.bad[a.name]:
		return nil
	case in.params[a.name] != nil:
		p := in.params[a.name]
		return &ParamRef{Node{p.Type.kind(), a.at}, p}
	case in.u.staticValues(a.name) != nil:
		return e.failHint(a.at, a.name+` == "`+in.u.staticValues(a.name)[0]+`"`, "the static %s is no value; compare it with one of its values", a.name)
	case in.u.names[a.name].what == "axis" && e.host != "":
		return e.failHint(a.at, "size("+a.name+") is its extent", "%s has no axes, so %s has no index there", e.host, a.name)
	case in.axes[a.name] != nil:
		return &Index{Node{Int, a.at}, in.axes[a.name]}
	}
	if d := in.u.decl(a.name); d != nil {
		return e.read(a.at, d, nil)
	}
	if in.u.names[a.name].what == "axis" {
		return e.fail(a.at, "the extent of the axis %s is not known here: only an absent optional input has it", a.name)
	}
	return e.failHint(a.at, e.similar(a.name), "unknown name %q", a.name)
}

// similar returns a hint with a declared name that differs only in case.
func (e *env) similar(name string) string {
	for _, d := range e.in.u.tensors {
		if strings.EqualFold(d.name, name) {
			return "did you mean " + d.name + "?"
		}
	}
	for _, p := range e.in.prog.Params {
		if strings.EqualFold(p.Name, name) {
			return "did you mean " + p.Name + "?"
		}
	}
	if _, ok := intrinsics[name]; ok {
		return name + " is a function"
	}
	if e.in.c.byName[name] != nil {
		return name + " is a spec and can be called"
	}
	return ""
}

func (e *env) unary(a *astUnary) Expr {
	if a.op == token.NOT {
		return not(a.at, e.want(a.x, Bool))
	}
	x := e.check(a.x)
	if x == nil {
		return nil
	}
	if k := x.Kind(); k != Float && k != Int {
		return e.fail(a.at, "%s needs a float or an int, not %s", a.op, aKind(k))
	}
	if a.op == token.ADD {
		return x
	}
	return negate(a.at, x)
}

// negate returns -x; a literal takes the sign.
func negate(at diag.Pos, x Expr) Expr {
	c, ok := x.(*Const)
	if !ok {
		return &Unary{Node{x.Kind(), at}, Neg, x}
	}
	n := &Const{Node: Node{c.K, at}}
	if c.K == Float {
		n.F = -c.F
	} else {
		n.I = -c.I
	}
	return n
}

// unit returns the spec whose names the expression uses.
func (e *env) unit() *unit {
	if e.callee != nil {
		return e.callee
	}
	return e.in.u
}

// not negates a condition; what is known at compile time stays known.
func not(at diag.Pos, x Expr) Expr {
	if x == nil {
		return nil
	}
	if v, ok := constBool(x); ok {
		return boolConst(at, !v)
	}
	if u, ok := x.(*Unary); ok {
		return u.X
	}
	return &Unary{Node{Bool, at}, Not, x}
}

func boolConst(at diag.Pos, v bool) *Const {
	c := &Const{Node: Node{Bool, at}}
	if v {
		c.I = 1
	}
	return c
}

// constBool returns the value of a condition that is known at compile time.
func constBool(e Expr) (value, known bool) {
	c, ok := e.(*Const)
	return ok && c.I != 0, ok && c.K == Bool
}

var kindNames = [...]string{"nothing", "float", "int", "uint", "u64", "bool"}

func (k Kind) String() string { return kindNames[k] }

func aKind(k Kind) string {
	if k == Int {
		return "an int"
	}
	return "a " + k.String()
}

// static returns the value of a static that a names.
func (e *env) static(a ast) (name, value string, ok bool) {
	n, isName := a.(*astName)
	if !isName || e.callee != nil || e.in.u.staticValues(n.name) == nil {
		return "", "", false
	}
	return n.name, e.in.choice(n.name), true
}

// dead reports names without meaning in an expression that the choices made
// leave out; nothing else matters there.
func (e *env) dead(a ast) {
	walkAST(a, func(a ast) {
		var name string
		var at diag.Pos
		switch a := a.(type) {
		case *astName:
			name, at = a.name, a.at
		case *astIndex:
			name, at = a.name, a.at
		case *astCall:
			if c := e.in.c; !isBuiltin(a.name) && !e.in.u.isTypeVar(a.name) && c.byName[a.name] == nil && !c.broken[a.name] {
				e.failHint(a.at, e.callHint(a.name), "unknown function %q", a.name)
			}
			return
		default:
			return
		}
		if _, ok := e.in.u.names[name]; !ok && name != "true" && name != "false" {
			e.failHint(at, e.similar(name), "unknown name %q", name)
		}
	})
}
