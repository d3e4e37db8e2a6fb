package goref

import (
	"math"

	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/expr"
)

// code is a Go expression with the precedence of its outermost operator.
type code struct {
	s        *jen.Statement
	prec     int
	constant bool // a constant expression, which the Go compiler evaluates
}

// Go's precedences, from || to operands.
const (
	lowest     = 1
	logicalAnd = 2
	comparison = 3
	sum        = 4
	product    = 5
	primary    = 7
)

// at returns the expression for a place that takes operators of at least the
// given precedence.
func (c code) at(prec int) *jen.Statement {
	if c.prec < prec {
		return jen.Parens(c.s)
	}
	return c.s
}

func atom(s *jen.Statement) code { return code{s: s, prec: primary} }

// typed gives a constant expression the type that values of kind k have.
func typed(c code, k expr.Kind) *jen.Statement {
	if c.constant && k != expr.Float {
		return arithmetic(k).Parens(c.s)
	}
	return c.s
}

// helper is a call of a function of package runtime.
func helper(name string, args ...jen.Code) code {
	return atom(jen.Qual(runtimePath, name).Call(args...))
}

// value returns x as a Go expression. Reads at computed positions become
// statements in front.
func (e *emitter) value(x expr.Expr) code {
	switch x := x.(type) {
	case *expr.Const:
		return constant(x)
	case *expr.ParamRef:
		return atom(e.param(x.P))
	case *expr.Index:
		return atom(e.position(x.A))
	case *expr.Size:
		return atom(e.size(x.A))
	case *expr.Flat:
		return atom(jen.Uint64().Parens(e.offset(x.T.Axes, nil).at(lowest)))
	case *expr.Read:
		return e.read(x)
	case *expr.Unary:
		return e.unary(x)
	case *expr.Binary:
		return e.binary(x)
	case *expr.Where: // both branches are evaluated: no expression has an effect or fails
		where := jen.Qual(runtimePath, "Where")
		if x.K != expr.Float {
			where = where.Types(arithmetic(x.K))
		}
		return atom(where.Call(e.value(x.C).at(lowest), e.value(x.A).at(lowest), e.value(x.B).at(lowest)))
	case *expr.Call:
		return e.call(x)
	case *expr.Convert:
		return e.convert(x)
	case *expr.Stop:
		return e.value(x.X)
	}
	e.failf(x, "a %T has no meaning in Go", x)
	return atom(jen.Nil())
}

func (e *emitter) position(a *expr.Axis) *jen.Statement {
	e.positions[a] = true
	return position(a)
}

func constant(x *expr.Const) code {
	switch x.K {
	case expr.Float:
		return float(x.F)
	case expr.Int:
		return code{s: jen.Lit(int(x.I)), prec: primary, constant: true}
	case expr.Bool:
		return code{s: jen.Lit(x.I != 0), prec: primary, constant: true}
	}
	return code{s: jen.Lit(int(x.U)), prec: primary, constant: true}
}

// float writes a number, also one that Go has no literal for.
func float(v float64) code {
	switch {
	case math.IsNaN(v):
		return atom(jen.Qual("math", "NaN").Call())
	case math.IsInf(v, 0):
		return atom(jen.Qual("math", "Inf").Call(jen.Lit(int(math.Copysign(1, v)))))
	case v == 0 && math.Signbit(v):
		return atom(jen.Qual("math", "Copysign").Call(jen.Lit(0), jen.Lit(-1)))
	}
	return code{s: jen.Lit(v), prec: primary, constant: true}
}

func (e *emitter) unary(x *expr.Unary) code {
	if x.Op == expr.Not {
		return code{s: jen.Op("!").Add(e.value(x.X).at(primary)), prec: primary}
	}
	if c, ok := x.X.(*expr.Const); ok && x.K == expr.Float {
		return float(-c.F)
	}
	return code{s: jen.Op("-").Add(variable(e.value(x.X), x.K).at(primary)), prec: product}
}

// variable keeps the Go compiler from evaluating a constant expression.
func variable(c code, k expr.Kind) code {
	if !c.constant {
		return c
	}
	return atom(jen.Qual(runtimePath, "RefValue").Types(arithmetic(k)).Call(c.s))
}

// operators gives the token and the precedence of each operator that is one in
// Go, too.
var operators = map[expr.BinaryOp]struct {
	token string
	prec  int
}{
	expr.LogicOr: {"||", lowest}, expr.LogicAnd: {"&&", logicalAnd},
	expr.Lt: {"<", comparison}, expr.Le: {"<=", comparison}, expr.Gt: {">", comparison},
	expr.Ge: {">=", comparison}, expr.Eq: {"==", comparison}, expr.Ne: {"!=", comparison},
	expr.Add: {"+", sum}, expr.Sub: {"-", sum}, expr.Or: {"|", sum}, expr.Xor: {"^", sum},
	expr.Mul: {"*", product}, expr.Div: {"/", product}, expr.And: {"&", product},
	expr.Shl: {"<<", product}, expr.Shr: {">>", product},
}

