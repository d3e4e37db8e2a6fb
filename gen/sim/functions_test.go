package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// typeClasses are the letters of testdata/functions.tsv, as types of one, or of two to
// four components.
var typeClasses = map[string][]string{
	"F":   {"float", "half"},
	"F32": {"float"},
	"R":   {"float", "half", "bfloat"},
	"I":   {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"},
	"I32": {"int", "uint"},
	"B":   {"bool"},
	"T":   {"char", "uchar", "short", "ushort", "int", "uint", "float", "half"},
	"Tq":  {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "half"},
	"Ti":  {"char", "uchar", "short", "ushort", "int", "uint"},
	"FV":  {"float", "half"}, "FV32": {"float"}, "FV3": {"float", "half"},
}

// signature is a row of the table.
type signature struct {
	name, space string
	args        []string
	result      string
}

func signatures(t *testing.T) []signature {
	t.Helper()
	var list []signature
	for _, line := range strings.Split(strings.TrimSpace(read(t, "functions.tsv")), "\n") {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "name\t") {
			continue
		}
		f := strings.Split(line, "\t")
		x := signature{name: f[0], space: f[1], result: f[3]}
		if f[2] != "" {
			x.args = strings.Split(f[2], ",")
		}
		list = append(list, x)
	}
	return list
}

// leading is the class that the types of a row follow, "" where it has none.
func (x signature) leading() string {
	for _, a := range append(x.args, x.result) {
		if a = strings.TrimSuffix(strings.TrimPrefix(a, "thread "), "&"); typeClasses[a] != nil {
			return a
		}
	}
	return ""
}

// concrete is a type of the row for an element and a number of components.
func (x signature) concrete(class, lead, elem string, lanes int) string {
	vector := func(e string) string {
		if lanes == 1 {
			return e
		}
		return fmt.Sprint(e, lanes)
	}
	reference := strings.HasPrefix(class, "thread ")
	class = strings.TrimSuffix(strings.TrimPrefix(class, "thread "), "&")
	typ := class
	switch {
	case class == "S":
		typ = elem
	case class == "B":
		typ = vector("bool")
	case class == "Ti" && lead != "Ti":
		typ = vector("int")
	case class == "Tu":
		typ = vector("u" + strings.TrimPrefix(elem, "u"))
	case typeClasses[class] != nil:
		typ = vector(elem)
	}
	if reference {
		typ += " &"
	}
	return typ
}

// calls writes, a line each, a function that calls the row's for every type.
func (x signature) calls(number *int) (lines, what []string) {
	lead := x.leading()
	elems := typeClasses[lead]
	if elems == nil {
		elems = []string{"float"}
	}
	for _, elem := range elems {
		first, last := 1, 4
		switch {
		case lead == "" || elem == "bfloat":
			last = 1
		case strings.HasPrefix(lead, "FV"):
			first = 2
		}
		if lead == "FV3" {
			first, last = 3, 3
		}
		for lanes := first; lanes <= last; lanes++ {
			var params, args []string
			for i, a := range x.args {
				typ := x.concrete(a, lead, elem, lanes)
				space := ""
				if strings.HasSuffix(typ, "&") {
					space = "thread "
				}
				params = append(params, fmt.Sprintf("%s%s a%d", space, typ, i))
				args = append(args, fmt.Sprint("a", i))
			}
			*number++
			result := x.concrete(x.result, lead, elem, lanes)
			body := fmt.Sprintf("%s::%s(%s);", x.space, x.name, strings.Join(args, ", "))
			if x.name == "not" { // a word of C++'s for an operator
				body = "not(a0);"
			}
			if result != "void" {
				body = "return " + body
			}
			lines = append(lines, fmt.Sprintf("inline %s call_%d(%s) { %s }", result, *number, strings.Join(params, ", "), body))
			what = append(what, fmt.Sprintf("%s %s::%s(%s)", result, x.space, x.name, strings.Join(params, ", ")))
		}
	}
	return lines, what
}

// plain says whether the table writes the types of a row out or by the letters above.
func (x signature) plain() bool {
	text := strings.Join(append(x.args, x.result), " ")
	return strings.HasPrefix(x.space, "metal") && !strings.ContainsAny(text, "|*=") && !strings.Contains(text, " or ") && !strings.Contains(text, "nxn")
}

// notChecked are functions of the table that lie outside the subset.
var notChecked = set("simd_is_helper_thread", "quad_is_helper_thread", "unpack_snorm10a2_to_float", "pack_float_to_snorm10a2",
	"unpack_snorm10a2_to_half", "pack_half_to_snorm10a2")

// TestFunctionTable calls every function of Metal's tables that is no template with each
// of its types.
func TestFunctionTable(t *testing.T) {
	t.Parallel()
	lines := []string{"#include <metal_stdlib>", "using namespace metal;", "#pragma METAL fp math_mode(safe)"}
	what := make([]string, len(lines))
	number := 0
	for _, x := range signatures(t) {
		if !x.plain() || notChecked[x.name] || strings.Contains(x.name, "::") {
			continue
		}
		l, w := x.calls(&number)
		lines, what = append(lines, l...), append(what, w...)
	}
	if number < 2500 {
		t.Errorf("only %d calls", number)
	}
	list, err := Check(context.Background(), "functions.metal", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if !f.Warning {
			t.Errorf("%s: %s", what[f.Line-1], f.Text)
		}
	}
}
