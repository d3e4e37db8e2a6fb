package grad_test

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
)

const mixed = `
[in.x]
shape = "R... D"
[in.ids]
shape = "R..."
type  = "i32"
[in.s]
shape = "D"
optional = true
[out.y]
shape = "R... D"
expr  = "where(has(s), x * s, x)"
[out.n]
shape = "R..."
type  = "i32"
expr  = "ids + 1"
`

func TestMistakes(t *testing.T) {
	p := written(t, mixed).Instances[0]
	at := diag.Pos{File: "specs/test/sample.toml", Line: 3, Col: 7}
	for _, c := range []struct {
		decl grad.Decl
		want []string
	}{
		{grad.Decl{Wrt: []string{"z", "ids"}}, []string{"no gradient with respect to z, which is not an input", "no gradient with respect to ids, whose values are not float"}},
		{grad.Decl{Wrt: []string{"x"}, From: []string{"n", "q"}}, []string{"no gradient from n, whose values are not float", "no gradient from q, which is not an output"}},
		{grad.Decl{}, []string{"it is with respect to no input"}},
	} {
		c.decl.Pos = at
		r, list := grad.Derive(p, c.decl)
		if r != nil || len(list) != len(c.want) {
			t.Errorf("%v gives %v", c.decl, list)
			continue
		}
		for i, want := range c.want {
			if got := list[i]; !strings.Contains(got.Msg, want) || got.Pos != at {
				t.Errorf("%v gives %q, want %q", c.decl, got.Error(), want)
			}
		}
	}
}

func TestNoFloatOutput(t *testing.T) {
	p := written(t, "[in.x]\nshape = \"R... D\"\n[out.n]\nshape = \"R...\"\ntype = \"i32\"\nover = \"D\"\nreduce = \"argmax\"\nexpr = \"x\"\n").Instances[0]
	if _, list := grad.Derive(p, grad.Decl{Wrt: []string{"x"}}); len(list) != 1 || !strings.Contains(list[0].Msg, "no output is float") {
		t.Errorf("got %v", list)
	}
}

func TestInOutHasNoGradient(t *testing.T) {
	p := written(t, "[inout.w]\nshape = \"P...\"\nexpr = \"w - g\"\n[in.g]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\nexpr = \"g\"\n").Instances[0]
	if _, list := grad.Derive(p, grad.Decl{Wrt: []string{"g"}}); len(list) != 1 || !list[0].Pos.IsValid() || !strings.Contains(list[0].Msg, "inout (w)") {
		t.Errorf("got %v", list)
	}
}

// TestOptional: an input that an instance is without is left out of its
// gradient.
func TestOptional(t *testing.T) {
	for _, p := range written(t, mixed).Instances {
		r := derive(t, p, grad.Decl{Name: "back", Wrt: []string{"x", "s"}})
		want := 2
		if p.Static[0].Value == expr.Without {
			want = 1
		}
		if len(r.Program.Outs) != want || r.Program.Name != "back" {
			t.Errorf("%v has %d outputs, want %d", p.Static, len(r.Program.Outs), want)
		}
	}
}
