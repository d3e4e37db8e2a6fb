package expr

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// catalogue checks the shipped specs, which have to be without a mistake.
func catalogue(t *testing.T) []*Spec {
	t.Helper()
	set, list := spec.Load(os.DirFS("../.."), "specs")
	specs, more := Check(set)
	if list = append(list, more...); len(list) > 0 {
		var b strings.Builder
		if err := diag.Render(&b, list, set.Source); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("the catalogue has mistakes:\n%s", b.String())
	}
	return specs
}

// TestProgramFormatRoundTrip prints every instance of the catalogue as a spec,
// checks that spec and compares the steps.
func TestProgramFormatRoundTrip(t *testing.T) {
	for _, s := range catalogue(t) {
		for _, p := range s.Instances {
			text := p.Format()
			q := reread(t, p.Name, text)
			if got, want := outline(q), outline(p); got != want {
				t.Fatalf("%s %v %v: got steps\n%s\nwant\n%s\nspec:\n%s", p.Name, p.Types, p.Static, got, want, text)
			}
			if p.Raw != nil && fmt.Sprint(rawOutline(q)) != fmt.Sprint(rawOutline(p)) {
				t.Errorf("%s: got launches %s, want %s", p.Name, rawOutline(q), rawOutline(p))
			}
			if again := q.Format(); body(again) != body(text) {
				t.Errorf("%s: printed again it differs:\n%s\nfirst:\n%s", p.Name, again, text)
			}
		}
	}
}

// reread checks a printed program. A parameter that only another instance uses
// is no mistake here.
func reread(t *testing.T, name, text string) *Program {
	t.Helper()
	set, list := spec.ParseSet("specs/g/"+name+".toml", []byte(text))
	c := newChecker(set)
	u := c.units[0]
	ps := c.instances(u, u.choices())
	if list = append(list, u.list...); len(list) > 0 {
		t.Fatalf("%s: %v\n%s", name, list.Err(), text)
	}
	if len(ps) != 1 {
		t.Fatalf("%s: %d instances", name, len(ps))
	}
	return ps[0]
}

// body is a printed spec without its first line, which names the instance.
func body(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// outline describes all that a program computes.
func outline(p *Program) string {
	var b strings.Builder
	for _, a := range p.Axes {
		b.WriteString("axis " + a.Name)
		if a.Extent != nil {
			b.WriteString(" = " + Key(a.Extent))
		}
		b.WriteByte('\n')
	}
	for _, t := range append(append([]*Tensor(nil), p.Ins...), p.Outs...) {
		b.WriteString(t.Name + " " + t.Type.String() + " [" + FormatShape(t.Shape) + "]")
		if t.Bounds != nil {
			b.WriteString(" < " + Key(t.Bounds))
		}
		b.WriteByte('\n')
	}
	for _, r := range p.Require {
		b.WriteString("require " + Key(r.Cond) + "\n")
	}
	for _, s := range p.Steps {
		b.WriteString(s.Result.Name + " [" + axisNames(s.Result.Axes) + "] = " +
			s.Reduce.String() + " over " + axisNames(s.Over) + " of " + Key(s.Expr) + "\n")
	}
	return b.String()
}

// rawOutline describes the launches of a kernel written by hand.
func rawOutline(p *Program) []string {
	var lines []string
	for _, l := range p.Raw.Launches {
		lines = append(lines, fmt.Sprint(l.Name, l.Items, axisNames(l.Cost), l.CostPS, l.Scratch, l.Groups, l.Threads, l.Shared))
	}
	return lines
}
