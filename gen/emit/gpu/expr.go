package gpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// The precedences of C++, as far as the output has them.
const (
	precChoice = iota + 1
	precOr
	precAnd
	precBitOr
	precBitXor
	precBitAnd
	precEqual
	precLess
	precShift
	precAdd
	precMul
	precUnary
	precAtom
)

// expr is the text of e.
func (p *Printer) expr(e ir.Expr) string {
	s, _ := p.text(e)
	return s
}

// at is the text of e as an operand that must bind at least as tightly as prec.
func (p *Printer) at(e ir.Expr, prec int) string {
	s, got := p.text(e)
	if got < prec {
		return "(" + s + ")"
	}
	return s
}

// text is the text of e and how tightly it binds.
func (p *Printer) text(e ir.Expr) (string, int) {
	if e.Type().Vec {
		p.Fail("vector value %T", e)
		return "", precAtom
	}
	switch e := e.(type) {
	case *ir.Lit:
		return p.literal(e)
	case *ir.Ref:
		return Mangle(e.V.Name), precAtom
	case *ir.Get:
		id := p.fields[e.F]
		if e.F.Type == ir.I64 {
			return id, precAtom
		}
		return p.Args + id, precAtom
	case *ir.At:
		return p.element(e.A, e.I), precAtom
	case *ir.Here:
		return p.position(e.ID), precAtom
	case *ir.Un:
		return p.unary(e)
	case *ir.Bin:
		return p.binary(e)
	case *ir.Select:
		return p.choice(e)
	case *ir.Call:
		return p.call(e), precAtom
	case *ir.Conv:
		return p.convert(e)
	case *ir.Load:
		return p.load(e)
	case *ir.Horizontal:
		return p.horizontal(e), precAtom
	case *ir.Shuffle:
		return fmt.Sprintf(p.Shuffle, p.expr(e.X), e.Mask), precAtom
	case *ir.Better:
		return p.better(e)
	case *ir.Cell:
		return p.cell(e), precAtom
	}
	p.Fail("expression %T", e)
	return "", precAtom
}

func (p *Printer) valueType(t ir.Type) string {
	if t.Vec {
		p.Fail("vector variable")
	}
	return p.Elem[t.Elem]
}

func (p *Printer) element(a *ir.Array, i ir.Expr) string {
	return fmt.Sprintf("%s[%s]", Mangle(a.Name), p.expr(i))
}

func (p *Printer) position(id ir.ID) string { return p.Elem[ir.I64] + "(" + p.Positions[id] + ")" }

func (p *Printer) literal(l *ir.Lit) (string, int) {
	s := ""
	switch l.T.Elem {
	case ir.F32:
		s = float(l.F)
	case ir.Bool:
		return strconv.FormatBool(l.I != 0), precAtom
	case ir.U32:
		return fmt.Sprintf("%du", uint32(l.I)), precAtom
	case ir.U64:
		return fmt.Sprintf("%d%s", uint64(l.I), p.U64Suffix), precAtom
	default:
		if l.I == math.MinInt32 { // its digits alone are a long
			return "(-2147483647 - 1)", precAtom
		}
		s = strconv.FormatInt(l.I, 10)
	}
	if s[0] == '-' {
		return s, precUnary
	}
	return s, precAtom
}

