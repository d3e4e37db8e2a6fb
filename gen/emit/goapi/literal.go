package goapi

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/kernelgen/kgen/gen/expr"
)

// rt is a name of package runtime.
func rt(name string) *jen.Statement { return jen.Qual(RuntimePath, name) }

// field is one field of a composite literal.
func field(name string, value jen.Code) jen.Code {
	return jen.Id(name).Op(":").Add(value)
}

// flat is a composite literal on one line.
func flat(typ *jen.Statement, elems ...jen.Code) *jen.Statement {
	return typ.Values(elems...)
}

// tall is a composite literal with a line for each element.
func tall(typ *jen.Statement, elems ...jen.Code) *jen.Statement {
	return typ.Add(tallBody(elems...))
}

// tallBody is an element of a slice literal with a line for each field.
func tallBody(elems ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, elems...)
}

// flatBody is an element of a slice literal on one line.
func flatBody(elems ...jen.Code) *jen.Statement { return jen.Values(elems...) }

// uint8Slice is a []uint8 literal.
func uint8Slice(list []uint8) *jen.Statement {
	return flat(jen.Index().Uint8(), uint8s(list)...)
}

func uint8s(list []uint8) []jen.Code {
	var codes []jen.Code
	for _, v := range list {
		codes = append(codes, jen.Lit(int(v)))
	}
	return codes
}

// collect maps a slice to code.
func collect[E any](list []E, f func(E) jen.Code) []jen.Code {
	var codes []jen.Code
	for _, e := range list {
		codes = append(codes, f(e))
	}
	return codes
}

var (
	dtypeConsts = [...]string{expr.F32: "F32", expr.F16: "F16", expr.BF16: "BF16", expr.I32: "I32", expr.U8: "U8"}
	paramConsts = [...]string{expr.ParamF32: "ParamF32", expr.ParamI32: "ParamI32", expr.ParamU32: "ParamU32",
		expr.ParamU64: "ParamU64", expr.ParamBool: "ParamBool"}
)

func dtypes(list []expr.DType) *jen.Statement {
	return flat(jen.Index().Add(rt("DType")), collect(list, func(t expr.DType) jen.Code {
		return rt(dtypeConsts[t])
	})...)
}

// goType is the Go type of the elements of a tensor.
func goType(t expr.DType) *jen.Statement {
	switch t {
	case expr.F16:
		return rt("Float16")
	case expr.BF16:
		return rt("BFloat16")
	case expr.I32:
		return jen.Int32()
	case expr.U8:
		return jen.Uint8()
	}
	return jen.Float32()
}

// dtypeSuffix is the name of a storage type in Go identifiers.
func dtypeSuffix(types []expr.DType) string {
	var b strings.Builder
	for _, t := range types {
		b.WriteString(dtypeConsts[t])
	}
	return b.String()
}
