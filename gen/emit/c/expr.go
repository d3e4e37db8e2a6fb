package c

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

var scalarTypes = [...]string{
	ir.F32: "float", ir.I32: "int32_t", ir.I64: "int64_t",
	ir.U32: "uint32_t", ir.U64: "uint64_t", ir.Bool: "int",
}

var vectorTypes = [...]string{
	ir.F32: "vf", ir.I32: "vi", ir.I64: "", ir.U32: "vu", ir.U64: "", ir.Bool: "vm",
}

func typeName(t ir.Type) string {
	if t.Vec {
		return vectorTypes[t.Elem]
	}
	return scalarTypes[t.Elem]
}

// storage names the element types of buffers: the C type, and the suffix of the
// functions that load and store it.
var storage = map[expr.DType]struct{ typ, suffix string }{
	expr.F32:  {"float", "f32"},
	expr.F16:  {"kg_f16", "f16"},
	expr.BF16: {"kg_bf16", "bf16"},
	expr.I32:  {"int32_t", "i32"},
	expr.U8:   {"uint8_t", "u8"},
}

// Binding strengths of C's operators, tightest last.
const (
	loosest = iota
	ternary
	logicalOr
	logicalAnd
	bitOr
	bitXor
	bitAnd
	equality
	relational
	shift
	additive
	multiplicative
	prefix
	postfix
)

type operator struct {
	text string
	prec int
}

var operators = [...]operator{
	ir.Add: {"+", additive}, ir.Sub: {"-", additive},
	ir.Mul: {"*", multiplicative}, ir.Div: {"/", multiplicative},
	ir.Quo: {"/", multiplicative}, ir.Mod: {"%", multiplicative},
	ir.Lt: {"<", relational}, ir.Le: {"<=", relational},
	ir.Gt: {">", relational}, ir.Ge: {">=", relational},
	ir.Eq: {"==", equality}, ir.Ne: {"!=", equality},
	ir.And: {"&", bitAnd}, ir.Or: {"|", bitOr}, ir.Xor: {"^", bitXor},
	ir.Shl: {"<<", shift}, ir.Shr: {">>", shift},
}

// expr prints e so that it can stand as an operand of strength prec.
func (p *printer) expr(e ir.Expr, prec int) string {
	s, own := p.text(e)
	if own < prec {
		return "(" + s + ")"
	}
	return s
}

func (p *printer) text(e ir.Expr) (string, int) {
	switch e := e.(type) {
	case *ir.Lit:
		return literal(e), literalPrec(e)
	case *ir.Ref:
		return mangle(e.V.Name), postfix
	case *ir.Get:
		return "args->" + mangle(e.F.Name), postfix
	case *ir.At:
		if e.Vec {
			return fmt.Sprintf("kg_load_f32(%s + %s)", mangle(e.A.Name), p.expr(e.I, additive)), postfix
		}
		return fmt.Sprintf("%s[%s]", mangle(e.A.Name), p.expr(e.I, loosest)), postfix
	case *ir.Here:
		if e.ID == ir.ItemLo {
			return "lo", postfix
		}
		return "hi", postfix
	case *ir.Lanes:
		return "kg_iota()", postfix
	case *ir.Width:
		return "KG_W", postfix
	case *ir.Un:
		return p.unary(e)
	case *ir.Bin:
		return p.binary(e)
	case *ir.Select:
		return p.choose(e)
	case *ir.Call:
		return p.call(e), postfix
	case *ir.Conv:
		return p.conv(e)
	case *ir.Load:
		return p.load(e)
	case *ir.First:
		return "kg_first(" + p.expr(e.N, loosest) + ")", postfix
	case *ir.Horizontal:
		name := horizontals[e.Fold]
		if e.X.Type().Elem == ir.I32 {
			name += "i"
		}
		return name + "(" + p.expr(e.X, loosest) + ")", postfix
	case *ir.Winner:
		name := "kg_hargmax"
		if e.Min {
			name = "kg_hargmin"
		}
		return fmt.Sprintf("%s(%s, %s)", name, p.expr(e.Best, loosest), p.expr(e.Index, loosest)), postfix
	case *ir.Better:
		return p.better(e)
	}
	p.fail("%T has no text in C", e)
	return "0", postfix
}

func literalPrec(e *ir.Lit) int {
	if e.F < 0 || e.I < 0 || math.Signbit(e.F) {
		return prefix
	}
	return postfix
}

func literal(e *ir.Lit) string {
	switch e.T.Elem {
	case ir.F32:
		return Float(e.F)
	case ir.U32:
		return strconv.FormatUint(uint64(uint32(e.I)), 10) + "u"
	case ir.U64:
		return strconv.FormatUint(uint64(e.I), 10) + "ull"
	}
	if e.I == math.MinInt32 {
		return "INT32_MIN"
	}
	return strconv.FormatInt(e.I, 10)
}

