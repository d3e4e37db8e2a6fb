package expr

import (
	"math"
	"strings"
)

// intrinsic is the signature of an intrinsic function.
type intrinsic struct {
	fn     Fn
	args   []Kind
	result Kind
}

func floats(fn Fn, n int) intrinsic {
	return intrinsic{fn, []Kind{Float, Float, Float}[:n], Float}
}

var intrinsics = map[string]intrinsic{
	"exp": floats(FnExp, 1), "log": floats(FnLog, 1), "log1p": floats(FnLog1p, 1), "expm1": floats(FnExpm1, 1),
	"tanh": floats(FnTanh, 1), "erf": floats(FnErf, 1), "sigmoid": floats(FnSigmoid, 1),
	"sqrt": floats(FnSqrt, 1), "rsqrt": floats(FnRsqrt, 1), "abs": floats(FnAbs, 1),
	"min": floats(FnMin, 2), "max": floats(FnMax, 2), "pow": floats(FnPow, 2), "fma": floats(FnFMA, 3),
	"floor": floats(FnFloor, 1), "ceil": floats(FnCeil, 1), "round": floats(FnRound, 1), "sign": floats(FnSign, 1),
	"isnan":   {FnIsNaN, []Kind{Float}, Bool},
	"isinf":   {FnIsInf, []Kind{Float}, Bool},
	"philox":  {FnPhilox, []Kind{Uint64, Uint64}, Uint},
	"uniform": {FnUniform, []Kind{Uint}, Float},
}

// castKinds are the casts by type name, with the storage type that they round to.
var castKinds = map[string]struct {
	kind  Kind
	round DType
}{
	"f32": {Float, InvalidDType}, "f16": {Float, F16}, "bf16": {Float, BF16},
	"i32": {Int, InvalidDType}, "u32": {Uint, InvalidDType}, "u64": {Uint64, InvalidDType},
}

// call checks whatever is called: a form of the language, a type, an intrinsic
// or an elementwise spec.
func (e *env) call(a *astCall) Expr {
	switch a.name {
	case "where":
		return e.where(a)
	case "size":
		return e.size(a)
	case "flat":
		return e.flat(a)
	case "has":
		return e.has(a)
	case "stop":
		return e.stop(a)
	case "inf", "nan":
		return e.special(a)
	case "min", "max", "abs":
		return e.minMaxAbs(a)
	}
	if c, ok := castKinds[a.name]; ok {
		return e.cast(a, c.kind, c.round)
	}
	if t, ok := e.typeVar(a.name); ok {
		if t == F32 {
			t = InvalidDType
		}
		return e.cast(a, Float, t)
	}
	if f, ok := intrinsics[a.name]; ok {
		return e.intrinsic(a, f)
	}
	return e.inline(a)
}

// typeVar returns what a type variable stands for. Inside an inlined spec the
// bindings of that spec are not known, so its casts by variable are refused
// when it is looked at (see notElementwise).
func (e *env) typeVar(name string) (DType, bool) {
	for i, v := range e.in.u.spec.Types {
		if v.Name.Value == name {
			return e.in.types[i], true
		}
	}
	return InvalidDType, false
}

// arity reports a wrong number of operands.
func (e *env) arity(a *astCall, n int) bool {
	if len(a.args) == n {
		return true
	}
	if n == 1 {
		e.fail(a.at, "%s has one operand, not %d", a.name, len(a.args))
	} else {
		e.fail(a.at, "%s has %d operands, not %d", a.name, n, len(a.args))
	}
	return false
}

func (e *env) intrinsic(a *astCall, f intrinsic) Expr {
	if !e.arity(a, len(f.args)) {
		return nil
	}
	c := &Call{Node: Node{f.result, a.at}, Fn: f.fn}
	for i, x := range a.args {
		y := e.want(x, f.args[i])
		if y == nil {
			return nil
		}
		c.Args = append(c.Args, y)
	}
	return c
}

