package expr

import (
	"math"
	"strconv"
	"strings"
)

// Format returns e in the syntax of the language, with no more parentheses
// than it needs. Parsed and checked again it gives the same expression.
func Format(e Expr) string {
	var f formatter
	f.expr(e, 0, false)
	return f.b.String()
}

type formatter struct{ b strings.Builder }

// The precedences of Go, and above them unary operators and operands.
const (
	precUnary   = 6
	precOperand = 7
)

var precedences = [...]int{
	LogicOr: 1, LogicAnd: 2,
	Lt: 3, Le: 3, Gt: 3, Ge: 3, Eq: 3, Ne: 3,
	Add: 4, Sub: 4, Or: 4, Xor: 4,
	Mul: 5, Div: 5, Rem: 5, Shl: 5, Shr: 5, And: 5,
}

// expr writes e where an operand of precedence prec or higher is wanted. With
// lax set, the reader converts an int to the kind of e by itself, so that a
// conversion or a decimal point may be left out.
func (f *formatter) expr(e Expr, prec int, lax bool) {
	switch e := e.(type) {
	case *Const:
		f.constant(e, prec, lax)
	case *ParamRef:
		f.b.WriteString(e.P.Name)
	case *Index:
		f.b.WriteString(e.A.Name)
	case *Size:
		f.b.WriteString("size(" + e.A.Name + ")")
	case *Flat:
		f.b.WriteString("flat(" + e.T.Name + ")")
	case *Read:
		f.b.WriteString(e.T.Name)
		if len(e.Idx) > 0 {
			f.list("[", e.Idx, "]", false)
		}
	case *Unary:
		f.unary(e, prec)
	case *Binary:
		f.binary(e, prec)
	case *Where:
		f.b.WriteString("where(")
		f.expr(e.C, 0, false)
		f.b.WriteString(", ")
		laxA, laxB := laxSides(e.A, e.B)
		f.expr(e.A, 0, laxA)
		f.b.WriteString(", ")
		f.expr(e.B, 0, laxB)
		f.b.WriteString(")")
	case *Call:
		f.call(e)
	case *Convert:
		f.convert(e, prec, lax)
	case *Stop:
		f.list("stop(", []Expr{e.X}, ")", false)
	}
}

func (f *formatter) list(open string, es []Expr, end string, lax bool) {
	f.b.WriteString(open)
	for i, e := range es {
		if i > 0 {
			f.b.WriteString(", ")
		}
		f.expr(e, 0, lax)
	}
	f.b.WriteString(end)
}

// parens runs write in parentheses if the operator binds less than prec asks.
func (f *formatter) parens(own, prec int, write func()) {
	if own >= prec {
		write()
		return
	}
	f.b.WriteByte('(')
	write()
	f.b.WriteByte(')')
}

func (f *formatter) unary(e *Unary, prec int) {
	op := "-"
	if e.Op == Not {
		op = "!"
	}
	f.parens(precUnary, prec, func() {
		f.b.WriteString(op)
		// The operand of a minus is an operand, so that two never meet.
		f.expr(e.X, precOperand, false)
	})
}

func (f *formatter) binary(e *Binary, prec int) {
	own := precedences[e.Op]
	laxX, laxY := laxSides(e.X, e.Y)
	f.parens(own, prec, func() {
		f.expr(e.X, own, laxX)
		f.b.WriteString(" " + e.Op.String() + " ")
		f.expr(e.Y, own+1, laxY)
	})
}

func (f *formatter) call(e *Call) {
	// The kinds of most operands are fixed; min and max take those they get.
	if (e.Fn == FnMin || e.Fn == FnMax) && len(e.Args) == 2 {
		laxX, laxY := laxSides(e.Args[0], e.Args[1])
		f.b.WriteString(e.Fn.String() + "(")
		f.expr(e.Args[0], 0, laxX)
		f.b.WriteString(", ")
		f.expr(e.Args[1], 0, laxY)
		f.b.WriteString(")")
		return
	}
	f.list(e.Fn.String()+"(", e.Args, ")", e.Fn != FnAbs)
}

// laxSides says which of two operands of one kind may be written as an int:
// one of them, if the other is sure to have the kind.
func laxSides(x, y Expr) (bool, bool) {
	return canBeInt(x) && !canBeInt(y), canBeInt(y) && !canBeInt(x)
}

// canBeInt reports whether e may be written without its conversion from int.
func canBeInt(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		return e.K != Bool && e.K != Int
	case *Convert:
		return e.K == Float && e.Round == InvalidDType
	}
	return false
}

func (f *formatter) convert(e *Convert, prec int, lax bool) {
	_, literal := e.X.(*Const)
	if lax && canBeInt(e) && e.X.Kind() == Int && !literal && intDivision(e.X) == nil {
		f.expr(e.X, prec, false)
		return
	}
	name := "f32"
	switch {
	case e.Round != InvalidDType:
		name = e.Round.String()
	case e.K == Int:
		name = "i32"
	case e.K == Uint:
		name = "u32"
	case e.K == Uint64:
		name = "u64"
	}
	f.list(name+"(", []Expr{e.X}, ")", false)
}

func (f *formatter) constant(c *Const, prec int, lax bool) {
	s := formatConst(c, lax)
	own := precOperand
	if strings.HasPrefix(s, "-") {
		own = precUnary
	}
	f.parens(own, prec, func() { f.b.WriteString(s) })
}

func formatConst(c *Const, lax bool) string {
	switch c.K {
	case Bool:
		return strconv.FormatBool(c.I != 0)
	case Int:
		return strconv.FormatInt(c.I, 10)
	case Uint, Uint64:
		s := strconv.FormatUint(c.U, 10)
		switch {
		case lax && c.U <= math.MaxInt64 || c.U > math.MaxInt64:
			return s
		case c.K == Uint:
			return "u32(" + s + ")"
		}
		return "u64(" + s + ")"
	}
	return formatFloat(c.F, lax)
}

func formatFloat(v float64, lax bool) string {
	switch {
	case math.IsNaN(v):
		return "nan()"
	case math.IsInf(v, 1):
		return "inf()"
	case math.IsInf(v, -1):
		return "-inf()"
	}
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if strings.ContainsAny(s, ".e") {
		return s
	}
	if lax && float64(float32(v)) == v && !(v == 0 && math.Signbit(v)) {
		return s
	}
	return s + ".0"
}
