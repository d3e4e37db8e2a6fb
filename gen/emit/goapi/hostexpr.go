package goapi

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// RuntimePath is the import path of the runtime that generated code uses.
const RuntimePath = "github.com/kernelgen/kgen/runtime"

// hostExpr writes expressions over params and sizes as Go, for the closures of
// a descriptor. Int is int64 there, Float float64.
type hostExpr struct {
	axes   []string // names by position in size
	params []string // names by position in param
}

// Precedence of Go's operators; operands and calls bind tightest.
const (
	precOr = iota + 1
	precAnd
	precCompare
	precAdd
	precMul
	precUnary
	precOperand
)

// infix gives the operators that are written between their operands.
var infix = [...]struct {
	op   string
	prec int
}{
	expr.Add: {"+", precAdd}, expr.Sub: {"-", precAdd}, expr.Mul: {"*", precMul}, expr.Div: {"/", precMul},
	expr.Lt: {"<", precCompare}, expr.Le: {"<=", precCompare}, expr.Gt: {">", precCompare},
	expr.Ge: {">=", precCompare}, expr.Eq: {"==", precCompare}, expr.Ne: {"!=", precCompare},
	expr.LogicAnd: {"&&", precAnd}, expr.LogicOr: {"||", precOr},
	expr.And: {"&", precMul}, expr.Or: {"|", precAdd}, expr.Xor: {"^", precAdd},
	expr.Shl: {"<<", precMul}, expr.Shr: {">>", precMul},
}

// mathNames are the functions of package math that compute an intrinsic.
var mathNames = map[expr.Fn]string{
	expr.FnExp: "Exp", expr.FnLog: "Log", expr.FnLog1p: "Log1p", expr.FnExpm1: "Expm1", expr.FnTanh: "Tanh",
	expr.FnErf: "Erf", expr.FnSqrt: "Sqrt", expr.FnPow: "Pow", expr.FnFMA: "FMA", expr.FnFloor: "Floor",
	expr.FnCeil: "Ceil", expr.FnRound: "RoundToEven", expr.FnIsNaN: "IsNaN",
}

// write returns e as Go code that may stand beside an operator of precedence
// outer.
func (h hostExpr) write(e expr.Expr, outer int) (*jen.Statement, error) {
	code, prec, err := h.expr(e)
	if err != nil {
		return nil, err
	}
	if prec < outer {
		return jen.Parens(code), nil
	}
	return code, nil
}

// expr returns e as Go code and the precedence of its outermost operator.
func (h hostExpr) expr(e expr.Expr) (*jen.Statement, int, error) {
	switch e := e.(type) {
	case *expr.Const:
		return constant(e), precOperand, nil
	case *expr.ParamRef:
		return h.param(e)
	case *expr.Size:
		return h.size(e)
	case *expr.Unary:
		return h.unary(e)
	case *expr.Binary:
		return h.binary(e)
	case *expr.Where:
		return h.call(helper("Where", e.K), e.C, e.A, e.B)
	case *expr.Call:
		return h.intrinsic(e)
	case *expr.Convert:
		return h.convert(e)
	case *expr.Stop:
		return h.expr(e.X)
	}
	return nil, 0, atPos(e.Pos(), "only params and sizes are known on the host")
}

func atPos(p diag.Pos, format string, args ...any) error {
	return &PosError{p, fmt.Sprintf(format, args...)}
}

// PosError is a mistake in a spec that shows only when Go code is written.
type PosError struct {
	Pos diag.Pos
	Msg string
}

// Error returns the message with its position.
func (e *PosError) Error() string { return e.Pos.String() + ": " + e.Msg }

func constant(e *expr.Const) *jen.Statement {
	switch e.K {
	case expr.Bool:
		if e.I != 0 {
			return jen.True()
		}
		return jen.False()
	case expr.Uint, expr.Uint64:
		return jen.Op(strconv.FormatUint(e.U, 10))
	case expr.Int:
		return jen.Lit(int(e.I))
	}
	switch {
	case math.IsNaN(e.F):
		return jen.Qual("math", "NaN").Call()
	case math.IsInf(e.F, 0):
		return jen.Qual("math", "Inf").Call(jen.Lit(int(math.Copysign(1, e.F))))
	}
	return jen.Lit(e.F)
}

func (h hostExpr) param(e *expr.ParamRef) (*jen.Statement, int, error) {
	for i, name := range h.params {
		if name == e.P.Name {
			access := map[expr.ParamType]string{expr.ParamF32: "Float", expr.ParamI32: "Int", expr.ParamU32: "U32",
				expr.ParamU64: "U64", expr.ParamBool: "Bool"}[e.P.Type]
			return jen.Id("param").Index(jen.Lit(i)).Dot(access).Call(), precOperand, nil
		}
	}
	return nil, 0, atPos(e.Pos(), "%s is no parameter of the op", e.P.Name)
}

