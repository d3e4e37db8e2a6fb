package expr

import (
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// shapeDim is a dimension as written: one axis, a group, or the merged axes of
// a parenthesis.
type shapeDim struct {
	axes  []axisName
	group bool
	at    diag.Pos
}

type axisName struct {
	name string
	at   diag.Pos
}

// parseShape parses a list of dimensions such as "R... L (C K)".
func parseShape(t spec.Text, list *diag.List) []shapeDim {
	p := &shapeParser{t: t, list: list}
	var dims []shapeDim
	for p.blank(); p.i < len(t.Value); p.blank() {
		d, ok := p.dim()
		if !ok {
			return nil
		}
		dims = append(dims, d)
	}
	if !p.distinct(dims) {
		return nil
	}
	return dims
}

type shapeParser struct {
	t    spec.Text
	i    int
	list *diag.List
}

func (p *shapeParser) blank() {
	for p.i < len(p.t.Value) && strings.IndexByte(" \t\n", p.t.Value[p.i]) >= 0 {
		p.i++
	}
}

func (p *shapeParser) dim() (shapeDim, bool) {
	at := p.t.At(p.i)
	if p.t.Value[p.i] == '(' {
		return p.merged(at)
	}
	a, ok := p.axis()
	d := shapeDim{axes: []axisName{a}, at: at}
	if ok && strings.HasPrefix(p.t.Value[p.i:], "...") {
		p.i += 3
		d.group = true
	}
	return d, ok
}

func (p *shapeParser) merged(at diag.Pos) (shapeDim, bool) {
	d := shapeDim{at: at}
	p.i++
	for p.blank(); p.i < len(p.t.Value) && p.t.Value[p.i] != ')'; p.blank() {
		a, ok := p.axis()
		if !ok {
			return d, false
		}
		d.axes = append(d.axes, a)
	}
	switch {
	case p.i >= len(p.t.Value):
		p.list.Add(at, "the parenthesis is not closed")
		return d, false
	case len(d.axes) < 2:
		p.list.Add(at, "a merged dimension has at least two axes, such as (C K)")
		return d, false
	}
	p.i++
	return d, true
}

func (p *shapeParser) axis() (axisName, bool) {
	start := p.i
	for p.i < len(p.t.Value) && isIdentByte(p.t.Value[p.i]) {
		p.i++
	}
	name, at := p.t.Value[start:p.i], p.t.At(start)
	switch {
	case name == "":
		p.list.AddHint(at, `a shape is axis names, groups and products, such as "R... L (C K)"`,
			"unexpected %q in a shape", string([]rune(p.t.Value[start:])[:1]))
		return axisName{}, false
	case !isAxisName(name):
		p.list.Add(at, "%q cannot name an axis: an upper-case letter comes first", name)
		return axisName{}, false
	}
	return axisName{name, at}, true
}

func isIdentByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isAxisName(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' && spec.IsIdent(s) }

// distinct reports an axis that a shape holds twice.
func (p *shapeParser) distinct(dims []shapeDim) bool {
	seen := map[string]bool{}
	for _, d := range dims {
		for _, a := range d.axes {
			if seen[a.name] {
				p.list.Add(a.at, "the axis %s stands twice in one shape", a.name)
				return false
			}
			seen[a.name] = true
		}
	}
	return true
}