// float is x rounded to f32, in the fewest digits that give it back.
func float(x float64) string {
	f := float32(x)
	switch {
	case math.IsNaN(x):
		return "NAN"
	case math.IsInf(float64(f), 1):
		return "INFINITY"
	case math.IsInf(float64(f), -1):
		return "-INFINITY"
	}
	s := strconv.FormatFloat(float64(f), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f"
}

func (p *Printer) unary(e *ir.Un) (string, int) {
	if e.Op == ir.Neg && p.data.has(e) {
		return p.helper(wrapping[ir.Neg], e.X), precAtom
	}
	x := p.at(e.X, precUnary)
	if e.Op == ir.Not {
		return "!" + x, precUnary
	}
	if x[0] == '-' {
		x = "(" + x + ")"
	}
	return "-" + x, precUnary
}

// operator is an infix operator: its text, how tightly it binds and how tightly
// its operands must.
type operator struct {
	text                    string
	prec, leftMin, rightMin int
}

// Logical and bitwise operators have their operands in parentheses, unless those
// bind more tightly in every reader's mind.
var operators = map[ir.Op]operator{
	ir.Add: {"+", precAdd, precAdd, precMul},
	ir.Sub: {"-", precAdd, precAdd, precMul},
	ir.Mul: {"*", precMul, precMul, precUnary},
	ir.Div: {"/", precMul, precMul, precUnary},
	ir.Quo: {"/", precMul, precMul, precUnary},
	ir.Mod: {"%", precMul, precMul, precUnary},
	ir.Lt:  {"<", precLess, precShift, precShift},
	ir.Le:  {"<=", precLess, precShift, precShift},
	ir.Gt:  {">", precLess, precShift, precShift},
	ir.Ge:  {">=", precLess, precShift, precShift},
	ir.Eq:  {"==", precEqual, precShift, precShift},
	ir.Ne:  {"!=", precEqual, precShift, precShift},
	ir.Shl: {"<<", precShift, precUnary, precUnary},
	ir.Shr: {">>", precShift, precUnary, precUnary},
	ir.And: {"&", precBitAnd, precUnary, precUnary},
	ir.Xor: {"^", precBitXor, precUnary, precUnary},
	ir.Or:  {"|", precBitOr, precUnary, precUnary},
}

var logical = map[ir.Op]operator{
	ir.And: {"&&", precAnd, precAnd, precEqual},
	ir.Or:  {"||", precOr, precEqual, precEqual},
	ir.Xor: {"!=", precEqual, precShift, precShift},
}

func (p *Printer) binary(e *ir.Bin) (string, int) {
	elem := e.X.Type().Elem
	if elem != ir.F32 && (e.Op == ir.Div || e.Op == ir.Rem) {
		return p.floored(e), precAtom
	}
	if elem == ir.F32 && e.Op == ir.Div && e.Rough && p.RoughDiv != "" {
		return p.helper(p.RoughDiv, e.X, e.Y), precAtom
	}
	if name := wrapping[e.Op]; name != "" && p.data.has(e) {
		return p.helper(name, e.X, e.Y), precAtom
	}
	op, ok := operators[e.Op]
	if elem == ir.Bool && e.Op >= ir.And && e.Op <= ir.Xor {
		op = logical[e.Op]
		if b, is := e.X.(*ir.Bin); is && b.Op == e.Op && e.Op == ir.Or && b.X.Type().Elem == ir.Bool {
			op.leftMin = precOr
		}
	}
	if !ok {
		p.Fail("operator %s on %s", e.Op, e.X.Type())
	}
	return p.at(e.X, op.leftMin) + " " + op.text + " " + p.at(e.Y, op.rightMin), op.prec
}

// floored is the division of integers, and its remainder, that rounds down.
func (p *Printer) floored(e *ir.Bin) string {
	words := map[ir.Elem]string{ir.U32: "uint", ir.U64: "ulong"}
	name := "kg_floor_div"
	if e.Op == ir.Rem {
		name = "kg_floor_mod"
	}
	switch e.X.Type().Elem {
	case ir.U32, ir.U64:
		name = strings.Replace(name, "floor", words[e.X.Type().Elem], 1)
	}
	return p.helper(name, e.X, e.Y)
}

// convertTo is the text of a conversion by a type or a function of the prelude.
func (p *Printer) convertTo(name, x string) string {
	if strings.HasPrefix(name, "kg_") {
		p.Need(name)
	}
	return name + "(" + x + ")"
}

// helper is a call of a prelude function.
func (p *Printer) helper(name string, args ...ir.Expr) string {
	p.Need(name)
	return p.apply(name, args...)
}

func (p *Printer) apply(name string, args ...ir.Expr) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = p.expr(a)
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

// ofInts is a call of a function whose arguments must be of one type, which constants
// take on.
func (p *Printer) ofInts(name string, args ...ir.Expr) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = p.expr(a)
		if l, ok := a.(*ir.Lit); ok && l.T.Elem == ir.I64 {
			texts[i] = p.Elem[ir.I64] + "(" + texts[i] + ")"
		}
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

func (p *Printer) choice(e *ir.Select) (string, int) {
	if c, ok := e.C.(*ir.Bin); ok && c.Op == ir.Lt && c.X == e.A && c.Y == e.B && e.A.Type().Elem == ir.I64 {
		return p.ofInts("min", e.A, e.B), precAtom
	}
	if p.Choose != "" && e.A.Type().Elem == ir.F32 && (computes(e.A) || computes(e.B)) {
		return p.helper(p.Choose, e.C, e.A, e.B), precAtom
	}
	return p.at(e.C, precOr) + " ? " + p.at(e.A, precOr) + " : " + p.at(e.B, precChoice), precChoice
}

// computes reports whether e calls a function, and reads nothing that another value may
// have to be there for.
func computes(e ir.Expr) bool {
	calls, reads := false, false
	ir.WalkExpr(e, func(e ir.Expr) {
		switch e.(type) {
		case *ir.Call:
			calls = true
		case *ir.Load, *ir.At:
			reads = true
		}
	})
	return calls && !reads
}

func (p *Printer) convert(e *ir.Conv) (string, int) {
	from, to := e.X.Type().Elem, e.T.Elem
	switch {
	case e.Round == expr.F16:
		return p.convertTo(p.FromF16, p.convertTo(p.ToF16, p.expr(e.X))), precAtom
	case e.Round == expr.BF16:
		return p.convertTo("kg_from_bf16", p.convertTo("kg_to_bf16", p.expr(e.X))), precAtom
	case p.Elem[from] == p.Elem[to]:
		return p.text(e.X)
	case to == ir.Bool:
		return p.at(e.X, precShift) + " != 0", precEqual
	case from == ir.F32 && (to == ir.I32 || to == ir.I64):
		return p.helper("kg_to_int", e.X), precAtom
	}
	return p.apply(p.Elem[to], e.X), precAtom
}

// load is an element as a value, or what stands for it where it may not be read.
func (p *Printer) load(e *ir.Load) (string, int) {
	if e.Stride != nil || e.N != nil {
		p.Fail("a vector load")
	}
	s := fmt.Sprintf("%s[%s]", Mangle(e.B.Name), p.expr(e.Off))
	switch e.B.Type {
	case expr.F16:
		s = p.convertTo(p.FromF16, s)
	case expr.BF16:
		s = p.convertTo("kg_from_bf16", s)
	case expr.U8:
		s = "int(" + s + ")"
	}
	if e.If == nil {
		return s, precAtom
	}
	return p.at(e.If, precOr) + " ? " + s + " : " + p.at(e.Else, precChoice), precChoice
}

// better is whether X takes the place of Best; a NaN does, but of another NaN.
func (p *Printer) better(e *ir.Better) (string, int) {
	if e.X.Type().Elem == ir.F32 {
		name := "kg_above"
		if e.Min {
			name = "kg_below"
		}
		return p.helper(name, e.X, e.Best), precAtom
	}
	op := ">"
	if e.Min {
		op = "<"
	}
	return p.at(e.X, precShift) + " " + op + " " + p.at(e.Best, precShift), precLess
}