func (e *emitter) binary(x *expr.Binary) code {
	kind := x.X.Kind()
	a, b := e.value(x.X), e.value(x.Y)
	if a.constant && b.constant {
		a = variable(a, kind)
	}
	if kind != expr.Float && (x.Op == expr.Div || x.Op == expr.Rem) {
		name := map[expr.BinaryOp]string{expr.Div: "FloorDiv", expr.Rem: "FloorMod"}[x.Op]
		return atom(jen.Qual(runtimePath, name).Types(arithmetic(kind)).Call(a.at(lowest), b.at(lowest)))
	}
	if kind == expr.Int && (x.Op == expr.Shl || x.Op == expr.Shr) {
		name := map[expr.BinaryOp]string{expr.Shl: "RefShl", expr.Shr: "RefShr"}[x.Op]
		return helper(name, a.at(lowest), b.at(lowest))
	}
	op, ok := operators[x.Op]
	if !ok || kind == expr.Bool && x.Op != expr.Eq && x.Op != expr.Ne && op.prec > logicalAnd {
		e.failf(x, "operator %d has no meaning for this kind of value", x.Op)
		return a
	}
	return code{s: jen.Add(a.at(op.prec)).Op(op.token).Add(b.at(op.prec + 1)), prec: op.prec}
}

// functions gives the function of package math or runtime for each intrinsic
// that is one call.
var functions = map[expr.Fn]struct{ path, name string }{
	expr.FnExp: {"math", "Exp"}, expr.FnLog: {"math", "Log"}, expr.FnLog1p: {"math", "Log1p"},
	expr.FnExpm1: {"math", "Expm1"}, expr.FnTanh: {"math", "Tanh"}, expr.FnErf: {"math", "Erf"},
	expr.FnSqrt: {"math", "Sqrt"}, expr.FnAbs: {"math", "Abs"}, expr.FnPow: {"math", "Pow"},
	expr.FnFMA: {"math", "FMA"}, expr.FnFloor: {"math", "Floor"}, expr.FnCeil: {"math", "Ceil"},
	expr.FnRound: {"math", "RoundToEven"}, expr.FnIsNaN: {"math", "IsNaN"},
	expr.FnSigmoid: {runtimePath, "RefSigmoid"}, expr.FnRsqrt: {runtimePath, "RefRsqrt"},
	expr.FnSign: {runtimePath, "RefSign"}, expr.FnPhilox: {runtimePath, "RefPhilox"},
	expr.FnUniform: {runtimePath, "RefUniform"},
}

func (e *emitter) call(x *expr.Call) code {
	var args []jen.Code
	for _, a := range x.Args {
		args = append(args, e.value(a).at(lowest))
	}
	switch {
	case x.Fn == expr.FnMin:
		return atom(jen.Min(args...))
	case x.Fn == expr.FnMax:
		return atom(jen.Max(args...))
	case x.Fn == expr.FnIsInf:
		return atom(jen.Qual("math", "IsInf").Call(args[0], jen.Lit(0)))
	case x.Fn == expr.FnAbs && x.K == expr.Int:
		return atom(jen.Max(args[0], jen.Op("-").Parens(args[0])))
	}
	f, ok := functions[x.Fn]
	if x.Fn == expr.FnSign {
		return atom(jen.Qual(f.path, f.name).Types(arithmetic(x.K)).Call(args...))
	}
	if !ok {
		e.failf(x, "intrinsic %d has no meaning in Go", x.Fn)
	}
	return atom(jen.Qual(f.path, f.name).Call(args...))
}

func (e *emitter) convert(x *expr.Convert) code {
	from, c := x.X.Kind(), e.value(x.X)
	if from != expr.Int || x.K != expr.Float {
		c = variable(c, from)
	}
	v := c.at(lowest)
	switch {
	case from == expr.Bool && x.K != expr.Bool:
		v = jen.Qual(runtimePath, "RefBit").Call(v)
	case from == expr.Float && x.K == expr.Int:
		return helper("RefTruncate", v)
	case from == expr.Float && x.Round != expr.InvalidDType:
		return atom(load(store(v, from, x.Round), x.Round))
	case from != expr.Bool && x.K == expr.Bool:
		return code{s: jen.Add(v).Op("!=").Lit(0), prec: comparison}
	}
	c = atom(arithmetic(x.K).Parens(v))
	if x.Round != expr.InvalidDType {
		c = atom(load(store(c.s, expr.Float, x.Round), x.Round))
	}
	return c
}
