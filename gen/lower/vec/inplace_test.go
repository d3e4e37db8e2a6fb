package vec_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/vec"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

var update = flag.Bool("update", false, "rewrite testdata")

// inPlaceInputs are what inPlaceSpecs read.
var inPlaceInputs = map[string]string{
	"a": `shape = "R C"
fill = 0`,
	"b": `shape = "R C"`,
	"v": `shape = "C"`,
	"h": `shape = "R C"
type = "f16"`,
	"i": `shape = "R C"
type = "i32"`,
	"w": `shape = "C N"`,
	"r": `shape = "R N"`,
}

// inPlaceSpecs are specs of each kind, and which of their results may lie where.
var inPlaceSpecs = []struct{ name, ins, text, want string }{
	{"elementwise", "a b", `[out.y]
shape = "R C"
expr = "a * b + a"
`, "y: a b"},
	{"broadcast operand", "a b v", `[out.y]
shape = "R C"
expr = "a + b * v"
`, "y: a b"},
	{"of another type", "i", `[out.y]
shape = "R C"
expr = "where(i != 0, 1.0, 0.0)"
`, ""},
	{"of another size", "h b", `[out.y]
shape = "R C"
expr = "h + b"
`, "y: b"},
	{"neighbour", "a b", `[out.y]
shape = "R C"
expr = "a[R, C - 1] + b"
`, "y: b"},
	{"other row", "a b", `[out.y]
shape = "R C"
expr = "a[R - 1, C] + a + b"
`, "y: b"},
	{"transposed", "a", `[out.y]
shape = "C R"
expr = "a * 2"
`, ""},
	{"moved", "a", `[out.y]
shape = "R C"
expr = "a"
`, "y: a"},
	{"moved twice", "a", `[out.y]
shape = "R C"
expr = "a"
[out.z]
shape = "R C"
expr = "a"
`, "y: a, z: a"},
	{"moved and turned round", "a", `[out.y]
shape = "R C"
expr = "a"
[out.z]
shape = "R C"
expr = "a[R, size(C) - 1 - C]"
`, ""},
	{"moved in part", "a", `[out.y]
shape = "R C"
expr = "where(C < 3, a, 0.0)"
`, ""},
	{"two outputs of the same operands", "a b", `[out.y]
shape = "R C"
expr = "a * b"
[out.z]
shape = "R C"
expr = "a + b"
`, "y: a b, z: a b"},
	{"an operand of the second output only", "a b", `[out.y]
shape = "R C"
expr = "a * 2"
[out.z]
shape = "R C"
expr = "a + b"
`, "y: a, z: a b"},
	{"row", "a b", `[let.top]
over = "C"
reduce = "max"
expr = "a"
[out.y]
shape = "R C"
expr = "a - top + b"
`, "y: a b"},
	{"first of the row", "a b", `[let.total]
over = "C"
reduce = "sum"
expr = "a - a[R, 0]"
[out.y]
shape = "R C"
expr = "b * total"
`, "y: a b"},
	{"last of the row, while it is stored", "a b", `[let.total]
over = "C"
reduce = "sum"
expr = "a"
[out.y]
shape = "R C"
expr = "b * total - a[R, size(C) - 1 - C]"
`, "y: b"},
	{"a number for each row", "a b", `[let.top]
over = "C"
reduce = "max"
expr = "a + b"
[out.y]
shape = "R"
expr = "top * top"
`, ""},
	{"column", "a b v", `[let.top]
over = "R"
reduce = "max"
expr = "a + b"
[out.y]
shape = "C"
expr = "top * v"
`, ""},
	{"product", "a w r", `[let.p]
over = "C"
reduce = "sum"
expr = "a * w"
[out.y]
shape = "R N"
expr = "p + r"
`, "y: r"},
	{"updated tensor", "a", `[inout.u]
shape = "R C"
expr = "u - a"
[out.y]
shape = "R C"
expr = "a * u"
`, "y: a"},
}

// TestInPlace holds which results may be computed in the memory of which operands.
func TestInPlace(t *testing.T) {
	for _, c := range inPlaceSpecs {
		text := "doc = \"\"\ndtypes = [\"f32\"]\n"
		for _, in := range strings.Fields(c.ins) {
			text += "[in." + in + "]\n" + inPlaceInputs[in] + "\n"
		}
		set, wrong := spec.Load(fstest.MapFS{"specs/test/test.toml": {Data: []byte(text + c.text)}}, "specs")
		checked, more := expr.Check(set)
		if list := append(wrong, more...); len(list) > 0 {
			t.Fatalf("%s: %v", c.name, list)
		}
		if got := inPlaceOf(t, checked[0].Instances[0]); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestInPlaceOfSpecs holds the same for every shipped spec and gradient.
func TestInPlaceOfSpecs(t *testing.T) {
	set, list := spec.Load(os.DirFS("../../.."), "specs")
	specs, more := expr.Check(set)
	if list = append(list, more...); len(list) > 0 {
		t.Fatal(list)
	}
	var b strings.Builder
	line := func(p *expr.Program) {
		fmt.Fprintf(&b, "%s", p.Name)
		for _, c := range p.Static {
			fmt.Fprintf(&b, " %s=%s", c.Name, c.Value)
		}
		fmt.Fprintf(&b, ": %s\n", inPlaceOf(t, p))
	}
	for _, s := range specs {
		seen := map[string]bool{}
		for _, p := range s.Instances {
			if s.Raw != nil || seen[fmt.Sprint(p.Static)] {
				continue
			}
			seen[fmt.Sprint(p.Static)] = true
			line(p)
			if s.Grad != nil {
				g, list := grad.Derive(p, grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
				if len(list) > 0 {
					t.Fatal(list)
				}
				line(g.Program)
			}
		}
	}
	const file = "testdata/inplace.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs; got:\n%s", file, b.String())
	}
}

// inPlaceOf lists the results of a program's kernels that may lie where an operand
// does: "y: a b, z: a".
func inPlaceOf(t *testing.T, p *expr.Program) string {
	t.Helper()
	pl, err := plan.New(p)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, k := range pl.Kernels {
		v, err := vec.Lower(pl, k, p.Name, &lower.Block{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, inPlaceOfFunc(v.Func)...)
	}
	return strings.Join(list, ", ")
}

func inPlaceOfFunc(f *ir.Func) []string {
	var list []string
	for _, b := range f.Buffers {
		text := b.Name + ":"
		for _, slot := range b.InPlace {
			text += " " + f.Buffers[slot].Name
		}
		if len(b.InPlace) > 0 {
			list = append(list, text)
		}
	}
	return list
}
