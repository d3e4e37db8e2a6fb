package goapi

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
)

// hostTest has the axes L, K and the params n (i32), p (f32), u (u32), s (u64)
// and f (bool).
var hostTest = hostExpr{axes: []string{"L", "K"}, params: []string{"n", "p", "u", "s", "f"}}

func TestHostExpressions(t *testing.T) {
	node := func(k expr.Kind) expr.Node { return expr.Node{K: k} }
	size := func(name string) expr.Expr { return &expr.Size{Node: node(expr.Int), A: &expr.Axis{Name: name}} }
	param := func(name string, k expr.Kind, p expr.ParamType) expr.Expr {
		return &expr.ParamRef{Node: node(k), P: &expr.Param{Name: name, Type: p}}
	}
	num := func(i int64) expr.Expr { return &expr.Const{Node: node(expr.Int), I: i} }
	real := func(f float64) expr.Expr { return &expr.Const{Node: node(expr.Float), F: f} }
	bin := func(op expr.BinaryOp, k expr.Kind, x, y expr.Expr) expr.Expr {
		return &expr.Binary{Node: node(k), Op: op, X: x, Y: y}
	}
	call := func(fn expr.Fn, k expr.Kind, args ...expr.Expr) expr.Expr {
		return &expr.Call{Node: node(k), Fn: fn, Args: args}
	}
	l, k := size("L"), size("K")
	n, p := param("n", expr.Int, expr.ParamI32), param("p", expr.Float, expr.ParamF32)
	f := param("f", expr.Bool, expr.ParamBool)
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{bin(expr.Add, expr.Int, bin(expr.Div, expr.Int, bin(expr.Sub, expr.Int, l, k), n), num(1)),
			"runtime.FloorDiv[int64](size[0]-size[1], param[0].Int()) + 1"},
		{bin(expr.Mul, expr.Int, bin(expr.Sub, expr.Int, l, k), bin(expr.Add, expr.Int, n, num(2))),
			"(size[0] - size[1]) * (param[0].Int() + 2)"},
		{bin(expr.Sub, expr.Int, l, bin(expr.Sub, expr.Int, k, n)), "size[0] - (size[1] - param[0].Int())"},
		{bin(expr.Rem, expr.Int, l, num(8)), "runtime.FloorMod[int64](size[0], 8)"},
		{bin(expr.LogicAnd, expr.Bool, bin(expr.Ge, expr.Bool, p, real(0)), bin(expr.Lt, expr.Bool, p, real(1))),
			"param[1].Float() >= 0.0 && param[1].Float() < 1.0"},
		{bin(expr.LogicAnd, expr.Bool, bin(expr.LogicOr, expr.Bool, f, f), f), "(param[4].Bool() || param[4].Bool()) && param[4].Bool()"},
		{&expr.Unary{Node: node(expr.Bool), Op: expr.Not, X: bin(expr.Eq, expr.Bool, l, num(0))}, "!(size[0] == 0)"},
		{&expr.Where{Node: node(expr.Int), C: f, A: l, B: num(1)}, "runtime.Where[int64](param[4].Bool(), size[0], 1)"},
		{call(expr.FnMax, expr.Int, l, num(1)), "max(size[0], 1)"},
		{call(expr.FnSqrt, expr.Float, p), "math.Sqrt(param[1].Float())"},
		{call(expr.FnRsqrt, expr.Float, p), "1 / math.Sqrt(param[1].Float())"},
		{call(expr.FnAbs, expr.Int, n), "max(param[0].Int(), -param[0].Int())"},
		{bin(expr.Shl, expr.Int, num(1), n), "1 << uint64(param[0].Int())"},
		{&expr.Convert{Node: node(expr.Float), X: l}, "float64(size[0])"},
		{&expr.Convert{Node: node(expr.Float), X: p, Round: expr.F32}, "float64(float32(param[1].Float()))"},
		{&expr.Convert{Node: node(expr.Int), X: f}, "runtime.Where[int64](param[4].Bool(), 1, 0)"},
		{param("u", expr.Uint, expr.ParamU32), "param[2].U32()"},
		{param("s", expr.Uint64, expr.ParamU64), "param[3].U64()"},
		{&expr.Const{Node: node(expr.Uint64), U: 1<<64 - 1}, "18446744073709551615"},
	} {
		code, err := hostTest.write(c.e, 0)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if got := code.GoString(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestHostExpressionsThatReadTensors(t *testing.T) {
	read := &expr.Read{Node: expr.Node{K: expr.Int}, T: &expr.Tensor{Name: "x"}}
	read.At.File, read.At.Line, read.At.Col = "specs/g/a.toml", 3, 9
	_, err := hostTest.write(&expr.Unary{Node: expr.Node{K: expr.Int}, X: read}, 0)
	if err == nil || !strings.HasPrefix(err.Error(), "specs/g/a.toml:3:9: ") {
		t.Errorf("error %v has no position", err)
	}
}
