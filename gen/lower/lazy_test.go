package lower_test

import (
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/simt"
	"github.com/kernelgen/kgen/gen/lower/vec"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

// lazySpecs save a value lazily in a kernel of each kind that can store one.
var lazySpecs = map[string]string{
	"computed": `[let.kept]
expr = "x + 1"
[out.y]
shape = "R C"
expr = "kept * kept"
`,
	"moved": `[let.kept]
expr = "x[R, size(C) - 1 - C]"
[out.y]
shape = "R C"
expr = "kept"
`,
	"of_a_row": `[let.top]
over = "C"
reduce = "max"
expr = "x"
[let.kept]
expr = "x - top"
[out.y]
shape = "R C"
expr = "kept * kept"
`,
	"of_a_column": `[let.top]
over = "R"
reduce = "max"
expr = "x"
[let.kept]
expr = "top + 1"
[out.y]
shape = "C"
expr = "kept * kept"
`,
	"of_a_product": `[in.w]
shape = "C N"
[let.product]
over = "C"
reduce = "sum"
expr = "x * w"
[let.kept]
expr = "product + 1"
[out.y]
shape = "R N"
expr = "kept * kept"
`,
}

// A lazily saved value is stored only where the parameter block says that it is
// wanted: without it the buffer has no memory.
func TestLazyStores(t *testing.T) {
	for name, text := range lazySpecs {
		p := lazyProgram(t, name, text)
		pl, err := plan.New(p)
		if err != nil {
			t.Fatal(err)
		}
		stores := map[string]int{}
		for _, k := range pl.Kernels {
			v, err := vec.Lower(pl, k, name, &lower.Block{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := simt.Lower(pl, k, name, &lower.Block{})
			if err != nil {
				t.Fatal(err)
			}
			for form, f := range map[string]*ir.Func{"vec": v.Func, "simt": s.Func} {
				if bare := unguarded(f.Body, false, func() { stores[form]++ }); bare != nil {
					t.Errorf("%s, %s: kept is stored whether wanted or not\n%s", name, form, ir.Format(f))
				}
			}
		}
		if stores["vec"] == 0 || stores["simt"] == 0 {
			t.Errorf("%s: kept is stored %v times", name, stores)
		}
	}
}

// unguarded returns a statement that writes kept outside of a condition on its
// being wanted, and counts those inside.
func unguarded(body []ir.Stmt, wanted bool, count func()) ir.Stmt {
	for _, s := range body {
		var b *ir.Buffer
		switch s := s.(type) {
		case *ir.Store:
			b = s.B
		case *ir.Move:
			b = s.B
		case *ir.Repeat:
			b = s.B
		}
		if b != nil && b.Name == "kept" {
			if !wanted {
				return s
			}
			count()
		}
		inside := wanted
		if c, ok := s.(*ir.If); ok {
			ir.WalkExprs([]ir.Stmt{&ir.If{C: c.C}}, func(e ir.Expr) {
				if g, ok := e.(*ir.Get); ok && g.F.Name == "wanted_kept" {
					inside = true
				}
			})
		}
		for _, b := range ir.Blocks(s) {
			if bare := unguarded(*b, inside, count); bare != nil {
				return bare
			}
		}
	}
	return nil
}

func lazyProgram(t *testing.T, name, text string) *expr.Program {
	t.Helper()
	return program(t, name, text+"[save]\nlazy = [\"kept\"]\n")
}

// program is that of a spec with an input x[R, C] and what text adds.
func program(t *testing.T, name, text string) *expr.Program {
	t.Helper()
	text = "doc = \"\"\ndtypes = [\"f32\"]\n[in.x]\nshape = \"R C\"\nfill = 0\n" + text
	set, wrong := spec.Load(fstest.MapFS{"specs/lower/" + name + ".toml": {Data: []byte(text)}}, "specs")
	checked, more := expr.Check(set)
	if list := append(wrong, more...); len(list) > 0 {
		t.Fatal(list)
	}
	return checked[0].Instances[0]
}
