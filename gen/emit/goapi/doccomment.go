package goapi

import (
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// docWidth is the width of comment text.
const docWidth = 76

// docComment returns the comment lines of a function: what it computes, its
// arguments and results with their shapes, its errors, aliasing, source.
func docComment(f *Func, s *signature) []string {
	lines := wrap(f.Doc[0])
	add := func(par ...string) {
		if len(par) > 0 {
			lines = append(append(lines, "//"), par...)
		}
	}
	add(s.table()...)
	for _, p := range f.Doc[1:] {
		add(wrap(p)...)
	}
	add(wrap(s.behaviour(f))...)
	return lines
}

// wrap breaks text into comment lines.
func wrap(text string) []string {
	var lines []string
	line := "//"
	for _, w := range strings.Fields(text) {
		if line != "//" && len(line)+1+len(w) > docWidth {
			lines = append(lines, line)
			line = "//"
		}
		line += " " + w
	}
	if line != "//" {
		lines = append(lines, line)
	}
	return lines
}

// table lists arguments and results, one a line, as preformatted text.
func (s *signature) table() []string {
	var rows [][3]string
	for _, t := range s.tensors {
		rows = append(rows, [3]string{t.name, shapeText(t.t), docText(t.t)})
	}
	for _, p := range s.params {
		doc := p.p.Doc
		if p.p.Default != nil {
			doc = strings.TrimPrefix(doc+"; default "+literal(p.p), "; ")
		}
		rows = append(rows, [3]string{p.name, "scalar", doc})
	}
	for _, a := range s.axes {
		what := "extent of " + a.a.Name
		if a.a.Group {
			what = "extents of " + a.a.Name + "..."
		}
		rows = append(rows, [3]string{a.name, "axis", what})
	}
	for _, r := range s.results {
		doc := docText(r.t)
		if r.inout {
			doc = "the new version"
		}
		rows = append(rows, [3]string{"→ " + r.name, shapeText(r.t), doc})
	}
	return align(rows)
}

func align(rows [][3]string) []string {
	var width [2]int
	for _, r := range rows {
		for i := range width {
			width[i] = max(width[i], len([]rune(r[i])))
		}
	}
	var lines []string
	for _, r := range rows {
		line := "//\t"
		for i := range width {
			line += r[i] + strings.Repeat(" ", width[i]-len([]rune(r[i]))+2)
		}
		lines = append(lines, strings.TrimRight(line+oneLine(r[2]), " "))
	}
	return lines
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// docText is the documentation of a tensor. That of a list stands at its first
// piece, whose number it may hold.
func docText(t *expr.Tensor) string {
	if t.List > 0 {
		return strings.TrimSuffix(t.Doc, "_1")
	}
	return t.Doc
}

// shapeText writes a shape as in the package comment: [R..., D].
func shapeText(t *expr.Tensor) string {
	var dims []string
	for _, d := range t.Shape {
		var names []string
		for _, a := range d {
			name := a.Name
			if t.List > 0 {
				name = strings.TrimSuffix(name, "_1")
			}
			if a.Group {
				name += "..."
			}
			names = append(names, name)
		}
		dims = append(dims, strings.Join(names, "·"))
	}
	text := "[" + strings.Join(dims, ", ") + "]"
	if t.List > 0 {
		text = "list of " + text
	}
	return text
}

// behaviour says what is an error and what becomes of the operands.
func (s *signature) behaviour(f *Func) string {
	p := f.Ops[0].Bound.Variants[0].Program
	errors := []string{"shapes that disagree"}
	for _, r := range f.Ops[0].Bound.Require {
		errors = append(errors, fmt.Sprintf("a call for which %q does not hold", oneLine(r.Text)))
	}
	for _, t := range p.Ins {
		if t.Bounds != nil {
			errors = append(errors, "a value of "+baseName(t)+" that is out of bounds")
		}
	}
	text := "It is an error to give " + enumerate(errors, "or") + "."
	if len(s.tensors) == 0 {
		text = "It is an error to give a negative extent."
		if len(errors) > 1 {
			text = "It is an error to give a negative extent or " + enumerate(errors[1:], "or") + "."
		}
	}
	var replaced []string
	for _, t := range s.tensors {
		if t.t.Role == expr.InOut {
			replaced = append(replaced, t.name)
		}
	}
	switch {
	case len(replaced) > 0:
		return text + " The given " + enumerate(replaced, "and") + " may not be used afterwards."
	case len(s.tensors) == 0:
		return text
	}
	return text + " The operands are not changed, and may be one tensor or share memory."
}

func enumerate(list []string, word string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}
