package gpu

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// RawFile is the source file of a spec whose kernels are written by hand.
type RawFile struct {
	File             // without Kernels; Hash is that of the spec and its sources
	Path      string // of the file, to which the compiler's lines return after the source
	Text      string // the source
	TextPath  string // its path, which errors in it name
	Instances []*ir.Raw
}

// Member is a member of the struct Args that the functions of a source are given, and
// the value that a kernel gives it.
type Member struct {
	Type, Name, Value string
	shared            bool
}

// EmitRaw renders f in the language of d: the source, byte for byte, once for each
// instance in a namespace of its own, and the kernels that call its functions.
func EmitRaw(d *Dialect, f *RawFile) ([]byte, error) {
	used := newHelpers(d.Prelude)
	for _, name := range []string{"kg_fault", "kg_fault_set", "kg_from_bf16", "kg_to_bf16", d.FromF16, d.ToF16} {
		if strings.HasPrefix(name, "kg_") {
			used.Need(name)
		}
	}
	r := &rawPrinter{Dialect: d, file: f}
	// The helpers come first, but which are needed is known last.
	var kernels []string
	for _, x := range f.Instances {
		for _, l := range x.Launches {
			text, err := r.kernel(x, l, used)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Spec, err)
			}
			kernels = append(kernels, text)
		}
	}
	head(&r.b, d, used, &f.File)
	for _, x := range f.Instances {
		r.instance(x)
		for range x.Launches {
			r.b.WriteString("\n" + kernels[0])
			kernels = kernels[1:]
		}
	}
	return r.b.Bytes(), nil
}

type rawPrinter struct {
	*Dialect
	file *RawFile
	b    bytes.Buffer
}

func (r *rawPrinter) line(format string, args ...any) {
	fmt.Fprintf(&r.b, format, args...)
	r.b.WriteByte('\n')
}

// namespace is the namespace of an instance.
func namespace(x *ir.Raw) string { return x.ID + "_source" }

// access returns the macros that read and write an element of a storage type as a
// float, or an int.
func (d *Dialect) access(t expr.DType) (load, store string) {
	from, to := "", ""
	switch t {
	case expr.F16:
		from, to = d.FromF16, d.ToF16
	case expr.BF16:
		from, to = "kg_from_bf16", "kg_to_bf16"
	case expr.U8:
		from, to = "int", d.Byte
	default:
		return "(*(p))", "(*(p) = (x))"
	}
	return "(" + from + "(*(p)))", "(*(p) = " + to + "(x))"
}

// instance writes the source with the words that it is compiled with.
func (r *rawPrinter) instance(x *ir.Raw) {
	var defined []string
	define := func(name, value string) {
		r.line("#define %s %s", name, value)
		name, _, _ = strings.Cut(name, "(")
		defined = append(defined, name)
	}
	r.line("\nnamespace %s {", namespace(x))
	for _, t := range x.Types {
		load, store := r.access(t.Type)
		define(t.Name, r.Storage(t.Type))
		define("kg_ld_"+t.Name+"(p)", load)
		define("kg_st_"+t.Name+"(p, x)", store)
	}
	for _, w := range x.Words {
		define(w.Name, fmt.Sprint(w.Value))
	}
	for _, l := range x.Launches {
		define("threads_"+l.Name, fmt.Sprint(l.SIMT.Threads))
	}
	r.line("struct Args {")
	for _, m := range r.members(x) {
		r.line("\t%s%s;", m.Type, m.Name)
	}
	r.line("};")
	r.line("#line 1 %q", r.file.TextPath)
	r.b.WriteString(r.file.Text)
	if !strings.HasSuffix(r.file.Text, "\n") {
		r.b.WriteByte('\n')
	}
	r.b.WriteByte('\n') // a backslash at the end of the source takes this line
	r.line("#line %d %q", 2+bytes.Count(r.b.Bytes(), []byte{'\n'}), r.file.Path)
	for _, name := range defined {
		r.line("#undef %s", name)
	}
	r.line("}")
}

// members lists what the functions of the source are given: tensors, extents and
// parameters, what the language adds, arrays that a group shares, and the fault word;
// all launches of an instance have the same. The value of an array is its own name.
func (d *Dialect) members(x *ir.Raw) []Member {
	f := x.Launches[0].SIMT
	var list []Member
	for _, t := range f.Buffers {
		qual := d.Device + "const "
		if t.Write {
			qual = d.Device
		}
		list = append(list, Member{Type: qual + d.Storage(t.Type) + " *", Name: t.Name, Value: Mangle(t.Name)})
	}
	for _, q := range f.Fields {
		value := d.Args + Mangle(q.Name)
		if q.Type == ir.I64 {
			value = d.Elem[ir.I64] + "(" + value + ")"
		}
		list = append(list, Member{Type: d.Elem[q.Type] + " ", Name: q.Name, Value: value})
	}
	list = append(list, d.Given...)
	for _, l := range x.Launches {
		for _, a := range l.SIMT.Arrays {
			list = append(list, Member{Type: d.Group + d.Elem[a.Type] + " *", Name: a.Name, Value: Mangle(a.Name), shared: true})
		}
	}
	return append(list, Member{Type: d.Device + "kg_fault *", Name: "fault", Value: "fault"})
}

// kernel returns the entry point of a launch, which calls the function of the source.
func (r *rawPrinter) kernel(x *ir.Raw, l ir.RawLaunch, used *Helpers) (string, error) {
	p := newPrinter(r.Dialect, used, l.SIMT)
	p.Raw = true
	return p.function(func() {
		p.Line("%s::Args source;", namespace(x))
		own := map[string]bool{}
		for _, a := range l.SIMT.Arrays {
			own[Mangle(a.Name)] = true
		}
		for _, m := range r.members(x) {
			if m.shared && !own[m.Value] {
				continue // another launch has it
			}
			p.Line("source.%s = %s;", m.Name, m.Value)
		}
		p.Line("%s::%s(source);", namespace(x), l.Name)
	})
}
