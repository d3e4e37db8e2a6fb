package cuda

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/emit/gpu"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// RawFile is the .cu file of a spec whose kernels are written by hand.
type RawFile struct {
	Path      string // of the file, to which the compiler's lines return after the source
	Spec      string // path of the spec
	Doc       string
	Source    string // where the formula comes from; may be empty
	Hash      uint64 // of the spec and its sources
	Text      string // the source
	TextPath  string // its path, which errors in it name
	Instances []*ir.Raw
}

// rawAccess are the macros that read and write an element of a storage type as
// a float, or an int.
var rawAccess = map[expr.DType][2]string{
	expr.F32: {"(*(p))", "(*(p) = (x))"}, expr.I32: {"(*(p))", "(*(p) = (x))"},
	expr.F16:  {"kg_from_f16(*(p))", "(*(p) = kg_to_f16(x))"},
	expr.BF16: {"kg_from_bf16(*(p))", "(*(p) = kg_to_bf16(x))"},
	expr.U8:   {"int(*(p))", "(*(p) = (unsigned char)(x))"},
}

// EmitRaw renders f: the source, byte for byte, once for each instance in a
// namespace of its own, and the kernels that call its functions.
func EmitRaw(f *RawFile) ([]byte, error) {
	used := gpu.NewHelpers(prelude)
	for _, name := range []string{"kg_fault", "kg_fault_set", "kg_from_f16", "kg_to_f16", "kg_from_bf16", "kg_to_bf16"} {
		used.Need(name)
	}
	var b bytes.Buffer
	begin(&b, f.Spec, f.Doc, f.Source, f.Hash)
	for _, text := range used.Texts() {
		b.WriteByte('\n')
		b.WriteString(text)
	}
	for _, x := range f.Instances {
		f.instance(&b, x)
		for _, l := range x.Launches {
			text, err := rawKernel(x, l, used)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Spec, err)
			}
			b.WriteString("\n" + text)
		}
	}
	return b.Bytes(), nil
}

// namespace is the namespace of an instance.
func namespace(x *ir.Raw) string { return x.ID + "_source" }

// instance writes the source with the words that it is compiled with.
func (f *RawFile) instance(b *bytes.Buffer, x *ir.Raw) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	var defined []string
	define := func(name, value string) {
		line("#define %s %s", name, value)
		name, _, _ = strings.Cut(name, "(")
		defined = append(defined, name)
	}
	line("\nnamespace %s {", namespace(x))
	for _, t := range x.Types {
		define(t.Name, storage(t.Type))
		define("kg_ld_"+t.Name+"(p)", rawAccess[t.Type][0])
		define("kg_st_"+t.Name+"(p, x)", rawAccess[t.Type][1])
	}
	for _, w := range x.Words {
		define(w.Name, fmt.Sprint(w.Value))
	}
	for _, l := range x.Launches {
		define("threads_"+l.Name, fmt.Sprint(l.SIMT.Threads))
	}
	line("struct Args {")
	for _, m := range rawMembers(x) {
		line("\t%s%s;", m.typ, m.name)
	}
	line("};")
	line("#line 1 %q", f.TextPath)
	b.WriteString(strings.TrimSuffix(f.Text, "\n") + "\n\n") // a backslash at the end of the source takes a line
	line("#line %d %q", 2+bytes.Count(b.Bytes(), []byte{'\n'}), f.Path)
	for _, name := range defined {
		line("#undef %s", name)
	}
	line("}")
}

// member is a member of the struct Args and the value that a kernel gives it.
type member struct {
	typ, name, value string
	shared           bool
}

// rawMembers lists what the functions of the source are given: tensors, extents and
// parameters, arrays that a group shares, the fault word and the number of the call;
// all launches of an instance have the same. The value of an array is its own name.
func rawMembers(x *ir.Raw) []member {
	f := x.Launches[0].SIMT
	var list []member
	for _, t := range f.Buffers {
		qual := "const "
		if t.Write {
			qual = ""
		}
		list = append(list, member{typ: qual + storage(t.Type) + " *", name: t.Name, value: gpu.Mangle(t.Name)})
	}
	for _, q := range f.Fields {
		value := "args->" + gpu.Mangle(q.Name)
		if q.Type == ir.I64 {
			value = "int(" + value + ")"
		}
		list = append(list, member{typ: dialect.Elem[q.Type] + " ", name: q.Name, value: value})
	}
	for _, l := range x.Launches {
		for _, a := range l.SIMT.Arrays {
			list = append(list, member{typ: dialect.Elem[a.Type] + " *", name: a.Name, value: gpu.Mangle(a.Name), shared: true})
		}
	}
	return append(list, member{typ: "kg_fault *", name: "fault", value: "fault"}, member{typ: "int ", name: "op", value: "op"})
}

// rawKernel writes the entry point of a launch, which calls the function of the
// source.
func rawKernel(x *ir.Raw, l ir.RawLaunch, used *gpu.Helpers) (string, error) {
	p := gpu.NewPrinter(dialect, used, l.SIMT)
	p.Raw = true
	return p.Function(func() {
		p.Line("%s::Args source;", namespace(x))
		own := map[string]bool{}
		for _, a := range l.SIMT.Arrays {
			own[gpu.Mangle(a.Name)] = true
		}
		for _, m := range rawMembers(x) {
			if m.shared && !own[m.value] {
				continue // another launch has it
			}
			p.Line("source.%s = %s;", m.name, m.value)
		}
		p.Line("%s::%s(source);", namespace(x), l.Name)
	})
}
