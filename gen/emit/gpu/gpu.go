// Package gpu prints kernels in SIMT form in the languages of GPUs, which are C++ with
// words of their own: a Dialect says which. The packages msl and cuda are the
// languages.
package gpu

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// Dialect is what the languages differ in.
type Dialect struct {
	Name      string                               // in errors
	Elem      [ir.NumElems]string                  // types of values, by ir.Elem; index arithmetic is kg_index
	Storage   func(expr.DType) string              // element type of a buffer
	FieldType func(ir.Elem) (typ string, size int) // of a member of the parameter block
	U64Suffix string                               // of literals
	Shared    string                               // what the declaration of an array begins with that a group of threads shares
	Wide      string                               // what stands before that where accesses of 16 bytes begin
	Pairs     bool                                 // a thread's own array of a 16-bit type is of words that hold two elements
	Args      string                               // what stands before a member of the parameter block that is read
	Positions map[ir.ID]string
	Barrier   func(device bool) string
	Shuffle   string // format of a value and a mask
	FaultArgs string // the first arguments of kg_fault_set
	FromF16   string // type or function that widens a half, and the one that rounds to it
	ToF16     string
	Byte      string // type of a byte
	OwnFolds  bool   // the prelude has kg_simd_sum and its like
	// FloatBlocks says that matrix units multiply F32 as it is; else the Plain form of a
	// kernel is printed where it has one.
	FloatBlocks bool
	Library     map[expr.Fn]string
	Ours        map[expr.Fn]string // of the prelude
	// Rough and RoughDiv take the place of functions and of the quotient of floats where
	// those are rough: their errors are at most 1e-5 of the value.
	Rough    map[expr.Fn]string
	RoughDiv string
	// Await is the helper that waits for what the kernels before have written, where a
	// kernel may begin before their end; it reads nothing but its parameters until then.
	Await string
	// Early is the helper that reads an extent before that; empty where reading it needs none.
	Early string
	// Prefetch is the helper that asks for memory before it is read; empty where there is
	// none.
	Prefetch string
	// Choose is the helper that picks one of two floats that are both computed; empty
	// where the compiler is left to say whether a branch is better.
	Choose string
	// Head writes the entry point of a kernel up to its opening brace.
	Head     func(p *Printer)
	Prelude  string   // every helper, as Helpers has them
	Preamble string   // what stands before the helpers, a format of the spec's hash
	Device   string   // what the type of a pointer to device memory begins with
	Group    string   // the same for memory that a group of threads shares
	Given    []Member // what a source written by hand is given beside its arguments
}

// Printer writes one kernel.
type Printer struct {
	*Dialect
	*Helpers
	F      *ir.Func
	Raw    bool // the body is in a source written by hand, which may use all that there is
	fields map[*ir.Field]string
	data   *intData
	b      strings.Builder
	depth  int
	err    error
}

// newPrinter returns a printer of f that notes what it needs of a prelude.
func newPrinter(d *Dialect, used *Helpers, f *ir.Func) *Printer {
	return &Printer{Dialect: d, Helpers: used, F: f, fields: fieldNames(f.Fields), data: newIntData(f.Body)}
}

// kernel returns the text of f.
func kernel(d *Dialect, used *Helpers, f *ir.Func) (string, error) {
	if f.Plain != nil && !d.FloatBlocks {
		f = f.Plain
	}
	p := newPrinter(d, used, f)
	if !f.SIMT {
		p.Fail("is not in SIMT form")
	}
	return p.function(func() { p.stmts(f.Body) })
}

// function returns the text of the kernel around a body.
func (p *Printer) function(body func()) (string, error) {
	p.parameters()
	p.Head(p)
	p.depth++
	p.prologue()
	body()
	p.depth--
	p.Line("}")
	if p.err != nil {
		return "", fmt.Errorf("%s: %s: %w", p.Name, p.F.Symbol, p.err)
	}
	return p.b.String(), nil
}

// Fail notes what the language cannot express.
func (p *Printer) Fail(format string, args ...any) {
	p.err = errors.Join(p.err, fmt.Errorf(format, args...))
}

