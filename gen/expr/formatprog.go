package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format returns p as a spec file: for reading, and to be checked again, which
// gives a program of equal steps. The types and choices of the instance are
// written out.
func (p *Program) Format() string {
	w := &specWriter{p: p}
	w.head()
	for _, pa := range p.Params {
		w.param(pa)
	}
	if p.Raw != nil {
		w.rawTensors()
	} else {
		w.tensors()
	}
	w.axes()
	if len(p.Require) > 0 {
		w.table("require")
		for _, r := range p.Require {
			w.text(r.Name, Format(r.Cond))
		}
	}
	w.save()
	if p.Raw != nil {
		w.raw()
	}
	return w.b.String()
}

type specWriter struct {
	p *Program
	b strings.Builder
}

func (w *specWriter) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *specWriter) table(name string) { w.printf("\n[%s]\n", name) }

// text writes a string unless it is empty.
func (w *specWriter) text(key, value string) {
	if value != "" {
		w.printf("%s = %s\n", key, quoteTOML(value))
	}
}

// quoteTOML returns s as a basic string of TOML.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (w *specWriter) head() {
	var kinds []string
	for _, t := range w.p.Types {
		kinds = append(kinds, t.String())
	}
	for _, c := range w.p.Static {
		kinds = append(kinds, c.Name+"="+c.Value)
	}
	w.printf("# %s\n", strings.Join(append([]string{w.p.Name}, kinds...), " "))
	w.text("doc", w.p.Doc)
	w.text("source", w.p.Source)
	w.text("family", w.p.Family)
}

func (w *specWriter) param(p *Param) {
	w.table("param." + p.Name)
	w.text("type", p.Type.String())
	if p.Default != nil {
		w.printf("default = %s\n", tomlConst(p.Default))
	}
	w.text("doc", p.Doc)
}

func tomlConst(c *Const) string {
	switch {
	case c.K != Float:
		return formatConst(c, true)
	case math.IsNaN(c.F):
		return "nan"
	case math.IsInf(c.F, 0):
		return strings.TrimSuffix(formatFloat(c.F, false), "()")
	}
	return formatFloat(c.F, false)
}

// tensors writes inputs and steps so that both keep their order: the inputs up
// to the next inout, then the steps up to the one that gives it its value.
func (w *specWriter) tensors() {
	ins, steps := w.p.Ins, w.p.Steps
	for len(ins) > 0 || len(steps) > 0 {
		for len(ins) > 0 && ins[0].Role != InOut {
			w.input(ins[0])
			ins = ins[1:]
		}
		for len(steps) > 0 && (len(ins) == 0 || steps[0].Result != ins[0]) {
			w.step(steps[0])
			steps = steps[1:]
		}
		if len(steps) > 0 {
			w.step(steps[0])
			steps = steps[1:]
		}
		if len(ins) > 0 {
			ins = ins[1:]
		}
	}
}

func (w *specWriter) input(t *Tensor) {
	w.table("in." + t.Name)
	w.tensor(t)
}

// tensor writes what inputs and outputs share.
func (w *specWriter) tensor(t *Tensor) {
	w.printf("shape = %s\n", quoteTOML(FormatShape(t.Shape)))
	w.text("type", t.Type.String())
	if t.Fill != nil {
		w.printf("fill = %s\n", tomlConst(t.Fill))
	}
	if t.Bounds != nil {
		w.text("bounds", Format(t.Bounds))
	}
	if t.Except != nil {
		w.text("except", t.Except.Name)
	}
	w.text("doc", t.Doc)
}

// FormatShape returns a shape as it is written in a spec.
func FormatShape(shape []Dim) string {
	var dims []string
	for _, d := range shape {
		var names []string
		for _, a := range d {
			n := a.Name
			if a.Group {
				n += "..."
			}
			names = append(names, n)
		}
		s := strings.Join(names, " ")
		if len(d) > 1 {
			s = "(" + s + ")"
		}
		dims = append(dims, s)
	}
	return strings.Join(dims, " ")
}

// isSaved reports a step that only keeps a let for the gradient; [save] says it.
func isSaved(s *Step) bool { return s.Result.Role == Out && s.Result.Save }

func (w *specWriter) step(s *Step) {
	if isSaved(s) {
		return
	}
	t := s.Result
	switch t.Role {
	case Let:
		w.table("let." + t.Name)
		if len(t.Axes) > 0 {
			w.printf("# axes: %s\n", axisNames(t.Axes))
		}
	case InOut:
		w.table("inout." + t.Name)
		w.tensor(t)
	default:
		w.table("out." + t.Name)
		w.tensor(t)
	}
	if s.Reduce != NoReduce {
		w.text("over", axisNames(s.Over))
		w.text("reduce", s.Reduce.String())
	}
	w.text("expr", Format(s.Expr))
}

func (w *specWriter) axes() {
	open := false
	for _, a := range w.p.Axes {
		if !a.Free && a.Extent == nil {
			continue
		}
		if !open {
			w.table("axes")
			open = true
		}
		value := "caller"
		if !a.Free {
			value = Format(a.Extent)
		}
		w.text(a.Name, value)
	}
}

func (w *specWriter) save() {
	var names, lazy []string
	for _, t := range w.p.Outs {
		switch {
		case t.Lazy:
			lazy = append(lazy, strconv.Quote(t.Name))
		case t.Save:
			names = append(names, strconv.Quote(t.Name))
		}
	}
	if len(names)+len(lazy) > 0 {
		w.table("save")
	}
	if len(names) > 0 {
		w.printf("names = [%s]\n", strings.Join(names, ", "))
	}
	if len(lazy) > 0 {
		w.printf("lazy = [%s]\n", strings.Join(lazy, ", "))
	}
}
