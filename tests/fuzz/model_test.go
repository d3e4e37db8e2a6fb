//go:build proof

package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// kind is the kind of an expression's value.
type kind uint8

const (
	float kind = iota
	integer
	boolean
)

// node is an expression: a form in which $0, $1 … stand for its operands. A
// leaf that names something says so in refs.
type node struct {
	form string
	args []*node
	kind kind
	refs []string
	axes axes // used by the node itself; those of operands are added by used
}

// axes is a set of a model's axes.
type axes uint32

func (s axes) has(a int) bool     { return s&(1<<a) != 0 }
func (s axes) with(a int) axes    { return s | 1<<a }
func (s axes) within(o axes) bool { return s&^o == 0 }
func setOf(list []int) (s axes) {
	for _, a := range list {
		s = s.with(a)
	}
	return s
}

// list returns the axes in the order of their declaration.
func (s axes) list() (list []int) {
	for a := range 32 {
		if s.has(a) {
			list = append(list, a)
		}
	}
	return list
}

func (n *node) used() axes {
	s := n.axes
	for _, a := range n.args {
		s |= a.used()
	}
	return s
}

func (n *node) String() string {
	if len(n.args) == 0 {
		return n.form
	}
	text := n.form
	for i, a := range n.args {
		text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i), a.String())
	}
	return text
}

// names adds to set what n names.
func (n *node) names(set map[string]bool) {
	for _, r := range n.refs {
		set[r] = true
	}
	for _, a := range n.args {
		a.names(set)
	}
}

// axis is a named axis; one with an extent or for the caller to choose stands
// in [axes].
type axis struct {
	name   string
	group  bool
	extent string
}

type param struct{ name, typ, def string }

// tensor is an input, or with an expression an inout.
type tensor struct {
	name, typ string
	shape     []int
	fill      string
	bounds    int // axis whose extent bounds the values, or -1
	optional  bool
	value     *node // of an inout
}

// step is a let or an output.
type step struct {
	name, typ string
	shape     []int // of an output
	merged    int   // dimension of the shape that is merged with the next, or -1
	over      []int
	reduce    string
	expr      *node
}

// model is a spec that a program can change.
type model struct {
	dtype  string
	static bool // has the static mode = a or b
	axes   []axis
	params []param
	ins    []tensor
	lets   []step
	outs   []step
	wrt    []string // a gradient with respect to these, if any
}

func (m *model) dim(a int) string {
	if m.axes[a].group {
		return m.axes[a].name + "..."
	}
	return m.axes[a].name
}

func (m *model) dims(shape []int, merged int) string {
	var parts []string
	for i := 0; i < len(shape); i++ {
		if i == merged && i+1 < len(shape) {
			parts = append(parts, "("+m.dim(shape[i])+" "+m.dim(shape[i+1])+")")
			i++
			continue
		}
		parts = append(parts, m.dim(shape[i]))
	}
	return strings.Join(parts, " ")
}

// text is the model as a spec file.
func (m *model) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("doc = \"A drawn spec.\"\nsource = \"None.\"\ndtypes = [%q]", m.dtype)
	if m.static {
		line("[static]\nmode = [\"a\", \"b\"]")
	}
	for _, p := range m.params {
		line("[param.%s]\ntype = %q\ndefault = %s\ndoc = \"A number.\"", p.name, p.typ, p.def)
	}
	for _, t := range m.ins {
		if t.value == nil {
			m.input(line, t)
		}
	}
	m.extents(line)
	for _, s := range m.lets {
		line("[let.%s]", s.name)
		m.body(line, s)
	}
	for _, t := range m.ins {
		if t.value != nil {
			m.input(line, t)
		}
	}
	for _, s := range m.outs {
		line("[out.%s]\nshape = %q\ndoc = \"A result.\"", s.name, m.dims(s.shape, s.merged))
		if s.typ != "" {
			line("type = %q", s.typ)
		}
		m.body(line, s)
	}
	if len(m.wrt) > 0 {
		line("[grad]\nwrt = [%s]", `"`+strings.Join(m.wrt, `", "`)+`"`)
	}
	return b.String()
}

func (m *model) input(line func(string, ...any), t tensor) {
	table := "in"
	if t.value != nil {
		table = "inout"
	}
	line("[%s.%s]\nshape = %q\ndoc = \"An operand.\"", table, t.name, m.dims(t.shape, -1))
	if t.typ != "" {
		line("type = %q", t.typ)
	}
	if t.fill != "" {
		line("fill = %s", t.fill)
	}
	if t.bounds >= 0 {
		line("bounds = \"size(%s)\"", m.axes[t.bounds].name)
	}
	if t.optional {
		line("optional = true")
	}
	if t.value != nil {
		line("expr = %q", t.value)
	}
}

func (m *model) extents(line func(string, ...any)) {
	if !slices.ContainsFunc(m.axes, func(a axis) bool { return a.extent != "" }) {
		return
	}
	line("[axes]")
	for _, a := range m.axes {
		if a.extent != "" {
			line("%s = %q", a.name, a.extent)
		}
	}
}

func (m *model) body(line func(string, ...any), s step) {
	if s.reduce != "" {
		line("over = %q\nreduce = %q", m.dims(s.over, -1), s.reduce)
	}
	line("expr = %q", s.expr)
}

// tidy drops what nothing uses, which the language calls a mistake.
func (m *model) tidy() {
	for {
		used := m.used()
		n := len(m.lets) + len(m.params)
		m.lets = slices.DeleteFunc(m.lets, func(s step) bool { return !used[s.name] })
		m.params = slices.DeleteFunc(m.params, func(p param) bool { return !used[p.name] })
		if len(m.lets)+len(m.params) == n {
			m.static = m.static && used["mode"]
			for i := range m.axes {
				if a := &m.axes[i]; a.extent != "" && !used[a.name] {
					a.extent = ""
				}
			}
			return
		}
	}
}

// used are the names that expressions, shapes and bounds use.
func (m *model) used() map[string]bool {
	set := map[string]bool{}
	for _, s := range append(slices.Clone(m.lets), m.outs...) {
		s.expr.names(set)
		for _, a := range append(slices.Clone(s.shape), s.over...) {
			set[m.axes[a].name] = true
		}
	}
	for _, t := range m.ins {
		if t.value != nil {
			t.value.names(set)
		}
	}
	return set
}

// clone copies the model; expressions are shared, since no node changes.
func (m *model) clone() *model {
	c := *m
	c.axes, c.params = slices.Clone(m.axes), slices.Clone(m.params)
	c.ins, c.lets, c.outs = slices.Clone(m.ins), slices.Clone(m.lets), slices.Clone(m.outs)
	c.wrt = slices.Clone(m.wrt)
	return &c
}
