package c

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/ir"
)

// printer prints one function.
type printer struct {
	fn     *ir.Func
	out    bytes.Buffer
	indent int
	err    error
}

func (p *printer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *printer) line(format string, args ...any) {
	p.out.WriteString(strings.Repeat("\t", p.indent))
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

func (p *printer) function() {
	for _, l := range wrap(p.fn.Doc, 76) {
		p.line("// %s", l)
	}
	p.line("static void KG_NAME(%s)(const kg_call *call, int64_t lo, int64_t hi) {", p.fn.Symbol)
	p.indent++
	for _, b := range p.fn.Buffers {
		c, restrict := "const ", "restrict "
		if b.Write {
			c = ""
		}
		if p.fn.MayAlias(b) {
			restrict = ""
		}
		p.line("%s%s *%s%s = call->buf[%d];", c, storage[b.Type].typ, restrict, mangle(b.Name), b.Slot)
	}
	if len(p.fn.Fields) > 0 {
		p.line("const %s_args *args = call->block;", p.fn.Symbol)
		p.line("(void)args;")
	}
	offset := int64(0)
	for _, a := range p.fn.Arrays {
		p.line("float *restrict %s = (float *)call->scratch + %d;", mangle(a.Name), offset)
		offset += (a.Len*4 + 63) / 64 * 16
	}
	p.block(p.fn.Body)
	p.indent--
	p.line("}")
}

func (p *printer) block(stmts []ir.Stmt) {
	for _, s := range stmts {
		p.stmt(s)
	}
}

func (p *printer) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Decl:
		c := "const "
		if s.V.Mut {
			c = ""
		}
		p.line("%s%s %s = %s;", c, typeName(s.V.Type), mangle(s.V.Name), p.expr(s.X, loosest))
	case *ir.Assign:
		p.assign(s)
	case *ir.For:
		p.loop(s)
	case *ir.If:
		p.line("if (%s) {", p.expr(s.C, loosest))
		p.body(s.Then)
		if len(s.Else) > 0 {
			p.line("} else {")
			p.body(s.Else)
		}
		p.line("}")
	case *ir.Store:
		p.store(s)
	case *ir.Move:
		p.line("kg_move_%d(%s, %s, %s, %s, %s, %s, %s);", 8*s.B.Type.Bytes(), p.element(s.B, s.Off), p.expr(s.LD, loosest),
			p.element(s.Src, s.From), p.expr(s.RowStep, loosest), p.expr(s.ColStep, loosest), p.expr(s.Rows, loosest), p.expr(s.Cols, loosest))
	case *ir.Repeat:
		p.line("kg_repeat_%s(%s, %s, %s, %s, %s);", storage[s.B.Type].suffix, p.element(s.B, s.Off), p.expr(s.LD, loosest),
			p.expr(s.X, loosest), p.expr(s.Rows, loosest), p.expr(s.Cols, loosest))
	case *ir.Put:
		p.put(s)
	case *ir.Fault:
		p.line("kg_fault_set(call, %d, %s, %s, %s);", s.B.Arg, p.expr(s.Pos, loosest), p.expr(s.Value, loosest), p.expr(s.Bound, loosest))
	case *ir.Multiply:
		p.line("kg_gemm_block(%s, %s, %s, %s, %s, %s, %d, !(%s));", mangle(s.A.Name), mangle(s.B.Name),
			p.expr(s.Rows, loosest), p.expr(s.Cols, loosest), p.expr(s.K, loosest), mangle(s.C.Name), s.LDC, p.expr(s.First, loosest))
	case *ir.MultiplyPlain:
		along := map[bool]string{false: "n", true: "k"}[s.AlongK]
		p.line("kg_thin_%s_%s(%s, %s, %s, %s, %s, %s, %s, %d, !(%s));", along, storage[s.B.Type].suffix, mangle(s.A.Name),
			p.expr(s.Rows, loosest), p.address(s.B, s.Off), p.expr(s.LD, loosest), p.expr(s.Cols, loosest), p.expr(s.K, loosest),
			mangle(s.C.Name), s.LDC, p.expr(s.First, loosest))
	case *ir.Pack:
		p.pack(s)
	case *ir.PackBlock:
		p.packBlock(s)
	case *ir.Note:
		p.line("// %s", s.Text)
	default:
		p.fail("%T has no text in C", s)
	}
}

