package expr

import (
	"math"

	"github.com/kernelgen/kgen/gen/diag"
)

// This file builds checked expressions. The constructors fold what can be
// folded without changing a value, for every operand (NaN, infinities and
// signed zeros included; the payload of a NaN is not a value):
//
//	x*1, 1*x, x/1      are x
//	x*-1, x/-1         are -x
//	x - 0, x + -0      are x; x + 0 is not (-0 + 0 is 0)
//	-(-x)              is x
//	(-x)*y, x/(-y)     are -(x*y), -(x/y): the sign of a product is exact
//	x + (-y), x - (-y) are x - y, x + y
//	pow(x, 1)          is x; pow(x, 0) is 1
//	where(c, a, a)     is a; where(true, a, b) is a; where(!c, a, b) is where(c, b, a)
//
// x*0 and x-x are folded for Int only, since a Float may be NaN or infinite.
// Operations on constants are folded: Float ones in float64, which is what the
// oracle computes and at least as near to the formula as f32 arithmetic; Int
// ones where the result fits 32 bits.

// Num returns the Float constant v.
func Num(at diag.Pos, v float64) Expr {
	return &Const{Node: Node{K: Float, At: at}, F: v}
}

// Whole returns the Int constant v.
func Whole(at diag.Pos, v int64) Expr {
	return &Const{Node: Node{K: Int, At: at}, I: v}
}

// Truth returns the Bool constant v.
func Truth(at diag.Pos, v bool) Expr {
	c := &Const{Node: Node{K: Bool, At: at}}
	if v {
		c.I = 1
	}
	return c
}

// IndexOf returns the position along a.
func IndexOf(at diag.Pos, a *Axis) Expr {
	return &Index{Node: Node{K: Int, At: at}, A: a}
}

// SizeOf returns the extent of a.
func SizeOf(at diag.Pos, a *Axis) Expr {
	return &Size{Node: Node{K: Int, At: at}, A: a}
}

// SizeProduct returns the number of positions in the product of axes, an Int.
func SizeProduct(at diag.Pos, axes []*Axis) Expr {
	n := Whole(at, 1)
	for _, a := range axes {
		n = MulOf(at, n, SizeOf(at, a))
	}
	return n
}

// ReadOf returns the element of t at its own axes.
func ReadOf(at diag.Pos, t *Tensor) *Read {
	return &Read{Node: Node{K: ValueKind(t), At: at}, T: t}
}

// ValueKind returns the kind of value that a read of t gives.
func ValueKind(t *Tensor) Kind {
	switch {
	case t.Type == I32, t.Type == U8 && t.Role != Let:
		return Int
	case t.Type == U8:
		return Bool
	}
	return Float
}

// IsNum reports whether e is the Float constant v (0 and -0 are told apart).
func IsNum(e Expr, v float64) bool {
	c, ok := e.(*Const)
	return ok && c.K == Float && c.F == v && math.Signbit(c.F) == math.Signbit(v)
}

// IsWhole reports whether e is the Int constant v.
func IsWhole(e Expr, v int64) bool {
	c, ok := e.(*Const)
	return ok && c.K == Int && c.I == v
}

// IsTruth reports whether e is the Bool constant v.
func IsTruth(e Expr, v bool) bool {
	c, ok := e.(*Const)
	return ok && c.K == Bool && (c.I != 0) == v
}

// ToFloat converts an Int or Uint to Float; a Float stays as it is.
func ToFloat(at diag.Pos, x Expr) Expr {
	if x.Kind() == Float {
		return x
	}
	if c, ok := x.(*Const); ok && c.K == Int && fitsInt32(c.I) {
		return Num(at, float64(c.I))
	}
	return &Convert{Node: Node{K: Float, At: at}, X: x}
}

// NegOf returns -x for a Float or Int.
func NegOf(at diag.Pos, x Expr) Expr {
	switch x := x.(type) {
	case *Const:
		if x.K == Float {
			return Num(at, -x.F)
		}
		if x.K == Int && fitsInt32(-x.I) {
			return Whole(at, -x.I)
		}
	case *Unary:
		if x.Op == Neg {
			return x.X
		}
	}
	return &Unary{Node: Node{K: x.Kind(), At: at}, Op: Neg, X: x}
}

