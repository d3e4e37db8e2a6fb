package ir

import (
	"fmt"
	"strings"
)

// Format prints f for people: `kgen explain --target ir`.
func Format(f *Func) string {
	w := &writer{}
	w.line("func %s%s", f.Symbol, map[bool]string{true: " simt", false: " vec"}[f.SIMT])
	for _, b := range f.Buffers {
		mode := "read"
		if b.Write {
			mode = "write"
		}
		for _, slot := range b.InPlace {
			mode += ", in place of " + f.Buffers[slot].Name
		}
		w.line("  buffer %d %s %s %s", b.Slot, b.Name, b.Type, mode)
	}
	for _, x := range f.Fields {
		w.line("  field %d %s %s", x.Offset, x.Name, x.Type)
	}
	for _, a := range f.Arrays {
		w.line("  array %s %s[%d]", a.Name, a.Type, a.Len)
	}
	for _, m := range f.Blocks {
		w.line("  blocks %s %s[%d]", m.Name, m.Type, m.Len)
	}
	w.depth = 1
	w.block(f.Body)
	return w.b.String()
}

var elemNames = [...]string{F32: "f32", I32: "i32", I64: "i64", U32: "u32", U64: "u64", Bool: "bool", F16: "f16", BF16: "bf16"}

func (e Elem) String() string { return elemNames[e] }

func (t Type) String() string {
	if t.Vec {
		return t.Elem.String() + "v"
	}
	return t.Elem.String()
}

var opNames = [...]string{
	Neg: "neg", Not: "not", Add: "add", Sub: "sub", Mul: "mul", Div: "div", Rem: "rem", Quo: "quo", Mod: "mod",
	Lt: "lt", Le: "le", Gt: "gt", Ge: "ge", Eq: "eq", Ne: "ne", And: "and", Or: "or", Xor: "xor", Shl: "shl", Shr: "shr",
}

func (o Op) String() string { return opNames[o] }

var foldNames = [...]string{"sum", "prod", "min", "max", "any", "all"}

func (f Fold) String() string { return foldNames[f] }

var idNames = [...]string{"item_lo", "item_hi", "group_x", "group_y", "group_z", "thread", "lane", "simdgroup", "threads", "matrix_row", "matrix_column"}

func (id ID) String() string { return idNames[id] }

type writer struct {
	b     strings.Builder
	depth int
}

func (w *writer) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", w.depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) block(stmts []Stmt) {
	w.depth++
	for _, s := range stmts {
		w.stmt(s)
	}
	w.depth--
}

func (w *writer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Decl:
		w.line("%s %s = %s", s.V.Name, s.V.Type, text(s.X))
	case *Assign:
		w.line("%s := %s", s.V.Name, text(s.X))
	case *For:
		w.line("for %s = %s to %s by %s", s.V.Name, text(s.From), text(s.To), text(s.Step))
		w.block(s.Body)
	case *If:
		w.line("if %s", text(s.C))
		w.block(s.Then)
		if len(s.Else) > 0 {
			w.line("else")
			w.block(s.Else)
		}
	case *Store:
		w.line("store %s[%s]%s = %s", s.B.Name, text(s.Off), lanes(s.Stride, s.N), text(s.X))
	case *Move:
		w.line("move %s[%s] rows %s apart [%s][%s] = %s[%s] by %s, %s", s.B.Name, text(s.Off), text(s.LD), text(s.Rows), text(s.Cols),
			s.Src.Name, text(s.From), text(s.RowStep), text(s.ColStep))
	case *Repeat:
		w.line("repeat %s[%s] rows %s apart [%s][%s] = %s", s.B.Name, text(s.Off), text(s.LD), text(s.Rows), text(s.Cols), text(s.X))
	case *Put:
		w.line("put %s[%s]%s = %s", s.A.Name, text(s.I), lanes(nil, s.N), text(s.X))
	case *LoadRun:
		w.line("load run %s[%s] of %d = %s", s.A.Name, text(s.At), s.N, text(s.X))
	case *StoreRun:
		w.line("store run %s[%s] of %d = %s[%s]", s.B.Name, text(s.Off), s.N, s.A.Name, text(s.At))
	case *Ahead:
		w.line("ahead, if %s", text(s.C))
		w.block(s.Body)
	case *Prefetch:
		w.line("prefetch %s[%s]", s.B.Name, text(s.Off))
	case *Barrier:
		w.line("barrier")
	case *Fault:
		w.line("fault %s[%s] = %s not in [0, %s)", s.B.Name, text(s.Pos), text(s.Value), text(s.Bound))
	case *Multiply:
		w.line("multiply %s[%s][%s] (first: %s) += %s·%s over %s", s.C.Name, text(s.Rows), text(s.Cols), text(s.First), s.A.Name, s.B.Name, text(s.K))
	case *Pack:
		w.line("pack %s %s[side %s][depth %s of %s]%s = %s", side(s.Right, s.AlongK), s.A.Name, text(s.At), text(s.K), text(s.Depth), lanes(nil, s.N), text(s.X))
	case *PackBlock:
		form := map[bool]string{false: "panels", true: "rows"}[s.Rows]
		w.line("pack %s of %s %s[%s][%s] from %s[%s] rows %s apart", form, side(s.Right, s.AlongK), s.A.Name, text(s.Count), text(s.Depth), s.B.Name, text(s.Off), text(s.LD))
	case *MultiplyPlain:
		w.line("multiply %s[%s][%s] (first: %s) += %s·(%s %s[%s] rows %s apart) over %s", s.C.Name, text(s.Rows), text(s.Cols), text(s.First),
			s.A.Name, side(true, s.AlongK), s.B.Name, text(s.Off), text(s.LD), text(s.K))
	case *Note:
		w.line("# %s", s.Text)
	default:
		w.line("%s", matrixText(s))
	}
}

