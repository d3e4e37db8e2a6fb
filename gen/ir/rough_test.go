package ir_test

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// What a result of 32 bits, a condition or a position reads stays as it is; the rest of
// what goes to results of 16 bits is contracted, and its functions are rough.
func TestRelax(t *testing.T) {
	x, half, float := buffer("x", expr.F32), buffer("half", expr.F16), buffer("float", expr.F32)
	half.Write, float.Write = true, true
	load := func(i int64) ir.Expr { return &ir.Load{B: x, Off: index(i)} }
	value := func(name string, e ir.Expr) (*ir.Var, ir.Stmt) {
		v := &ir.Var{Name: name, Type: ir.Scalar(ir.F32)}
		return v, &ir.Decl{V: v, X: e}
	}
	sum := func() ir.Expr { return op(ir.Add, op(ir.Mul, load(0), load(1)), load(2)) }
	shared, declShared := value("shared", sum())
	tested, declTested := value("tested", sum())
	own, declOwn := value("own", op(ir.Sub, load(2), op(ir.Mul, load(0), load(1))))
	exp := &ir.Call{Fn: expr.FnExp, Args: []ir.Expr{&ir.Ref{V: own}}, T: ir.Scalar(ir.F32)}
	f := &ir.Func{SIMT: true, Body: []ir.Stmt{
		declShared, declTested, declOwn,
		&ir.Store{B: float, Off: index(0), X: &ir.Ref{V: shared}},
		&ir.Store{B: half, Off: index(0), X: op(ir.Div, exp, &ir.Ref{V: shared})},
		&ir.Store{B: half, Off: index(1), X: &ir.Select{
			C: op(ir.Lt, &ir.Ref{V: tested}, load(3)),
			A: op(ir.Add, load(4), op(ir.Mul, &ir.Ref{V: tested}, load(5))),
			B: load(6),
		}},
	}}
	f.Relax()
	text := ir.Format(f)
	for _, want := range []string{
		"shared f32 = add(mul(load x[0], load x[1]), load x[2])",
		"tested f32 = add(mul(load x[0], load x[1]), load x[2])",
		"own f32 = fma(neg(load x[0]), load x[1], load x[2])",
		"select(lt(tested, load x[3]), fma(tested, load x[5], load x[4]), load x[6])",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	quotient := f.Body[4].(*ir.Store).X.(*ir.Bin)
	if !quotient.Rough || !quotient.X.(*ir.Call).Rough {
		t.Error("the quotient and the exponential that go to 16 bits are not rough")
	}
	if exp.Rough {
		t.Error("an expression that others may share was changed")
	}
}

func buffer(name string, t expr.DType) *ir.Buffer { return &ir.Buffer{Name: name, Type: t} }

func index(i int64) ir.Expr { return &ir.Lit{T: ir.Scalar(ir.I64), I: i} }

func op(o ir.Op, x, y ir.Expr) ir.Expr { return &ir.Bin{Op: o, X: x, Y: y} }