// AddOf returns x + y for two Floats or two Ints.
func AddOf(at diag.Pos, x, y Expr) Expr {
	if c := foldBinary(at, Add, x, y); c != nil {
		return c
	}
	switch {
	case isNothing(y):
		return x
	case isNothing(x):
		return y
	}
	if n, ok := negated(y); ok {
		return SubOf(at, x, n)
	}
	if n, ok := negated(x); ok {
		return SubOf(at, y, n)
	}
	return binary(at, Add, x, y)
}

// SubOf returns x - y for two Floats or two Ints.
func SubOf(at diag.Pos, x, y Expr) Expr {
	if c := foldBinary(at, Sub, x, y); c != nil {
		return c
	}
	switch {
	case IsNum(y, 0) || IsWhole(y, 0):
		return x
	case IsWhole(x, 0):
		return NegOf(at, y)
	case x.Kind() == Int && Key(x) == Key(y):
		return Whole(at, 0)
	}
	if n, ok := negated(y); ok {
		return AddOf(at, x, n)
	}
	return binary(at, Sub, x, y)
}

// MulOf returns x * y for two Floats or two Ints.
func MulOf(at diag.Pos, x, y Expr) Expr {
	if c := foldBinary(at, Mul, x, y); c != nil {
		return c
	}
	switch {
	case isOne(x):
		return y
	case isOne(y):
		return x
	case IsWhole(x, 0) || IsWhole(y, 0):
		return Whole(at, 0)
	case IsNum(x, -1) || IsWhole(x, -1):
		return NegOf(at, y)
	case IsNum(y, -1) || IsWhole(y, -1):
		return NegOf(at, x)
	}
	if n, ok := negated(x); ok {
		return NegOf(at, MulOf(at, n, y))
	}
	if n, ok := negated(y); ok {
		return NegOf(at, MulOf(at, x, n))
	}
	return binary(at, Mul, x, y)
}

// DivOf returns x / y for two Floats, or the floored quotient of two Ints.
func DivOf(at diag.Pos, x, y Expr) Expr {
	switch {
	case isOne(y):
		return x
	case IsNum(y, -1) || IsWhole(y, -1):
		return NegOf(at, x)
	}
	if x.Kind() == Float {
		if c := foldBinary(at, Div, x, y); c != nil {
			return c
		}
		if n, ok := negated(x); ok {
			return NegOf(at, DivOf(at, n, y))
		}
		if n, ok := negated(y); ok {
			return NegOf(at, DivOf(at, x, n))
		}
	}
	return binary(at, Div, x, y)
}

// RemOf returns the floored remainder of two Ints.
func RemOf(at diag.Pos, x, y Expr) Expr {
	if IsWhole(y, 1) || IsWhole(y, -1) {
		return Whole(at, 0)
	}
	return binary(at, Rem, x, y)
}

// CompareOf returns the comparison x op y. A position is known to be neither
// negative nor past its axis.
func CompareOf(at diag.Pos, op BinaryOp, x, y Expr) Expr {
	if c := foldCompare(at, op, x, y); c != nil {
		return c
	}
	return &Binary{Node: Node{K: Bool, At: at}, Op: op, X: x, Y: y}
}

// AndOf returns x && y.
func AndOf(at diag.Pos, x, y Expr) Expr {
	switch {
	case IsTruth(x, true), IsTruth(y, false):
		return y
	case IsTruth(y, true), IsTruth(x, false):
		return x
	}
	return &Binary{Node: Node{K: Bool, At: at}, Op: LogicAnd, X: x, Y: y}
}

// OrOf returns x || y.
func OrOf(at diag.Pos, x, y Expr) Expr {
	switch {
	case IsTruth(x, false), IsTruth(y, true):
		return y
	case IsTruth(y, false), IsTruth(x, true):
		return x
	}
	return &Binary{Node: Node{K: Bool, At: at}, Op: LogicOr, X: x, Y: y}
}

// NotOf returns !x. Equality is turned round, for NaN makes == false and !=
// true; the orderings are not.
func NotOf(at diag.Pos, x Expr) Expr {
	switch e := x.(type) {
	case *Const:
		return Truth(at, e.I == 0)
	case *Unary:
		if e.Op == Not {
			return e.X
		}
	case *Binary:
		switch e.Op {
		case Eq:
			return &Binary{Node: Node{K: Bool, At: at}, Op: Ne, X: e.X, Y: e.Y}
		case Ne:
			return &Binary{Node: Node{K: Bool, At: at}, Op: Eq, X: e.X, Y: e.Y}
		}
	}
	return &Unary{Node: Node{K: Bool, At: at}, Op: Not, X: x}
}

