package gpu

import (
	"fmt"

	"github.com/kernelgen/kgen/gen/ir"
)

// blockType is the type of a block of a matrix. The prelude has it.
func (p *Printer) blockType(e ir.Elem) string {
	name := "kg_block_" + e.String()
	p.Need(name)
	return name
}

// private declares an array of a thread's own.
func (p *Printer) private(a *ir.Array) {
	if p.Pairs && isHalf(a.Type) {
		p.Line("%s %s[%d];", p.Elem[ir.U32], Mangle(a.Name), a.Len/2)
		return
	}
	p.Line("%s %s[%d];", p.Elem[a.Type], Mangle(a.Name), a.Len)
}

func isHalf(e ir.Elem) bool { return e == ir.F16 || e == ir.BF16 }

// putHalf writes an element of a 16-bit type.
func (p *Printer) putHalf(s *ir.Put) {
	if !p.Pairs {
		p.Line("%s = %s(%s);", p.element(s.A, s.I), p.Elem[s.A.Type], p.expr(s.X))
		return
	}
	if !s.A.Private {
		p.Fail("a single element of a shared array of %s", s.A.Type)
		return
	}
	p.Need("kg_set")
	to := map[ir.Elem]string{ir.F16: p.ToF16, ir.BF16: "kg_to_bf16"}[s.A.Type]
	p.Line("kg_set(%s, %s, %s);", Mangle(s.A.Name), p.expr(s.I), p.convertTo(to, p.expr(s.X)))
}

func (p *Printer) block(m *ir.Matrix, i ir.Expr) string {
	return fmt.Sprintf("%s[%s]", Mangle(m.Name), p.expr(i))
}

// cell is a thread's element of a block of sums.
func (p *Printer) cell(e *ir.Cell) string {
	p.Need("kg_cell")
	return fmt.Sprintf("kg_cell(%s, %s)", p.block(e.M, e.I), p.expr(e.E))
}

// matrix prints statements about matrices, and those that move several elements.
func (p *Printer) matrix(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.MatrixClear:
		p.Need("kg_clear")
		p.Line("kg_clear(%s);", p.block(s.M, s.I))
	case *ir.MatrixLoad:
		name := "kg_load_left"
		if s.Right {
			name = "kg_load_right"
		}
		if s.Across {
			name += "_across"
		}
		p.Need(name)
		p.Line("%s(%s, %s, %s, %d);", name, p.block(s.M, s.I), Mangle(s.A.Name), p.expr(s.At), s.Pitch)
	case *ir.MatrixMultiply:
		p.Need("kg_multiply")
		p.Line("kg_multiply(%s, %s, %s);", p.block(s.Sum, s.I), p.block(s.Left, s.J), p.block(s.Right, s.K))
	case *ir.Fetch:
		name := "kg_fetch_" + s.B.Type.String()
		if s.To.Type == ir.F32 && s.To.Len == 8 {
			name = "kg_fetch8_" + s.B.Type.String()
		}
		p.Need(name)
		p.Line("%s(%s, &%s[%s]);", name, Mangle(s.To.Name), Mangle(s.B.Name), p.expr(s.Off))
	case *ir.Spread:
		p.spread(s)
	default:
		p.Fail("statement %T", s)
	}
}

// spread copies elements between a thread's own array and one that a group shares.
func (p *Printer) spread(s *ir.Spread) {
	name, to, from := fmt.Sprintf("kg_put%d", s.N), "&"+p.element(s.To, s.At), p.pointer(s.A.Name, s.I)
	if s.To.Private {
		name, to, from = fmt.Sprintf("kg_get%d", s.N), p.pointer(s.To.Name, s.At), "&"+p.element(s.A, s.I)
	}
	p.Need(name)
	p.Line("%s(%s, %s);", name, to, from)
}