func (p *printer) body(stmts []ir.Stmt) {
	p.indent++
	p.block(stmts)
	p.indent--
}

// assign prints v = x, as v op= y where x is v op y.
func (p *printer) assign(s *ir.Assign) {
	if b, ok := s.X.(*ir.Bin); ok && b.Op <= ir.Mul {
		if r, ok := b.X.(*ir.Ref); ok && r.V == s.V {
			p.line("%s %s= %s;", mangle(s.V.Name), operators[b.Op].text, p.expr(b.Y, loosest))
			return
		}
	}
	p.line("%s = %s;", mangle(s.V.Name), p.expr(s.X, loosest))
}

func (p *printer) loop(s *ir.For) {
	v := mangle(s.V.Name)
	init := ""
	if s.From != nil {
		init = fmt.Sprintf("int64_t %s = %s", v, p.expr(s.From, loosest))
	}
	step := v + "++"
	if l, ok := s.Step.(*ir.Lit); !ok || l.I != 1 {
		step = v + " += " + p.expr(s.Step, loosest)
	}
	if s.Unroll {
		p.line("#pragma GCC unroll 16")
	}
	p.line("for (%s; %s < %s; %s) {", init, v, p.expr(s.To, additive), step)
	p.body(s.Body)
	p.line("}")
}

func (p *printer) store(s *ir.Store) {
	suffix := storage[s.B.Type].suffix
	at, x := p.address(s.B, s.Off), p.expr(s.X, loosest)
	switch {
	case s.Stride != nil:
		p.fail("a strided store")
	case !s.X.Type().Vec:
		p.line("kg_st_%s(%s, %s);", suffix, at, x)
	case s.N != nil:
		p.line("kg_storen_%s(%s, %s, %s);", suffix, at, x, p.expr(s.N, loosest))
	default:
		p.line("kg_store_%s(%s, %s);", suffix, at, x)
	}
}

// put prints the store of an element, or of a vector, into an array.
func (p *printer) put(s *ir.Put) {
	at, x := mangle(s.A.Name)+" + "+p.expr(s.I, additive), p.expr(s.X, loosest)
	switch {
	case !s.X.Type().Vec:
		p.line("%s[%s] = %s;", mangle(s.A.Name), p.expr(s.I, loosest), x)
	case s.N != nil:
		p.line("kg_storen_f32(%s, %s, %s);", at, x, p.expr(s.N, loosest))
	default:
		p.line("kg_store_f32(%s, %s);", at, x)
	}
}

// pack prints the store of an element, or of a vector, into packed panels.
func (p *printer) pack(s *ir.Pack) {
	side := "a"
	if s.Right {
		side = "b"
	}
	args := fmt.Sprintf("%s, %s, %s, %s, %s", mangle(s.A.Name), p.expr(s.At, loosest), p.expr(s.K, loosest), p.expr(s.Depth, loosest), p.expr(s.X, loosest))
	if !s.X.Type().Vec {
		p.line("kg_put_%s(%s);", side, args)
		return
	}
	along := "side"
	if s.AlongK {
		along = "depth"
	}
	n := "KG_W"
	if s.N != nil {
		n = p.expr(s.N, loosest)
	}
	p.line("kg_put_%s_%s(%s, %s);", side, along, args, n)
}

// packBlock prints the packing of a plain matrix.
func (p *printer) packBlock(s *ir.PackBlock) {
	name, sizes := "kg_packa_", p.expr(s.Count, loosest)+", "+p.expr(s.Depth, loosest)
	across := "m"
	if s.Right {
		name, sizes = "kg_packb_", p.expr(s.Depth, loosest)+", "+p.expr(s.Count, loosest)
		across = "n"
	}
	if s.Rows {
		name = "kg_rows_"
	}
	if s.AlongK {
		across = "k"
	}
	p.line("%s%s_%s(%s, %s, %s, %s);", name, across, storage[s.B.Type].suffix, mangle(s.A.Name), p.address(s.B, s.Off), p.expr(s.LD, loosest), sizes)
}