// WhereOf returns c ? a : b.
func WhereOf(at diag.Pos, c, a, b Expr) Expr {
	switch {
	case IsTruth(c, true), Key(a) == Key(b):
		return a
	case IsTruth(c, false):
		return b
	}
	if n, ok := c.(*Unary); ok && n.Op == Not {
		return WhereOf(at, n.X, b, a)
	}
	return &Where{Node: Node{K: a.Kind(), At: at}, C: c, A: a, B: b}
}

// CallOf returns the Float intrinsic fn of args.
func CallOf(at diag.Pos, fn Fn, args ...Expr) Expr {
	if fn == FnPow {
		switch {
		case IsNum(args[1], 1):
			return args[0]
		case IsNum(args[1], 0), IsNum(args[1], math.Copysign(0, -1)):
			return Num(at, 1)
		}
	}
	return &Call{Node: Node{K: Float, At: at}, Fn: fn, Args: args}
}

func binary(at diag.Pos, op BinaryOp, x, y Expr) Expr {
	return &Binary{Node: Node{K: x.Kind(), At: at}, Op: op, X: x, Y: y}
}

// negated returns x of -x, or of a negative constant.
func negated(e Expr) (Expr, bool) {
	switch e := e.(type) {
	case *Unary:
		if e.Op == Neg {
			return e.X, true
		}
	case *Const:
		if e.K == Float && e.F < 0 {
			return Num(e.At, -e.F), true
		}
		if e.K == Int && e.I < 0 && fitsInt32(-e.I) {
			return Whole(e.At, -e.I), true
		}
	}
	return nil, false
}

func isOne(e Expr) bool { return IsNum(e, 1) || IsWhole(e, 1) }

// isNothing reports whether adding e changes no value.
func isNothing(e Expr) bool { return IsNum(e, math.Copysign(0, -1)) || IsWhole(e, 0) }

func fitsInt32(v int64) bool { return v >= math.MinInt32 && v <= math.MaxInt32 }

// foldBinary computes x op y for two constants, or returns nil.
func foldBinary(at diag.Pos, op BinaryOp, x, y Expr) Expr {
	a, ok := x.(*Const)
	b, ok2 := y.(*Const)
	if !ok || !ok2 || a.K != b.K {
		return nil
	}
	switch a.K {
	case Float:
		return Num(at, floatOp(op, a.F, b.F))
	case Int:
		if !fitsInt32(a.I) || !fitsInt32(b.I) {
			return nil
		}
		if v := intOp(op, a.I, b.I); fitsInt32(v) {
			return Whole(at, v)
		}
	}
	return nil
}

func floatOp(op BinaryOp, a, b float64) float64 {
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	}
	return a / b
}

func intOp(op BinaryOp, a, b int64) int64 {
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	}
	return a * b
}

// foldCompare decides x op y where constants or the range of a position do.
func foldCompare(at diag.Pos, op BinaryOp, x, y Expr) Expr {
	if a, ok := x.(*Const); ok && a.K == Int {
		if b, ok := y.(*Const); ok && b.K == Int {
			return Truth(at, compareInts(op, a.I, b.I))
		}
	}
	if ix, ok := x.(*Index); ok {
		s, isSize := y.(*Size)
		inside := isSize && s.A == ix.A
		switch {
		case IsWhole(y, 0) && op == Ge, inside && op == Lt:
			return Truth(at, true)
		case IsWhole(y, 0) && op == Lt, inside && op == Ge:
			return Truth(at, false)
		}
	}
	if x.Kind() == Int && (op == Eq || op == Le || op == Ge) && Key(x) == Key(y) {
		return Truth(at, true)
	}
	return nil
}

func compareInts(op BinaryOp, a, b int64) bool {
	switch op {
	case Lt:
		return a < b
	case Le:
		return a <= b
	case Gt:
		return a > b
	case Ge:
		return a >= b
	case Eq:
		return a == b
	}
	return a != b
}
