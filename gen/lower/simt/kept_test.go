package simt_test

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/simt"
	"github.com/kernelgen/kgen/gen/plan"
)

// TestValuesReplaceElements holds row kernels to computing once for each element what all
// later phases need of it, in the registers that held the element.
func TestValuesReplaceElements(t *testing.T) {
	bin := func(op ir.Op) func(ir.Expr) bool {
		return func(e ir.Expr) bool {
			b, ok := e.(*ir.Bin)
			return ok && b.Op == op && b.Type().Elem == ir.F32
		}
	}
	exp := func(e ir.Expr) bool {
		c, ok := e.(*ir.Call)
		return ok && c.Fn == expr.FnExp
	}
	for _, c := range []struct {
		name   string
		what   string
		is     func(ir.Expr) bool
		times  int
		arrays []string // of the elements that a thread keeps
	}{
		{"layernorm", "difference", bin(ir.Sub), 2, []string{"x_row"}},
		{"layernorm_grad", "difference", bin(ir.Sub), 2, []string{"gamma_row", "d_y_row", "x_row"}},
		{"softmax", "exponential", exp, 1, []string{"x_row"}},
		{"kl_distill", "quotient", bin(ir.Div), 2, []string{"student_row", "teacher_row"}},
	} {
		f := wideRows(t, c.name)
		n := 0
		for _, s := range f.Body {
			n += inRegisters(s, c.is, false)
		}
		if n != c.times {
			t.Errorf("%s: %d places compute the %s of an element, want %d", c.name, n, c.what, c.times)
		}
		var kept []string
		for _, a := range f.Arrays {
			if strings.HasSuffix(a.Name, "_row") || strings.HasPrefix(a.Name, "kept") {
				kept = append(kept, a.Name)
			}
		}
		if strings.Join(kept, " ") != strings.Join(c.arrays, " ") {
			t.Errorf("%s: registers keep %q, want %q", c.name, kept, c.arrays)
		}
	}
}

// inRegisters counts the expressions of a kind that s computes of the elements that registers
// keep; element says whether s lies in a loop over those.
func inRegisters(s ir.Stmt, is func(ir.Expr) bool, element bool) int {
	n := 0
	if f, ok := s.(*ir.For); ok {
		if !f.Unroll && f.V.Name != "row" {
			return 0 // what lies beyond
		}
		element = element || f.Unroll
	}
	for _, b := range ir.Blocks(s) {
		for _, inner := range *b {
			n += inRegisters(inner, is, element)
		}
	}
	for _, e := range ir.Exprs(s) {
		ir.WalkExpr(e, func(e ir.Expr) {
			if element && is(e) {
				n++
			}
		})
	}
	return n
}

// wideRows is the wide form of the row kernel of an op in f32.
func wideRows(t *testing.T, name string) *ir.Func {
	t.Helper()
	for _, p := range programs(t) {
		if p.Name != name {
			continue
		}
		pl, err := plan.New(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range pl.Kernels {
			if k.Shape != plan.Rows {
				continue
			}
			out, err := simt.LowerWide(pl, k, name, &lower.Block{})
			if err != nil || out == nil {
				t.Fatalf("%s: no wide form: %v", name, err)
			}
			return out.Func
		}
	}
	t.Fatalf("no row kernel of %s", name)
	return nil
}
