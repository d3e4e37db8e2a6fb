package msl

import (
	"fmt"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

func (p *printer) stmts(list []ir.Stmt) {
	for _, s := range list {
		p.stmt(s)
	}
}

func (p *printer) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Decl:
		qual := "const "
		if s.V.Mut {
			qual = ""
		}
		p.line("%s%s %s = %s;", qual, p.valueType(s.V.Type), mangle(s.V.Name), p.expr(s.X))
	case *ir.Assign:
		p.assign(mangle(s.V.Name), s.X)
	case *ir.For:
		p.loop(s)
	case *ir.If:
		p.branch(s)
	case *ir.Store:
		if s.Stride != nil || s.N != nil {
			p.fail("a vector store")
		}
		p.store(s)
	case *ir.Put:
		p.assign(p.element(s.A, s.I), s.X)
	case *ir.Barrier:
		flags := "mem_flags::mem_threadgroup"
		if s.Device {
			flags += " | mem_flags::mem_device"
		}
		p.line("threadgroup_barrier(%s);", flags)
	case *ir.Fault:
		p.used.need("kg_fault_set")
		p.line("kg_fault_set(fault, %d, %s, %s, %s);", s.B.Arg, p.expr(s.Pos), p.expr(s.Value), p.expr(s.Bound))
	case *ir.Note:
		p.line("// %s", s.Text)
	default:
		p.fail("statement %T", s)
	}
}

// compound are the operators that an assignment can carry.
var compound = map[ir.Op]string{ir.Add: "+=", ir.Sub: "-=", ir.Mul: "*="}

// assign writes target = x, shortened where x starts with the target itself.
func (p *printer) assign(target string, x ir.Expr) {
	if b, ok := x.(*ir.Bin); ok && b.Type().Elem != ir.Bool {
		if op, ok := compound[b.Op]; ok && p.expr(b.X) == target {
			p.line("%s %s %s;", target, op, p.expr(b.Y))
			return
		}
	}
	p.line("%s = %s;", target, p.expr(x))
}

func (p *printer) loop(s *ir.For) {
	v := mangle(s.V.Name)
	init := ""
	if s.From != nil {
		init = fmt.Sprintf("int %s = %s", v, p.expr(s.From))
	}
	step := fmt.Sprintf("%s += %s", v, p.expr(s.Step))
	if lit, ok := s.Step.(*ir.Lit); ok && lit.I == 1 {
		step = "++" + v
	}
	if s.Unroll {
		p.line("#pragma unroll")
	}
	p.line("for (%s; %s < %s; %s) {", init, v, p.at(s.To, precShift), step)
	p.nested(s.Body)
	p.line("}")
}

func (p *printer) branch(s *ir.If) {
	p.line("if (%s) {", p.expr(s.C))
	p.nested(s.Then)
	if len(s.Else) > 0 {
		p.line("} else {")
		p.nested(s.Else)
	}
	p.line("}")
}

func (p *printer) nested(list []ir.Stmt) {
	p.depth++
	p.stmts(list)
	p.depth--
}

// store writes an element, rounded to the type of its buffer.
func (p *printer) store(s *ir.Store) {
	target := fmt.Sprintf("%s[%s]", mangle(s.B.Name), p.expr(s.Off))
	switch s.B.Type {
	case expr.F16:
		p.line("%s = half(%s);", target, p.expr(s.X))
	case expr.BF16:
		p.used.need("kg_to_bf16")
		p.line("%s = kg_to_bf16(%s);", target, p.expr(s.X))
	case expr.U8:
		p.line("%s = uchar(%s);", target, p.expr(s.X))
	default:
		p.assign(target, s.X)
	}
}
