package expr

import (
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
)

// special are the operands for which folding must not change a value.
var special = []float64{0, math.Copysign(0, -1), 1, -1, 0.1, -3, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// eval computes e, a Float made of constants, one parameter of value x and
// arithmetic, as it stands.
func eval(e Expr, x float64) float64 {
	switch e := e.(type) {
	case *Const:
		return e.F
	case *ParamRef:
		return x
	case *Unary:
		return -eval(e.X, x)
	case *Binary:
		a, b := eval(e.X, x), eval(e.Y, x)
		switch e.Op {
		case Add:
			return a + b
		case Sub:
			return a - b
		case Mul:
			return a * b
		}
		return a / b
	case *Call:
		return math.Pow(eval(e.Args[0], x), eval(e.Args[1], x))
	}
	panic("not an arithmetic expression")
}

func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || a == b && math.Signbit(a) == math.Signbit(b)
}

// TestFoldingKeepsValues compares every constructor with plain arithmetic, on
// constants, a variable and their negatives.
func TestFoldingKeepsValues(t *testing.T) {
	at := diag.Pos{}
	x := &ParamRef{Node{K: Float}, &Param{Name: "x"}}
	operands := []Expr{x, NegOf(at, x)}
	for _, v := range special {
		operands = append(operands, Num(at, v))
	}
	for _, op := range []struct {
		name  string
		build func(diag.Pos, Expr, Expr) Expr
		value func(a, b float64) float64
	}{
		{"add", AddOf, func(a, b float64) float64 { return a + b }},
		{"sub", SubOf, func(a, b float64) float64 { return a - b }},
		{"mul", MulOf, func(a, b float64) float64 { return a * b }},
		{"div", DivOf, func(a, b float64) float64 { return a / b }},
		{"pow", func(at diag.Pos, a, b Expr) Expr { return CallOf(at, FnPow, a, b) }, math.Pow},
	} {
		for _, a := range operands {
			for _, b := range operands {
				e := op.build(at, a, b)
				for _, v := range special {
					if got, want := eval(e, v), op.value(eval(a, v), eval(b, v)); !same(got, want) {
						t.Errorf("%s of %s and %s at %v: %s is %v, want %v", op.name, Format(a), Format(b), v, Format(e), got, want)
					}
				}
			}
		}
	}
}

func TestFolding(t *testing.T) {
	at := diag.Pos{}
	a := &Axis{Name: "A"}
	i, n := IndexOf(at, a), SizeOf(at, a)
	x := &ParamRef{Node{K: Float}, &Param{Name: "x"}}
	c := CompareOf(at, Lt, x, Num(at, 1))
	for _, f := range []struct {
		got  Expr
		want string
	}{
		{MulOf(at, x, Num(at, 1)), "x"},
		{MulOf(at, Num(at, -1), x), "-x"},
		{MulOf(at, x, Num(at, 0)), "x * 0"},
		{AddOf(at, x, Num(at, 0)), "x + 0"},
		{SubOf(at, x, Num(at, 0)), "x"},
		{AddOf(at, x, NegOf(at, x)), "x - x"},
		{MulOf(at, i, Whole(at, 0)), "0"},
		{SubOf(at, i, i), "0"},
		{AddOf(at, i, Whole(at, -2)), "A - 2"},
		{MulOf(at, Whole(at, 6), Whole(at, 7)), "42"},
		{MulOf(at, Whole(at, 1<<20), Whole(at, 1<<20)), "1048576 * 1048576"},
		{RemOf(at, i, Whole(at, 1)), "0"},
		{CompareOf(at, Ge, i, Whole(at, 0)), "true"},
		{CompareOf(at, Lt, i, n), "true"},
		{CompareOf(at, Lt, n, i), "size(A) < A"},
		{NotOf(at, c), "!(x < 1)"},
		{NotOf(at, NotOf(at, c)), "x < 1"},
		{NotOf(at, CompareOf(at, Eq, x, x)), "x != x"},
		{WhereOf(at, NotOf(at, c), x, Num(at, 2)), "where(x < 1, 2, x)"},
		{WhereOf(at, c, x, x), "x"},
		{AndOf(at, Truth(at, true), c), "x < 1"},
		{OrOf(at, c, Truth(at, true)), "true"},
		{ToFloat(at, Whole(at, 3)), "3.0"},
		{CallOf(at, FnPow, x, Num(at, 1)), "x"},
		{SizeProduct(at, []*Axis{a, a}), "size(A) * size(A)"},
	} {
		if got := Format(f.got); got != f.want {
			t.Errorf("got %s, want %s", got, f.want)
		}
	}
}