// Line writes an indented line.
func (p *Printer) Line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("\t", p.depth))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// parameters declares the parameter block as a struct whose fields lie where the
// host puts them: eight-byte fields come first, so no compiler pads between.
func (p *Printer) parameters() {
	if p.F.Doc != "" {
		p.Line("// %s", p.F.Doc)
	}
	if len(p.F.Fields) == 0 {
		return
	}
	p.Line("struct %s_args {", p.F.Symbol)
	end := 0
	for _, f := range p.F.Fields {
		if f.Offset != end {
			p.Fail("field %s is at %d, the fields before it end at %d", f.Name, f.Offset, end)
		}
		t, size := p.FieldType(f.Type)
		p.Line("\t%s %s;", t, p.fields[f])
		end += size
	}
	if end%8 != 0 {
		p.Line("\tint pad;")
	}
	p.Line("};")
	p.Line("")
}

// Uses reports which of the hardware's positions the kernel reads.
func (p *Printer) Uses() map[ir.ID]bool {
	here := map[ir.ID]bool{ir.Thread: p.F.Guarded && p.HasBarrier()}
	ir.WalkExprs(p.F.Body, func(e ir.Expr) {
		if h, ok := e.(*ir.Here); ok {
			here[h.ID] = true
			here[ir.Lane] = here[ir.Lane] || h.ID == ir.MatrixRow || h.ID == ir.MatrixColumn
			if p.Positions[h.ID] == "" {
				p.Fail("position %s does not exist in SIMT form", h.ID)
			}
		}
	})
	return here
}

// HasBarrier reports whether threads of a group wait for each other.
func (p *Printer) HasBarrier() bool {
	found := p.Raw
	ir.WalkStmts(p.F.Body, func(s ir.Stmt) {
		if _, ok := s.(*ir.Barrier); ok {
			found = true
		}
	})
	return found
}

// prologue declares arrays and extents, waits for the kernels before where the language
// has kernels that begin early, and ends a guarded one whose program has a fault.
func (p *Printer) prologue() {
	for _, a := range p.F.Arrays {
		if !a.Private {
			wide := ""
			if a.Wide {
				wide = p.Wide
			}
			p.Line("%s%s %s %s[%d];", wide, p.Shared, p.Elem[a.Type], Mangle(a.Name), a.Len)
		}
	}
	p.extents()
	if p.Await != "" {
		p.Need(p.Await)
		p.Line("%s();", p.Await)
	}
	if p.F.Guarded {
		p.guard()
	}
	for _, a := range p.F.Arrays {
		if a.Private {
			p.private(a)
		}
	}
	for _, m := range p.F.Blocks {
		p.Line("%s %s[%d];", p.blockType(m.Type), Mangle(m.Name), m.Len)
	}
}

// extents declares what the parameter block says of the shapes and is read.
func (p *Printer) extents() {
	read := map[*ir.Field]bool{}
	ir.WalkExprs(p.F.Body, func(e ir.Expr) {
		if g, ok := e.(*ir.Get); ok {
			read[g.F] = true
		}
	})
	for _, f := range p.F.Fields {
		if f.Type == ir.I64 && read[f] {
			id := p.fields[f]
			p.Line("const %s %s = %s;", p.Elem[ir.I64], id, p.extent(id))
		}
	}
}

// extent is the value of a field of the parameter block that is an extent.
func (p *Printer) extent(field string) string {
	if p.Early == "" {
		return p.Elem[ir.I64] + "(" + p.Args + field + ")"
	}
	p.Need(p.Early)
	return p.Early + "(&" + p.Args + field + ")"
}

// guard ends a kernel whose program has a fault. Where there are barriers one thread
// decides for the group, since the word may be set meanwhile.
func (p *Printer) guard() {
	p.Need("kg_stopped")
	if p.HasBarrier() {
		p.Line("%s %s stopped;", p.Shared, p.Elem[ir.U32])
		p.Line("if (%s == 0u) {", p.Positions[ir.Thread])
		p.Line("\tstopped = kg_stopped(fault) ? 1u : 0u;")
		p.Line("}")
		p.Line("%s", p.Barrier(false))
		p.Line("if (stopped != 0u) {")
	} else {
		p.Line("if (kg_stopped(fault)) {")
	}
	p.Line("\treturn;")
	p.Line("}")
}
