package gpu

import (
	"fmt"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

func (p *Printer) stmts(list []ir.Stmt) {
	for _, s := range list {
		p.stmt(s)
	}
}

func (p *Printer) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Decl:
		qual := "const "
		if s.V.Mut {
			qual = ""
		}
		p.Line("%s%s %s = %s;", qual, p.valueType(s.V.Type), Mangle(s.V.Name), p.expr(s.X))
	case *ir.Assign:
		p.assign(Mangle(s.V.Name), s.X)
	case *ir.For:
		p.loop(s)
	case *ir.If:
		p.branch(s)
	case *ir.Store:
		if s.Stride != nil || s.N != nil {
			p.Fail("a vector store")
		}
		p.store(s)
	case *ir.Put:
		if isHalf(s.A.Type) {
			p.putHalf(s)
			return
		}
		p.assign(p.element(s.A, s.I), s.X)
	case *ir.LoadRun:
		p.loadRun(s)
	case *ir.StoreRun:
		p.storeRun(s)
	case *ir.Ahead:
		if p.Prefetch != "" {
			p.branch(&ir.If{C: s.C, Then: s.Body})
		}
	case *ir.Prefetch:
		p.Need(p.Prefetch)
		p.Line("%s(%s);", p.Prefetch, p.pointer(s.B.Name, s.Off))
	case *ir.Barrier:
		p.Line("%s", p.Barrier(s.Device))
	case *ir.Fault:
		p.Need("kg_fault_set")
		p.Line("kg_fault_set(%s, %d, %s, %s, %s);", p.FaultArgs, s.B.Arg, p.expr(s.Pos), p.expr(s.Value), p.expr(s.Bound))
	case *ir.Note:
		p.Line("// %s", s.Text)
	default:
		p.matrix(s)
	}
}

// loadRun fills a run of an array.
func (p *Printer) loadRun(s *ir.LoadRun) {
	call := func(name, args string) {
		name = fmt.Sprintf("kg_%s_%sx%d", name, s.X.B.Type, s.N)
		p.Need(name)
		p.Line("%s(%s);", name, args)
	}
	to := p.pointer(s.A.Name, s.At)
	from := to + ", " + p.pointer(s.X.B.Name, s.X.Off)
	if s.X.If == nil {
		call("load", from)
		return
	}
	p.Line("if (%s) {", p.expr(s.X.If))
	p.depth++
	call("load", from)
	p.depth--
	p.Line("} else {")
	p.depth++
	p.Line("#pragma unroll")
	p.Line("for (int i = 0; i < %d; ++i) {", s.N)
	p.Line("	(%s)[i] = 0.0f;", to)
	p.Line("}")
	p.depth--
	p.Line("}")
}

// storeRun writes a run of an array.
func (p *Printer) storeRun(s *ir.StoreRun) {
	name := fmt.Sprintf("kg_store_%sx%d", s.B.Type, s.N)
	p.Need(name)
	p.Line("%s(%s, %s);", name, p.pointer(s.B.Name, s.Off), p.pointer(s.A.Name, s.At))
}

// pointer is a pointer into a buffer or an array.
func (p *Printer) pointer(name string, at ir.Expr) string {
	if l, ok := at.(*ir.Lit); ok && l.I == 0 {
		return Mangle(name)
	}
	return Mangle(name) + " + " + p.at(at, precAdd)
}

// compound are the operators that an assignment can carry.
var compound = map[ir.Op]string{ir.Add: "+=", ir.Sub: "-=", ir.Mul: "*="}

// assign writes target = x, shortened where x starts with the target itself.
func (p *Printer) assign(target string, x ir.Expr) {
	if b, ok := x.(*ir.Bin); ok && b.Type().Elem != ir.Bool {
		if op, ok := compound[b.Op]; ok && p.expr(b.X) == target {
			p.Line("%s %s %s;", target, op, p.expr(b.Y))
			return
		}
	}
	p.Line("%s = %s;", target, p.expr(x))
}

func (p *Printer) loop(s *ir.For) {
	v := Mangle(s.V.Name)
	init := ""
	if s.From != nil {
		init = fmt.Sprintf("%s %s = %s", p.valueType(s.V.Type), v, p.expr(s.From))
	}
	step := fmt.Sprintf("%s += %s", v, p.expr(s.Step))
	if lit, ok := s.Step.(*ir.Lit); ok && lit.I == 1 {
		step = "++" + v
	}
	if s.Unroll {
		p.Line("#pragma unroll")
	}
	p.Line("for (%s; %s < %s; %s) {", init, v, p.at(s.To, precShift), step)
	p.nested(s.Body)
	p.Line("}")
}

func (p *Printer) branch(s *ir.If) {
	p.Line("if (%s) {", p.expr(s.C))
	p.nested(s.Then)
	if len(s.Else) > 0 {
		p.Line("} else {")
		p.nested(s.Else)
	}
	p.Line("}")
}

func (p *Printer) nested(list []ir.Stmt) {
	p.depth++
	p.stmts(list)
	p.depth--
}

// store writes an element, rounded to the type of its buffer.
func (p *Printer) store(s *ir.Store) {
	target := fmt.Sprintf("%s[%s]", Mangle(s.B.Name), p.expr(s.Off))
	switch s.B.Type {
	case expr.F16:
		p.Line("%s = %s;", target, p.convertTo(p.ToF16, p.expr(s.X)))
	case expr.BF16:
		p.Line("%s = %s;", target, p.convertTo("kg_to_bf16", p.expr(s.X)))
	case expr.U8:
		p.Line("%s = %s(%s);", target, p.Byte, p.expr(s.X))
	default:
		p.assign(target, s.X)
	}
}