// side names an operand of a product, and what its rows in memory run along.
func side(right, alongK bool) string {
	return map[bool]string{false: "left", true: "right"}[right] + " " + map[bool]string{false: "across", true: "along"}[alongK]
}

func lanes(stride, n Expr) string {
	s := ""
	if stride != nil {
		s += " stride " + text(stride)
	}
	if n != nil {
		s += " first " + text(n)
	}
	return s
}

func text(e Expr) string {
	switch e := e.(type) {
	case nil:
		return "_"
	case *Lit:
		if e.T.Elem == F32 {
			return fmt.Sprint(e.F)
		}
		return fmt.Sprint(e.I)
	case *Ref:
		return e.V.Name
	case *Get:
		return "args." + e.F.Name
	case *At:
		return fmt.Sprintf("%s[%s]", e.A.Name, text(e.I))
	case *Here:
		return e.ID.String()
	case *Lanes:
		return "lanes"
	case *Width:
		return "width"
	case *Run:
		return text(e.Base) + " + lanes"
	case *Un:
		return fmt.Sprintf("%s(%s)", e.Op, text(e.X))
	case *Bin:
		return fmt.Sprintf("%s(%s, %s)", e.Op, text(e.X), text(e.Y))
	case *Select:
		return fmt.Sprintf("select(%s, %s, %s)", text(e.C), text(e.A), text(e.B))
	case *Call:
		return fmt.Sprintf("%s(%s)", e.Fn, texts(e.Args))
	case *Conv:
		return fmt.Sprintf("%s(%s)", e.T, text(e.X))
	case *Load:
		s := fmt.Sprintf("load %s[%s]%s", e.B.Name, text(e.Off), lanes(e.Stride, e.N))
		if e.Len != nil {
			s = fmt.Sprintf("(%s at %s of %s else %s)", s, text(e.At), text(e.Len), text(e.Else))
		}
		if e.If != nil {
			s = fmt.Sprintf("(%s if %s else %s)", s, text(e.If), text(e.Else))
		}
		return s
	case *First:
		return fmt.Sprintf("first(%s)", text(e.N))
	case *Horizontal:
		return fmt.Sprintf("fold_%s(%s)", e.Fold, text(e.X))
	case *Shuffle:
		return fmt.Sprintf("shuffle_xor(%s, %d)", text(e.X), e.Mask)
	case *Winner:
		return fmt.Sprintf("winner(%s, %s)", text(e.Best), text(e.Index))
	case *Better:
		return fmt.Sprintf("better(%s, %s)", text(e.X), text(e.Best))
	case *Cell:
		return fmt.Sprintf("%s[%s].%s", e.M.Name, text(e.I), text(e.E))
	}
	return fmt.Sprintf("%T", e)
}

func texts(es []Expr) string {
	var ss []string
	for _, e := range es {
		ss = append(ss, text(e))
	}
	return strings.Join(ss, ", ")
}

// matrixText is a statement about matrices, or one that moves several elements.
func matrixText(s Stmt) string {
	switch s := s.(type) {
	case *MatrixClear:
		return fmt.Sprintf("clear %s[%s]", s.M.Name, text(s.I))
	case *MatrixLoad:
		return fmt.Sprintf("load %s of %s[%s] from %s[%s] rows %d apart", side(s.Right, s.Across), s.M.Name, text(s.I), s.A.Name, text(s.At), s.Pitch)
	case *MatrixMultiply:
		return fmt.Sprintf("multiply %s[%s] += %s[%s]·%s[%s]", s.Sum.Name, text(s.I), s.Left.Name, text(s.J), s.Right.Name, text(s.K))
	case *Fetch:
		return fmt.Sprintf("fetch %s[%d] from %s[%s]", s.To.Name, s.To.Len, s.B.Name, text(s.Off))
	case *Spread:
		return fmt.Sprintf("spread %s[%s] = %s[%s] over %d", s.To.Name, text(s.At), s.A.Name, text(s.I), s.N)
	}
	return fmt.Sprintf("%T", s)
}