// Float prints a float32 constant of C or MSL.
func Float(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NAN"
	case math.IsInf(f, 1):
		return "INFINITY"
	case math.IsInf(f, -1):
		return "-INFINITY"
	}
	s := strconv.FormatFloat(float64(float32(f)), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f"
}

func (p *printer) unary(e *ir.Un) (string, int) {
	op := "-"
	if e.Op == ir.Not {
		op = "!"
		if e.X.Type().Vec {
			op = "~"
		}
	}
	x := p.expr(e.X, prefix)
	if strings.HasPrefix(x, op) {
		x = "(" + x + ")"
	}
	return op + x, prefix
}

func (p *printer) binary(e *ir.Bin) (string, int) {
	t := e.X.Type()
	if t.Elem != ir.F32 && (e.Op == ir.Div || e.Op == ir.Rem) {
		name := map[bool]string{true: "kgi_", false: "kg_"}[!t.Vec]
		op := map[bool]string{true: "div", false: "rem"}[e.Op == ir.Div]
		if t.Vec {
			op += "i"
		}
		return fmt.Sprintf("%s%s(%s, %s)", name, op, p.expr(e.X, loosest), p.expr(e.Y, loosest)), postfix
	}
	o := operators[e.Op]
	if t.Elem == ir.Bool && !t.Vec {
		switch e.Op {
		case ir.And:
			o = operator{"&&", logicalAnd}
		case ir.Or:
			o = operator{"||", logicalOr}
		}
	}
	left, right := o.prec, o.prec+1
	if o.prec < additive && o.prec > ternary && !(o.prec == logicalAnd || o.prec == logicalOr) {
		left, right = additive, additive // plain to read, and no compiler warns
	}
	if o.prec == logicalOr { // a && b || c reads better, and warns less, with parentheses
		left, right = p.logicalSide(e.X), p.logicalSide(e.Y)
	}
	return p.expr(e.X, left) + " " + o.text + " " + p.expr(e.Y, right), o.prec
}

// logicalSide is the strength that an operand of || needs: an && gets
// parentheses, another || does not.
func (p *printer) logicalSide(e ir.Expr) int {
	if b, ok := e.(*ir.Bin); ok && b.Op == ir.Or {
		return logicalOr
	}
	return bitOr
}

func (p *printer) choose(e *ir.Select) (string, int) {
	if s, ok := p.minimum(e); ok {
		return s, postfix
	}
	if !e.C.Type().Vec {
		return p.expr(e.C, logicalOr) + " ? " + p.expr(e.A, ternary) + " : " + p.expr(e.B, ternary), ternary
	}
	name := "kg_select"
	if e.A.Type().Elem != ir.F32 {
		name = "kg_selecti"
	}
	return fmt.Sprintf("%s(%s, %s, %s)", name, p.expr(e.C, loosest), p.expr(e.A, loosest), p.expr(e.B, loosest)), postfix
}

// minimum prints x < y ? x : y of indices as a call.
func (p *printer) minimum(e *ir.Select) (string, bool) {
	c, ok := e.C.(*ir.Bin)
	if !ok || c.Op != ir.Lt || c.X != e.A || c.Y != e.B || e.A.Type() != ir.Scalar(ir.I64) {
		return "", false
	}
	return fmt.Sprintf("kgi_min(%s, %s)", p.expr(e.A, loosest), p.expr(e.B, loosest)), true
}

var horizontals = [...]string{
	ir.FoldSum: "kg_hsum", ir.FoldProd: "kg_hprod", ir.FoldMin: "kg_hmin",
	ir.FoldMax: "kg_hmax", ir.FoldAny: "kg_hany", ir.FoldAll: "kg_hall",
}

var functions = map[expr.Fn]string{
	expr.FnExp: "exp", expr.FnLog: "log", expr.FnLog1p: "log1p", expr.FnExpm1: "expm1",
	expr.FnTanh: "tanh", expr.FnErf: "erf", expr.FnSigmoid: "sigmoid", expr.FnSqrt: "sqrt",
	expr.FnRsqrt: "rsqrt", expr.FnAbs: "abs", expr.FnMin: "min", expr.FnMax: "max",
	expr.FnPow: "pow", expr.FnFMA: "fma", expr.FnFloor: "floor", expr.FnCeil: "ceil",
	expr.FnRound: "round", expr.FnSign: "sign", expr.FnIsNaN: "isnan", expr.FnIsInf: "isinf",
	expr.FnPhilox: "philox", expr.FnUniform: "uniform",
}

func (p *printer) call(e *ir.Call) string {
	name, ok := functions[e.Fn]
	if !ok {
		p.fail("intrinsic %d has no text in C", e.Fn)
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		if _, ok := a.(*ir.Run); !ok {
			args[i] = p.expr(a, loosest)
		}
	}
	if r, ok := e.Args[len(e.Args)-1].(*ir.Run); ok {
		return fmt.Sprintf("kg_philox_at(%s, %s)", args[0], p.expr(r.Base, loosest))
	}
	t := e.Args[0].Type()
	prefix := "kgs_"
	switch {
	case t.Vec:
		prefix = "kg_"
		if t.Elem == ir.I32 {
			name += "i"
		}
	case t.Elem == ir.I64 || t.Elem == ir.I32:
		prefix = "kgi_"
	}
	return prefix + name + "(" + strings.Join(args, ", ") + ")"
}

