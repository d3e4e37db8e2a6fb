//go:build proof

package fuzz

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// shrinkBatch is how many smaller specs are tried in one compilation.
const shrinkBatch = 12

// shrink reduces a failing specimen to one that fails in the same way and of
// which no part can be left out, as far as the time allows.
func (l *lab) shrink(s specimen, f finding, limit time.Duration) (specimen, finding) {
	deadline := time.Now().Add(limit)
	small := &lab{c: l.c, sim: l.sim}
	if strings.HasPrefix(f.target, "metal") {
		small.c = nil
	} else {
		small.sim = nil
	}
	s.given, s.data = f.given, f.data
	if f.given == nil {
		s.calls = 0 // a stage of the compiler has failed: nothing has to run
	}
	for time.Now().Before(deadline) {
		next, g, ok := small.smaller(s, f, deadline)
		if !ok {
			break
		}
		s, f = next, g
	}
	return s, f
}

// smaller returns the first of the simpler specimens that fails as f does.
func (l *lab) smaller(s specimen, f finding, deadline time.Time) (specimen, finding, bool) {
	list := s.simpler()
	for len(list) > 0 && time.Now().Before(deadline) {
		n := min(shrinkBatch, len(list))
		batch := list[:n]
		list = list[n:]
		found := l.try(batch)
		found = slices.DeleteFunc(found, func(g finding) bool { return g.kind != f.kind })
		if len(found) > 0 {
			g := slices.MinFunc(found, func(x, y finding) int { return x.at - y.at })
			return batch[g.at], g, true
		}
	}
	return s, f, false
}

// simpler lists specimens with a part left out, large parts first.
func (s *specimen) simpler() []specimen {
	var list []specimen
	if s.model != nil {
		for _, m := range s.model.simpler() {
			m.tidy()
			next := *s
			next.model, next.text = m, m.text()
			if len(next.text) <= len(s.text) && next.text != s.text {
				list = append(list, next)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		for i, d := range s.given[name] {
			for _, n := range []int{1, 2, 3, d / 2, d - 1} {
				if n > 0 && n < d {
					next := *s
					next.given = maps.Clone(s.given)
					next.given[name] = slices.Clone(s.given[name])
					next.given[name][i] = n
					list = append(list, next)
				}
			}
		}
		if len(s.given[name]) > 1 {
			next := *s
			next.given = maps.Clone(s.given)
			next.given[name] = s.given[name][1:]
			list = append(list, next)
		}
	}
	return list
}

// simpler lists models with a part left out. Some are not well-formed.
func (m *model) simpler() []*model {
	var list []*model
	add := func(change func(*model)) {
		c := m.clone()
		change(c)
		list = append(list, c)
	}
	if m.static {
		add(func(c *model) { c.static = false })
	}
	for i := range m.wrt {
		add(func(c *model) { c.wrt = slices.Delete(c.wrt, i, i+1) })
	}
	for i := range m.outs {
		add(func(c *model) { c.outs = slices.Delete(c.outs, i, i+1) })
	}
	for _, s := range m.lets {
		add(func(c *model) { c.forget(s.name) })
	}
	for i, t := range m.ins {
		add(func(c *model) {
			c.forget(t.name)
			c.ins = slices.Delete(c.ins, i, i+1)
		})
		add(func(c *model) { c.ins[i].value = nil })
		add(func(c *model) { c.ins[i].fill = "" })
		add(func(c *model) { c.ins[i].bounds = -1 })
		add(func(c *model) { c.ins[i].optional = false })
		if t.typ == "f32" {
			add(func(c *model) { c.ins[i].typ = "" })
		}
	}
	for _, p := range m.params {
		add(func(c *model) { c.forget(p.name) })
	}
	for a := range m.axes {
		add(func(c *model) { c.drop(a) })
		if m.axes[a].group {
			add(func(c *model) { c.axes[a].group = false })
		}
	}
	for i, s := range m.outs {
		if s.merged >= 0 {
			add(func(c *model) { c.outs[i].merged = -1 })
		}
	}
	add(func(c *model) { c.dtype = "f32" })
	m.eachExpr(func(c *model) { list = append(list, c) })
	return list
}

// forget replaces what reads the name by a number.
func (m *model) forget(name string) {
	m.rewrite(func(n *node) *node {
		if slices.Contains(n.refs, name) {
			return number(n.kind)
		}
		return n
	})
}

func number(k kind) *node {
	return &node{form: map[kind]string{float: "0.5", integer: "1", boolean: "true"}[k], kind: k}
}

// drop takes an axis out of all shapes.
func (m *model) drop(a int) {
	without := func(list []int) []int {
		return slices.DeleteFunc(slices.Clone(list), func(x int) bool { return x == a })
	}
	for i := range m.ins {
		m.ins[i].shape = without(m.ins[i].shape)
	}
	for _, steps := range [][]step{m.lets, m.outs} {
		for i := range steps {
			s := &steps[i]
			s.shape, s.over = without(s.shape), without(s.over)
			if len(s.over) == 0 {
				s.reduce = ""
			}
		}
	}
	name := m.axes[a].name
	m.rewrite(func(n *node) *node {
		if n.form == name {
			return &node{form: "0", kind: integer}
		}
		return n
	})
}

// slots are the places of the model that hold an expression.
func (m *model) slots() []**node {
	var list []**node
	for i := range m.lets {
		list = append(list, &m.lets[i].expr)
	}
	for i := range m.outs {
		list = append(list, &m.outs[i].expr)
	}
	for i := range m.ins {
		if m.ins[i].value != nil {
			list = append(list, &m.ins[i].value)
		}
	}
	return list
}

// rewrite replaces every node by what f gives for it, operands first.
func (m *model) rewrite(f func(*node) *node) {
	for _, slot := range m.slots() {
		*slot = rewritten(*slot, f)
	}
}

func rewritten(n *node, f func(*node) *node) *node {
	c := *n
	c.args = nil
	for _, a := range n.args {
		c.args = append(c.args, rewritten(a, f))
	}
	return f(&c)
}

// eachExpr gives a copy of the model for each node and each thing simpler that
// can stand in its place.
func (m *model) eachExpr(found func(*model)) {
	for i, slot := range m.slots() {
		for path, n := range nodes(*slot, nil) {
			for _, s := range n.simpler() {
				c := m.clone()
				*c.slots()[i] = replaced(*slot, []byte(path), s)
				found(c)
			}
		}
	}
}

// nodes yields every node of e with its path from the root, the root first.
func nodes(e *node, path []byte) func(yield func(string, *node) bool) {
	return func(yield func(string, *node) bool) {
		visit(e, path, yield)
	}
}

func visit(e *node, path []byte, yield func(string, *node) bool) bool {
	if !yield(string(path), e) {
		return false
	}
	for i, a := range e.args {
		if !visit(a, append(slices.Clone(path), byte(i)), yield) {
			return false
		}
	}
	return true
}

// simpler is what can stand for n: an operand of its kind, or a number.
func (n *node) simpler() (list []*node) {
	for _, a := range n.args {
		if a.kind == n.kind {
			list = append(list, a)
		}
	}
	if len(n.args) > 0 || len(n.refs) > 0 {
		list = append(list, number(n.kind))
	}
	return list
}

func replaced(e *node, path []byte, by *node) *node {
	if len(path) == 0 {
		return by
	}
	c := *e
	c.args = slices.Clone(e.args)
	c.args[path[0]] = replaced(e.args[path[0]], path[1:], by)
	return &c
}
