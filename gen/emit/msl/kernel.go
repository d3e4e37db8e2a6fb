package msl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// printer writes one kernel.
type printer struct {
	f      *ir.Func
	fields map[*ir.Field]string
	used   *helpers
	data   *intData
	raw    bool // the body is in a source written by hand, which may use all that there is
	b      strings.Builder
	depth  int
	err    error
}

func emitKernel(f *ir.Func, used *helpers) (string, error) {
	p := &printer{f: f, fields: fieldNames(f.Fields), used: used, data: newIntData(f.Body)}
	if !f.SIMT {
		p.fail("is not in SIMT form")
	}
	p.block()
	p.signature()
	p.depth++
	p.prologue()
	p.stmts(f.Body)
	p.depth--
	p.line("}")
	if p.err != nil {
		return "", fmt.Errorf("msl: %s: %w", f.Symbol, p.err)
	}
	return p.b.String(), nil
}

func (p *printer) fail(format string, args ...any) {
	p.err = errors.Join(p.err, fmt.Errorf(format, args...))
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("\t", p.depth))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// elemTypes are the types of values; index arithmetic is int.
var elemTypes = [...]string{ir.F32: "float", ir.I32: "int", ir.I64: "int", ir.U32: "uint", ir.U64: "ulong", ir.Bool: "bool"}

// storage is the element type of a buffer.
func storage(t expr.DType) string {
	switch t {
	case expr.F16:
		return "half"
	case expr.BF16:
		return "ushort"
	case expr.I32:
		return "int"
	case expr.U8:
		return "uchar"
	}
	return "float"
}

// block declares the parameter block as a struct whose fields lie where the
// host puts them: eight-byte fields come first, so no compiler pads between.
func (p *printer) block() {
	if p.f.Doc != "" {
		p.line("// %s", p.f.Doc)
	}
	if len(p.f.Fields) == 0 {
		return
	}
	p.line("struct %s_args {", p.f.Symbol)
	end := 0
	for _, f := range p.f.Fields {
		if f.Offset != end {
			p.fail("field %s is at %d, the fields before it end at %d", f.Name, f.Offset, end)
		}
		t, size := fieldType(f.Type)
		p.line("\t%s %s;", t, p.fields[f])
		end += size
	}
	if end%8 != 0 {
		p.line("\tint pad;")
	}
	p.line("};")
	p.line("")
}

func fieldType(e ir.Elem) (string, int) {
	switch e {
	case ir.I64:
		return "long", 8
	case ir.U64:
		return "ulong", 8
	case ir.F32:
		return "float", 4
	case ir.U32:
		return "uint", 4
	}
	return "int", 4
}

// signature writes the entry point up to its opening brace.
func (p *printer) signature() {
	p.used.need("kg_fault")
	var args []string
	slots := len(p.f.Buffers)
	for _, b := range p.f.Buffers {
		qual := "device const"
		if b.Write {
			qual = "device"
		}
		args = append(args, fmt.Sprintf("%s %s *%s [[buffer(%d)]]", qual, storage(b.Type), mangle(b.Name), b.Slot))
	}
	if len(p.f.Fields) > 0 {
		args = append(args, fmt.Sprintf("constant %s_args &args [[buffer(%d)]]", p.f.Symbol, slots))
	}
	args = append(args, fmt.Sprintf("device kg_fault *fault [[buffer(%d)]]", slots+1))
	here := p.positions()
	for _, in := range builtins {
		if here[in.name] {
			args = append(args, fmt.Sprintf("%s %s [[%s]]", in.typ, in.name, in.attr))
		}
	}
	p.line("[[max_total_threads_per_threadgroup(%d)]]", p.f.Threads)
	p.line("kernel void %s(", p.f.Symbol)
	for i, a := range args {
		end := ","
		if i == len(args)-1 {
			end = ") {"
		}
		p.line("\t\t%s%s", a, end)
	}
}

// builtin is a position that the hardware gives to a kernel.
type builtin struct{ typ, name, attr string }

var builtins = [...]builtin{
	{"uint3", "group", "threadgroup_position_in_grid"},
	{"uint", "tid", "thread_index_in_threadgroup"},
	{"uint", "lane", "thread_index_in_simdgroup"},
	{"uint", "simd", "simdgroup_index_in_threadgroup"},
}

// positions tells which of the builtins the kernel reads.
func (p *printer) positions() map[string]bool {
	here := map[string]bool{"tid": p.f.Guarded && p.hasBarrier()}
	for _, in := range builtins {
		here[in.name] = here[in.name] || p.raw
	}
	ir.WalkExprs(p.f.Body, func(e ir.Expr) {
		h, ok := e.(*ir.Here)
		if !ok {
			return
		}
		switch h.ID {
		case ir.GroupX, ir.GroupY, ir.GroupZ:
			here["group"] = true
		case ir.Thread:
			here["tid"] = true
		case ir.Lane:
			here["lane"] = true
		case ir.SIMDGroup:
			here["simd"] = true
		default:
			p.fail("position %s does not exist in SIMT form", h.ID)
		}
	})
	return here
}

func (p *printer) hasBarrier() bool {
	found := p.raw
	ir.WalkStmts(p.f.Body, func(s ir.Stmt) {
		if _, ok := s.(*ir.Barrier); ok {
			found = true
		}
	})
	return found
}

// prologue declares arrays and extents, and ends a guarded kernel whose program
// has a fault. Where there are barriers one thread decides for the group, since
// the word may be set meanwhile.
func (p *printer) prologue() {
	for _, a := range p.f.Arrays {
		if !a.Private {
			p.line("threadgroup %s %s[%d];", elemTypes[a.Type], mangle(a.Name), a.Len)
		}
	}
	if p.f.Guarded {
		p.used.need("kg_stopped")
		if p.hasBarrier() {
			p.line("threadgroup uint stopped;")
			p.line("if (tid == 0u) {")
			p.line("\tstopped = kg_stopped(fault) ? 1u : 0u;")
			p.line("}")
			p.line("threadgroup_barrier(mem_flags::mem_threadgroup);")
			p.line("if (stopped != 0u) {")
		} else {
			p.line("if (kg_stopped(fault)) {")
		}
		p.line("\treturn;")
		p.line("}")
	}
	read := map[*ir.Field]bool{}
	ir.WalkExprs(p.f.Body, func(e ir.Expr) {
		if g, ok := e.(*ir.Get); ok {
			read[g.F] = true
		}
	})
	for _, f := range p.f.Fields {
		if f.Type == ir.I64 && read[f] {
			id := p.fields[f]
			p.line("const int %s = int(args.%s);", id, id)
		}
	}
	for _, a := range p.f.Arrays {
		if a.Private {
			p.line("%s %s[%d];", elemTypes[a.Type], mangle(a.Name), a.Len)
		}
	}
}
