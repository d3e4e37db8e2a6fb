package gpu

import (
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// call is an intrinsic. On ints min and max are the library's, which take arguments of
// one type only; on floats they are ours, which give NaN if either side is NaN.
func (p *Printer) call(e *ir.Call) string {
	if e.Fn == expr.FnMin || e.Fn == expr.FnMax {
		name := "min"
		if e.Fn == expr.FnMax {
			name = "max"
		}
		if e.T.Elem == ir.F32 {
			return p.helper("kg_"+name, e.Args...)
		}
		return p.ofInts(name, e.Args...)
	}
	if name, ok := p.Rough[e.Fn]; ok && e.Rough {
		if x, by := scaled(e.Args[0]); by != nil {
			return p.helper(name, x, by)
		}
		return p.helper(name, e.Args[0])
	}
	if name, ok := p.Ours[e.Fn]; ok {
		return p.helper(name, e.Args...)
	}
	name, ok := p.Library[e.Fn]
	if !ok {
		p.Fail("intrinsic %s", e.Fn)
	}
	return p.apply(name, e.Args...)
}

// scaled returns the operands of a product with a constant, which stands last; nil where
// e is none.
func scaled(e ir.Expr) (x, by ir.Expr) {
	b, ok := e.(*ir.Bin)
	if !ok || b.Op != ir.Mul {
		return nil, nil
	}
	if _, ok := b.X.(*ir.Lit); ok {
		return b.Y, b.X
	}
	if _, ok := b.Y.(*ir.Lit); ok {
		return b.X, b.Y
	}
	return nil, nil
}

// horizontal folds the values of a SIMD group.
func (p *Printer) horizontal(e *ir.Horizontal) string {
	isFloat := e.X.Type().Elem == ir.F32
	switch e.Fold {
	case ir.FoldProd:
		return p.fold("simd_product", e.X)
	case ir.FoldMin:
		if isFloat {
			return p.helper("kg_simd_min", e.X)
		}
		return p.fold("simd_min", e.X)
	case ir.FoldMax:
		if isFloat {
			return p.helper("kg_simd_max", e.X)
		}
		return p.fold("simd_max", e.X)
	case ir.FoldAny:
		return p.fold("simd_any", e.X)
	case ir.FoldAll:
		return p.fold("simd_all", e.X)
	}
	return p.fold("simd_sum", e.X)
}

// fold is a function of the library, or of the prelude where that has it.
func (p *Printer) fold(name string, x ir.Expr) string {
	if p.OwnFolds {
		return p.helper("kg_"+name, x)
	}
	return p.apply(name, x)
}