// minMaxAbs checks the intrinsics that take ints as well; min and max take two
// operands or more.
func (e *env) minMaxAbs(a *astCall) Expr {
	if a.name == "abs" {
		return e.abs(a)
	}
	if len(a.args) < 2 {
		return e.fail(a.at, "%s has two operands or more, not %d", a.name, len(a.args))
	}
	fn := intrinsics[a.name].fn
	x := e.check(a.args[0])
	for _, arg := range a.args[1:] {
		y := e.check(arg)
		if x == nil || y == nil {
			return nil
		}
		if x, y = e.unify(a.at, a.name, x, y); x == nil || y == nil {
			return nil
		}
		if k := x.Kind(); k != Float && k != Int {
			return e.fail(a.at, "%s needs floats or ints, not %s", a.name, aKind(k))
		}
		x = &Call{Node{x.Kind(), a.at}, fn, []Expr{x, y}}
	}
	return x
}

func (e *env) abs(a *astCall) Expr {
	if !e.arity(a, 1) {
		return nil
	}
	x := e.check(a.args[0])
	if x == nil || x.Kind() != Int {
		x = e.convert(x, Float)
		if x == nil {
			return nil
		}
		return &Call{Node{Float, a.at}, FnAbs, []Expr{x}}
	}
	return &Call{Node{Int, a.at}, FnMax, []Expr{x, negate(a.at, x)}}
}

// where checks a choice. A condition that is known at compile time leaves the
// other branch out, so that it may use what this instance does not have.
func (e *env) where(a *astCall) Expr {
	if !e.arity(a, 3) {
		return nil
	}
	c := e.want(a.args[0], Bool)
	if v, ok := constBool(c); ok {
		taken, dead := a.args[1], a.args[2]
		if !v {
			taken, dead = dead, taken
		}
		e.dead(dead)
		return e.check(taken)
	}
	x, y := e.check(a.args[1]), e.check(a.args[2])
	if c == nil || x == nil || y == nil {
		return nil
	}
	if x, y = e.unify(a.at, "where", x, y); x == nil || y == nil {
		return nil
	}
	return &Where{Node{x.Kind(), a.at}, c, x, y}
}

// operandName returns the single operand of a form that takes a name.
func (e *env) operandName(a *astCall, what string) string {
	if !e.arity(a, 1) {
		return ""
	}
	n, ok := a.args[0].(*astName)
	if !ok {
		e.fail(a.args[0].pos(), "%s takes the name of %s", a.name, what)
		return ""
	}
	return n.name
}

func (e *env) size(a *astCall) Expr {
	name := e.operandName(a, "an axis")
	if name == "" {
		return nil
	}
	x := e.in.axes[name]
	switch {
	case x != nil:
		return &Size{Node{Int, a.at}, x}
	case e.in.u.names[name].what != "axis":
		return e.fail(a.args[0].pos(), "%q is no axis", name)
	case e.host == "an extent":
		return e.failHint(a.args[0].pos(), "only extents of inputs and earlier ones are known", "the extent of %s is not known yet", name)
	}
	return e.fail(a.args[0].pos(), "the extent of %s is not known: no input has it", name)
}

func (e *env) flat(a *astCall) Expr {
	name := e.operandName(a, "a tensor")
	if name == "" {
		return nil
	}
	if e.host != "" {
		return e.fail(a.at, "%s has no axes, so nothing has a position there", e.host)
	}
	if l := e.in.lists[name]; l != nil {
		return &Flat{Node{Uint64, a.at}, l.shape}
	}
	t := e.in.tensors[name]
	if t == nil {
		if e.in.bad[name] {
			return nil
		}
		return e.fail(a.args[0].pos(), "%q is no tensor of this instance, or a later let", name)
	}
	return &Flat{Node{Uint64, a.at}, t}
}

func (e *env) has(a *astCall) Expr {
	name := e.operandName(a, "an optional tensor")
	if name == "" {
		return nil
	}
	d := e.in.u.decl(name)
	if d == nil || !d.Optional {
		return e.fail(a.args[0].pos(), "%q is no optional tensor", name)
	}
	return boolConst(a.at, e.in.present(d))
}

func (e *env) stop(a *astCall) Expr {
	if !e.arity(a, 1) {
		return nil
	}
	x := e.check(a.args[0])
	if x == nil || x.Kind() != Float {
		return x
	}
	return &Stop{Node{Float, a.at}, x}
}

func (e *env) special(a *astCall) Expr {
	if !e.arity(a, 0) {
		return nil
	}
	f := math.NaN()
	if strings.HasPrefix(a.name, "inf") {
		f = math.Inf(1)
	}
	return &Const{Node: Node{Float, a.at}, F: f}
}
