package sim

import (
	"cmp"
	"fmt"
	"strings"
)

// idField is the field of msl_ids behind a built-in value.
var idField = map[string]string{
	"thread_execution_width":              "threads_per_simdgroup",
	"dispatch_threads_per_threadgroup":    "threads_per_threadgroup",
	"dispatch_simdgroups_per_threadgroup": "simdgroups_per_threadgroup",
}

// glue is the C++ after the source: an entry for each kernel that takes its
// arguments from buffers and from the thread's place, and the table of them.
func (s *source) glue() (string, error) {
	var out, table strings.Builder
	out.WriteString("\n#include \"msl/glue.h\"\n")
	count := 0
	for i := range s.kernels {
		k := &s.kernels[i]
		if k.template {
			continue
		}
		if err := k.entry(&out, count); err != nil {
			return "", err
		}
		fmt.Fprintf(&table, "  {%q, msl_entry_%d, msl_args_%d, %d, %s},\n", k.host, count, count, k.bufferCount(), cmp.Or(k.maxThreads, "1024"))
		count++
	}
	fmt.Fprintf(&out, "extern \"C\" const msl_kernel msl_kernels[] = {\n%s  {nullptr, nullptr, nullptr, 0, 0},\n};\n", table.String())
	fmt.Fprintf(&out, "extern \"C\" const unsigned msl_kernel_count = %d;\n", count)
	return out.String(), nil
}

func (k *kernelDecl) bufferCount() int {
	n := 0
	for i := range k.params {
		if k.params[i].kind() != "" {
			n++
		}
	}
	return n
}

func (k *kernelDecl) entry(out *strings.Builder, number int) error {
	var args, table []string
	slots := k.assignSlots()
	for i := range k.params {
		p := &k.params[i]
		typ := fmt.Sprintf("S::arg<%d>", i)
		if p.kind() == "" {
			arg, err := k.builtinArg(p, typ)
			if err != nil {
				return err
			}
			args = append(args, arg)
			continue
		}
		from, kind := "b", "msl_arg_pointer"
		if p.ref {
			kind = "msl_arg_reference"
		}
		if p.kind() == "threadgroup" {
			from, kind = "t", "msl_arg_threadgroup"
		}
		args = append(args, fmt.Sprintf("msl::bound<%s>::to(%s[%d])", typ, from, slots[i]))
		table = append(table, fmt.Sprintf("{%d, %s, sizeof(msl::pointee<msl_signature_%d::arg<%d>>::type)}", slots[i], kind, number, i))
	}
	fmt.Fprintf(out, "typedef msl::signature<decltype(&%s)> msl_signature_%d;\n", k.name, number)
	fmt.Fprintf(out, "static void msl_entry_%d(void *const *b, void *const *t, const msl_ids *d) {\n", number)
	fmt.Fprintf(out, "  typedef msl_signature_%d S;\n  (void)b; (void)t; (void)d;\n  %s(%s);\n}\n", number, k.name, strings.Join(args, ", "))
	table = append(table, "{0, msl_arg_pointer, 0}") // an array has at least one element
	fmt.Fprintf(out, "static const msl_arg msl_args_%d[] = {%s};\n", number, strings.Join(table, ", "))
	return nil
}

func (k *kernelDecl) builtinArg(p *param, typ string) (string, error) {
	for _, a := range p.attrs {
		b, known := builtins[a.name]
		if !known {
			continue
		}
		field := a.name
		if idField[field] != "" {
			field = idField[field]
		}
		if strings.Contains(field, "quadgroup") {
			return quadArg(field, typ), nil
		}
		if b.vector {
			return fmt.Sprintf("msl::position<%s>(d->%s)", typ, field), nil
		}
		return fmt.Sprintf("%s(d->%s)", typ, field), nil
	}
	return "", fmt.Errorf("kernel %s: argument %s is no buffer and no built-in value", k.name, p.name)
}

// quadArg gives the built-in values of quad groups, which are four threads.
func quadArg(field, typ string) string {
	switch field {
	case "thread_index_in_quadgroup":
		return typ + "(d->thread_index_in_simdgroup % 4)"
	case "quadgroup_index_in_threadgroup":
		return typ + "(d->thread_index_in_threadgroup / 4)"
	}
	return typ + "((d->threads_per_threadgroup[0] * d->threads_per_threadgroup[1] * d->threads_per_threadgroup[2] + 3) / 4)"
}