func (p *printer) conv(e *ir.Conv) (string, int) {
	from := e.X.Type()
	x := e.X
	if e.Round != expr.InvalidDType {
		s := "kg_round_" + storage[e.Round].suffix
		if !from.Vec {
			s = "kgs_round_" + storage[e.Round].suffix
		}
		if e.T.Vec == from.Vec {
			return s + "(" + p.expr(x, loosest) + ")", postfix
		}
		p.fail("a rounding splat")
	}
	if e.T.Vec && !from.Vec {
		return p.splat(e.T.Elem, x), postfix
	}
	if e.T.Vec {
		switch {
		case e.T.Elem == ir.F32 && from.Elem == ir.I32:
			return "kg_i2f(" + p.expr(x, loosest) + ")", postfix
		case e.T.Elem == ir.I32 && from.Elem == ir.F32:
			return "kg_to_int(" + p.expr(x, loosest) + ")", postfix
		case e.T.Elem == ir.Bool && from.Elem == ir.I32:
			return p.expr(x, additive) + " != kg_splati(0)", equality
		}
		p.fail("conversion of a vector from %d to %d", from.Elem, e.T.Elem)
	}
	if e.T.Elem == ir.Bool {
		return p.expr(x, additive) + " != 0", equality
	}
	if from.Elem == ir.I32 && e.T.Elem == ir.I64 { // C widens by itself
		return p.text(x)
	}
	if from.Elem == ir.F32 && (e.T.Elem == ir.I32 || e.T.Elem == ir.I64) {
		return "kgi_to_int(" + p.expr(x, loosest) + ")", postfix
	}
	return "(" + scalarTypes[e.T.Elem] + ")" + p.expr(x, prefix), prefix
}

func (p *printer) splat(to ir.Elem, x ir.Expr) string {
	arg := p.expr(x, loosest)
	switch to {
	case ir.F32:
		return "kg_splat(" + arg + ")"
	case ir.Bool:
		return "kg_splati(-(" + arg + "))"
	case ir.U32:
		return "kg_splatu(" + arg + ")"
	}
	if x.Type().Elem == ir.I64 {
		if _, ok := x.(*ir.Lit); !ok {
			arg = "(int32_t)" + p.expr(x, prefix)
		}
	}
	return "kg_splati(" + arg + ")"
}

func (p *printer) better(e *ir.Better) (string, int) {
	x, best := p.expr(e.X, prefix), p.expr(e.Best, prefix)
	cmp, and, or, isnan := ">", "&&", "||", "kgs_isnan"
	not := "!"
	if e.Min {
		cmp = "<"
	}
	if e.X.Type().Vec {
		and, or, not, isnan = "&", "|", "~", "kg_isnan"
	}
	return fmt.Sprintf("(%s %s %s) %s (%s(%s) %s %s%s(%s))", x, cmp, best, or, isnan, x, and, not, isnan, best), bitOr
}

// address prints buffer + offset.
func (p *printer) address(b *ir.Buffer, off ir.Expr) string {
	if l, ok := off.(*ir.Lit); ok && l.I == 0 {
		return mangle(b.Name)
	}
	return mangle(b.Name) + " + " + p.expr(off, additive)
}

// element is the address of an element whose offset may be a sum of terms that
// lie outside the buffer.
func (p *printer) element(b *ir.Buffer, off ir.Expr) string {
	return mangle(b.Name) + " + " + p.expr(off, multiplicative)
}

func (p *printer) load(e *ir.Load) (string, int) {
	s := storage[e.B.Type].suffix
	at := p.address(e.B, e.Off)
	var text string
	switch {
	case !e.Vec:
		text = fmt.Sprintf("kg_ld_%s(%s)", s, at)
	case e.Len != nil:
		text = fmt.Sprintf("kg_window_%s(%s, %s, %s, %s)", s, at, p.expr(e.At, loosest), p.expr(e.Len, loosest), p.splat(e.Type().Elem, e.Else))
	case e.Stride != nil:
		n := "KG_W"
		if e.N != nil {
			n = p.expr(e.N, loosest)
		}
		text = fmt.Sprintf("kg_gather_%s(%s, %s, %s)", s, at, p.expr(e.Stride, loosest), n)
	case e.N != nil:
		text = fmt.Sprintf("kg_loadn_%s(%s, %s)", s, at, p.expr(e.N, loosest))
	default:
		text = fmt.Sprintf("kg_load_%s(%s)", s, at)
	}
	if e.If == nil {
		return text, postfix
	}
	other := p.expr(e.Else, ternary)
	if e.Vec {
		other = p.splat(e.Type().Elem, e.Else)
	}
	return p.expr(e.If, logicalOr) + " ? " + text + " : " + other, ternary
}