func (h hostExpr) size(e *expr.Size) (*jen.Statement, int, error) {
	for i, name := range h.axes {
		if name == e.A.Name {
			return jen.Id("size").Index(jen.Lit(i)), precOperand, nil
		}
	}
	return nil, 0, atPos(e.Pos(), "%s is no axis of the op", e.A.Name)
}

func (h hostExpr) unary(e *expr.Unary) (*jen.Statement, int, error) {
	x, err := h.write(e.X, precUnary)
	if err != nil {
		return nil, 0, err
	}
	op := "-"
	if e.Op == expr.Not {
		op = "!"
	}
	return jen.Op(op).Add(x), precUnary, nil
}

func (h hostExpr) binary(e *expr.Binary) (*jen.Statement, int, error) {
	if e.Op == expr.Rem {
		return h.remainder(e)
	}
	if e.Op == expr.Div && e.K != expr.Float {
		return h.call(helper("FloorDiv", e.K), e.X, e.Y)
	}
	in := infix[e.Op]
	x, err := h.write(e.X, in.prec)
	if err != nil {
		return nil, 0, err
	}
	y, err := h.write(e.Y, in.prec+1)
	if err != nil {
		return nil, 0, err
	}
	if (e.Op == expr.Shl || e.Op == expr.Shr) && e.K == expr.Int {
		y = jen.Uint64().Call(y) // a negative count would panic
	}
	return x.Op(in.op).Add(y), in.prec, nil
}

func (h hostExpr) remainder(e *expr.Binary) (*jen.Statement, int, error) {
	if e.K == expr.Float {
		return nil, 0, atPos(e.Pos(), "%% takes integers")
	}
	return h.call(helper("FloorMod", e.K), e.X, e.Y)
}

// helper is the runtime's function with the given name for values of kind k.
// The type is written out: operands may be constants.
func helper(name string, k expr.Kind) *jen.Statement {
	return jen.Qual(RuntimePath, name).Index(jen.Id(kindTypes[k]))
}

// call writes fn(args...).
func (h hostExpr) call(fn *jen.Statement, args ...expr.Expr) (*jen.Statement, int, error) {
	var list []jen.Code
	for _, a := range args {
		code, err := h.write(a, 0)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, code)
	}
	return fn.Call(list...), precOperand, nil
}

func (h hostExpr) intrinsic(e *expr.Call) (*jen.Statement, int, error) {
	switch e.Fn {
	case expr.FnMin:
		return h.call(jen.Id("min"), e.Args...)
	case expr.FnMax:
		return h.call(jen.Id("max"), e.Args...)
	}
	if name, ok := mathNames[e.Fn]; ok {
		return h.call(jen.Qual("math", name), e.Args...)
	}
	x, err := h.write(e.Args[0], 0)
	if err != nil {
		return nil, 0, err
	}
	switch e.Fn {
	case expr.FnAbs:
		if e.K == expr.Int {
			return h.call(jen.Id("max"), e.Args[0], &expr.Unary{Node: e.Node, Op: expr.Neg, X: e.Args[0]})
		}
		return jen.Qual("math", "Abs").Call(x), precOperand, nil
	case expr.FnIsInf:
		return jen.Qual("math", "IsInf").Call(x, jen.Lit(0)), precOperand, nil
	case expr.FnRsqrt:
		return jen.Lit(1).Op("/").Qual("math", "Sqrt").Call(x), precMul, nil
	}
	return nil, 0, atPos(e.Pos(), "this function is not known on the host")
}

var kindTypes = map[expr.Kind]string{
	expr.Float: "float64", expr.Int: "int64", expr.Uint: "uint32", expr.Uint64: "uint64", expr.Bool: "bool",
}

func (h hostExpr) convert(e *expr.Convert) (*jen.Statement, int, error) {
	x, err := h.write(e.X, 0)
	if err != nil {
		return nil, 0, err
	}
	if e.K == expr.Float && e.Round == expr.F32 {
		x = jen.Float32().Call(x)
	} else if e.Round != expr.InvalidDType && e.Round != expr.F32 {
		return nil, 0, atPos(e.Pos(), "f16 and bf16 are not known on the host")
	}
	switch {
	case e.K == expr.Bool && e.X.Kind() != expr.Bool:
		return x.Op("!=").Lit(0), precCompare, nil
	case e.X.Kind() == expr.Bool:
		return helper("Where", e.K).Call(x, jen.Lit(1), jen.Lit(0)), precOperand, nil
	}
	return jen.Id(kindTypes[e.K]).Call(x), precOperand, nil
}
