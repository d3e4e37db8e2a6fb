package msl

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// library are the intrinsics that MSL's own functions compute for every value.
var library = map[expr.Fn]string{
	expr.FnExp:   "precise::exp",
	expr.FnLog:   "precise::log",
	expr.FnSqrt:  "precise::sqrt",
	expr.FnRsqrt: "precise::rsqrt",
	expr.FnAbs:   "abs",
	expr.FnFMA:   "fma",
	expr.FnFloor: "floor",
	expr.FnCeil:  "ceil",
	expr.FnRound: "rint",
	expr.FnIsNaN: "isnan",
	expr.FnIsInf: "isinf",
}

// ours are those that the prelude has.
var ours = map[expr.Fn]string{
	expr.FnLog1p:   "kg_log1p",
	expr.FnExpm1:   "kg_expm1",
	expr.FnTanh:    "kg_tanh",
	expr.FnErf:     "kg_erf",
	expr.FnSigmoid: "kg_sigmoid",
	expr.FnPow:     "kg_pow",
	expr.FnSign:    "kg_sign",
	expr.FnPhilox:  "kg_philox",
	expr.FnUniform: "kg_uniform",
}

// call is an intrinsic. On ints min and max are MSL's, which takes arguments of
// one type only; on floats they are ours, which give NaN if either side is NaN.
func (p *printer) call(e *ir.Call) string {
	if e.Fn == expr.FnMin || e.Fn == expr.FnMax {
		name := "min"
		if e.Fn == expr.FnMax {
			name = "max"
		}
		if e.T.Elem == ir.F32 {
			return p.helper("kg_"+name, e.Args...)
		}
		return p.apply(name, e.Args...)
	}
	if name, ok := ours[e.Fn]; ok {
		return p.helper(name, e.Args...)
	}
	name, ok := library[e.Fn]
	if !ok {
		p.fail("intrinsic %s", e.Fn)
	}
	return p.apply(name, e.Args...)
}

// horizontal folds the values of a SIMD group.
func (p *printer) horizontal(e *ir.Horizontal) string {
	isFloat := e.X.Type().Elem == ir.F32
	switch e.Fold {
	case ir.FoldProd:
		return p.apply("simd_product", e.X)
	case ir.FoldMin:
		if isFloat {
			return p.helper("kg_simd_min", e.X)
		}
		return p.apply("simd_min", e.X)
	case ir.FoldMax:
		if isFloat {
			return p.helper("kg_simd_max", e.X)
		}
		return p.apply("simd_max", e.X)
	case ir.FoldAny:
		return p.apply("simd_any", e.X)
	case ir.FoldAll:
		return p.apply("simd_all", e.X)
	}
	return p.apply("simd_sum", e.X)
}
