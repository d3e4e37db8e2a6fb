package goref

import (
	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/expr"
)

// Names never meet: an axis D has the position iD and the extent nD, a buffer x
// is t_x, a let is l_x, a parameter p_x; temporaries are a letter and a number.

func size(a *expr.Axis) *jen.Statement     { return jen.Id("n" + a.Name) }
func position(a *expr.Axis) *jen.Statement { return jen.Id("i" + a.Name) }
func param(p *expr.Param) *jen.Statement   { return jen.Id("p_" + p.Name) }
func buffer(t *expr.Tensor) *jen.Statement { return jen.Id("t_" + t.Name) }
func let(t *expr.Tensor) *jen.Statement    { return jen.Id("l_" + t.Name) }

// newValues names the values that replace those of an inout in the end.
func newValues(t *expr.Tensor) *jen.Statement { return jen.Id("new_" + t.Name) }

func (e *emitter) size(a *expr.Axis) *jen.Statement {
	e.axes[a] = true
	return size(a)
}

func (e *emitter) param(p *expr.Param) *jen.Statement {
	e.params[p] = true
	return param(p)
}

func (e *emitter) tensor(t *expr.Tensor) *jen.Statement {
	e.tensors[t] = true
	return buffer(t)
}

// accessor is the method of runtime.Scalar that gives a parameter its value.
func accessor(t expr.ParamType) string {
	switch t {
	case expr.ParamI32:
		return "Int"
	case expr.ParamU32:
		return "U32"
	case expr.ParamU64:
		return "U64"
	case expr.ParamBool:
		return "Bool"
	}
	return "Float"
}

// storage is the Go type of an element in memory.
func storage(t expr.DType) *jen.Statement {
	switch t {
	case expr.F16:
		return jen.Qual(runtimePath, "Float16")
	case expr.BF16:
		return jen.Qual(runtimePath, "BFloat16")
	case expr.I32:
		return jen.Int32()
	case expr.U8:
		return jen.Uint8()
	}
	return jen.Float32()
}

func typeName(t expr.DType) string {
	return [...]string{expr.F32: "f32", expr.F16: "f16", expr.BF16: "bf16", expr.I32: "i32", expr.U8: "u8"}[t]
}

// arithmetic is the Go type of a value of kind k.
func arithmetic(k expr.Kind) *jen.Statement {
	switch k {
	case expr.Int:
		return jen.Int64()
	case expr.Uint:
		return jen.Uint32()
	case expr.Uint64:
		return jen.Uint64()
	case expr.Bool:
		return jen.Bool()
	}
	return jen.Float64()
}

// load turns an element of type t into a value.
func load(element *jen.Statement, t expr.DType) *jen.Statement {
	switch t {
	case expr.F16, expr.BF16:
		return jen.Float64().Parens(element.Dot("Float32").Call())
	case expr.I32, expr.U8:
		return jen.Int64().Parens(element)
	}
	return jen.Float64().Parens(element)
}

// store turns a value of kind k into an element of type t, rounded as from f32.
func store(value *jen.Statement, k expr.Kind, t expr.DType) *jen.Statement {
	if k == expr.Bool {
		value = jen.Qual(runtimePath, "RefBit").Call(value)
	}
	switch t {
	case expr.F16:
		return jen.Qual(runtimePath, "ToFloat16").Call(jen.Float32().Parens(value))
	case expr.BF16:
		return jen.Qual(runtimePath, "ToBFloat16").Call(jen.Float32().Parens(value))
	}
	return storage(t).Parens(value)
}
