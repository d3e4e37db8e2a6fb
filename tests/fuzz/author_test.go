//go:build proof

package fuzz

import (
	"fmt"
	"slices"
)

// value is something that an expression can read.
type value struct {
	name   string
	kind   kind
	shape  []int // axes in memory order
	bounds int   // axis along which the value is a position, or -1
	fill   bool  // may be read anywhere
	let    bool
}

func (v value) axes() axes { return setOf(v.shape) }

func (v value) read() *node {
	return &node{form: v.name, kind: v.kind, refs: []string{v.name}, axes: v.axes()}
}

// author writes a model by throwing dice.
type author struct {
	*dice
	m      *model
	values []value
	// allowed are the axes that the step at hand may use.
	allowed axes
}

// write returns the model that the dice say.
func write(d *dice) *model {
	a := &author{dice: d, m: &model{dtype: pick(d, "f32", "f32", "f16", "bf16")}}
	a.theme()
	a.parameters()
	for range 1 + d.n(4) {
		a.let()
	}
	for i := range 1 + d.n(3) {
		a.output(i)
	}
	a.inout()
	a.gradient()
	a.m.tidy()
	return a.m
}

func (a *author) axis(name string) int {
	a.m.axes = append(a.m.axes, axis{name: name})
	return len(a.m.axes) - 1
}

func (a *author) group(name string) int {
	a.m.axes = append(a.m.axes, axis{name: name, group: true})
	return len(a.m.axes) - 1
}

// in adds an input of the spec's type.
func (a *author) in(name string, shape ...int) { a.typed(name, "", -1, shape...) }

func (a *author) typed(name, typ string, bounds int, shape ...int) {
	t := tensor{name: name, typ: typ, shape: shape, bounds: bounds}
	v := value{name: name, shape: shape, bounds: bounds}
	switch {
	case typ == "i32" || typ == "u8":
		v.kind = integer
	case typ == "" && a.one(5):
		t.typ = "f32"
	}
	if v.kind == float && a.one(4) {
		t.fill, v.fill = pick(a.dice, "0", "1.5", "-inf"), true
	}
	a.m.ins = append(a.m.ins, t)
	a.values = append(a.values, v)
}

// theme chooses axes and inputs of one of the shapes that kernels are made for,
// or of none.
func (a *author) theme() {
	switch a.n(7) {
	case 0, 1: // rows
		r, d := a.group("R"), a.axis("D")
		a.in("x", r, d)
		a.in("w", d)
		a.in("c", r)
		a.typed("id", "i32", d, r)
		if a.one(3) {
			a.typed("mask", "u8", -1, r, d)
		}
	case 2: // matrix products
		m, k := a.axis("M"), a.axis("K")
		shape := []int{m, k}
		if a.one(2) {
			shape = []int{a.group("Z"), m, k}
		}
		n := a.axis("N")
		a.in("x", shape...)
		if a.one(2) {
			a.in("w", n, k)
		} else {
			a.in("w", k, n)
		}
		a.in("c", n)
		if a.one(2) {
			a.in("e", m)
		}
	case 3: // tables
		n, v, d := a.group("N"), a.axis("V"), a.axis("D")
		a.typed("id", "i32", v, n)
		a.in("x", v, d)
		a.in("w", n, d)
		if a.one(3) {
			a.in("c", v)
		}
	case 4: // windows
		b, l, c := a.axis("B"), a.axis("L"), a.axis("C")
		a.in("x", b, l, c)
		a.m.ins[0].fill, a.values[0].fill = "0", true
		a.in("w", c)
		w := a.axis("W")
		a.m.axes[w].extent = pick(a.dice, "size(L) + 1", "(size(L) + 1)/2", "2*size(L)", "max(size(L) - 2, 0)", "caller")
	case 5: // three axes in some order
		p, q, r := a.axis("P"), a.axis("Q"), a.axis("R")
		a.in("x", p, q, r)
		a.in("w", a.some(p, q, r)...)
		a.in("c", a.some(p, q, r)...)
		a.typed("n", "i32", -1, a.some(p, q, r)...)
	default: // everything along one group
		p := a.group("P")
		a.in("x", p)
		a.in("w", p)
		a.in("c")
		a.typed("mask", "u8", -1, p)
	}
	if a.one(12) {
		last := &a.m.ins[len(a.m.ins)-1]
		// An axis that the optional input alone has would lose its extent.
		if last.bounds < 0 && setOf(last.shape).within(a.others(len(a.m.ins)-1)) {
			last.optional = true
		}
	}
	a.m.static = a.one(16)
}

// others are the axes of all inputs but one.
func (a *author) others(but int) (s axes) {
	for i, t := range a.m.ins {
		if i != but {
			s |= setOf(t.shape)
		}
	}
	return s
}

// before are the axes of the inputs before number i: an inout stands behind the
// lets, and must not bring an axis.
func (a *author) before(i int) (s axes) {
	for _, t := range a.m.ins[:i] {
		s |= setOf(t.shape)
	}
	return s
}

// some returns some of the axes, in any order.
func (a *author) some(of ...int) (shape []int) {
	for _, x := range a.shuffled(of) {
		if a.one(2) {
			shape = append(shape, x)
		}
	}
	return shape
}

func (a *author) shuffled(of []int) []int {
	list := slices.Clone(of)
	for i := len(list) - 1; i > 0; i-- {
		if a.one(3) {
			j := a.n(i)
			list[i], list[j] = list[j], list[i]
		}
	}
	return list
}

func (a *author) parameters() {
	if a.one(3) {
		a.parameter("p", "f32", pick(a.dice, "0.5", "-1.25", "0.1"), float)
	}
	if a.one(5) {
		a.parameter("k", "i32", pick(a.dice, "1", "3"), integer)
	}
	if a.one(10) {
		a.parameter("flag", "bool", "true", boolean)
	}
	if a.one(10) {
		a.m.params = append(a.m.params, param{"seed", "u64", "7"})
	}
}

func (a *author) parameter(name, typ, def string, k kind) {
	a.m.params = append(a.m.params, param{name, typ, def})
	a.values = append(a.values, value{name: name, kind: k, bounds: -1, let: true})
}

func (a *author) all() axes { return axes(1)<<len(a.m.axes) - 1 }

// subset is a random set of one to three axes.
func (a *author) subset() (s axes) {
	list := a.all().list()
	for range 1 + a.n(3) {
		s = s.with(list[a.n(len(list))])
	}
	return s
}

// let adds a step that later ones can read.
func (a *author) let() {
	s := step{name: fmt.Sprintf("t%d", len(a.m.lets))}
	a.allowed = a.subset()
	v := value{name: s.name, bounds: -1, let: true}
	switch a.n(8) {
	case 0, 1:
		s.expr = a.float(3)
	case 2, 3, 4:
		s.expr = a.reduction(&s, &v)
	case 5:
		s.expr = a.product(&s)
	case 6:
		s.expr = a.scatter(&s)
	default:
		v.kind = pick(a.dice, integer, boolean)
		s.expr = a.expr(v.kind, 2)
	}
	v.shape = (s.expr.used() &^ setOf(s.over)).list()
	a.m.lets = append(a.m.lets, s)
	a.values = append(a.values, v)
}

// reduction makes s a reduction over some of the axes of its expression.
func (a *author) reduction(s *step, v *value) *node {
	s.reduce = pick(a.dice, "sum", "max", "mean", "argmax", "min", "argmin", "prod", "any", "all", "sum")
	k := float
	switch s.reduce {
	case "any", "all":
		k, v.kind = boolean, boolean
	case "sum", "max", "min":
		k = pick(a.dice, float, float, float, integer)
		v.kind = k
	case "argmax", "argmin":
		k, v.kind = pick(a.dice, float, float, integer), integer
	}
	e := a.expr(k, 2)
	if e.used() == 0 {
		e = a.varying(e, k)
	}
	if s.reduce == "prod" { // factors near one
		e = &node{form: "(1 + 0.25*tanh($0))", args: []*node{e}}
	}
	used := e.used().list()
	s.over = a.someOf(used)
	if len(s.over) == 1 && (s.reduce == "argmax" || s.reduce == "argmin") {
		v.bounds = s.over[0]
	}
	return e
}

// someOf returns one axis or more of the list, in the order of the list.
func (a *author) someOf(list []int) []int {
	var some []int
	for _, x := range list {
		if a.one(2) {
			some = append(some, x)
		}
	}
	if len(some) == 0 && len(list) > 0 {
		some = append(some, list[len(list)-1-a.n(len(list))])
	}
	return some
}

// varying makes an expression depend on an axis.
func (a *author) varying(e *node, k kind) *node {
	list := a.all().list()
	x := list[a.n(len(list))]
	a.allowed = a.allowed.with(x)
	i := a.index(x)
	switch k {
	case integer:
		return &node{form: "($0 + $1)", args: []*node{e, i}, kind: integer}
	case boolean:
		return &node{form: "($0 || $1 % 2 == 1)", args: []*node{e, i}, kind: boolean}
	}
	return &node{form: "($0 + 0.125*f32($1))", args: []*node{e, i}}
}

func (a *author) index(x int) *node {
	name := a.m.axes[x].name
	return &node{form: name, kind: integer, refs: []string{name}, axes: axes(0).with(x)}
}

// product makes s a sum of products over an axis that two values share, with
// what may stand in front of a matrix product.
func (a *author) product(s *step) *node {
	var pairs [][3]int
	for i, x := range a.values {
		for j, y := range a.values {
			for _, k := range (x.axes() & y.axes()).list() {
				if x.kind == float && y.kind == float && x.axes()&^y.axes() != 0 && y.axes()&^x.axes() != 0 {
					pairs = append(pairs, [3]int{i, j, k})
				}
			}
		}
	}
	s.reduce = "sum"
	if len(pairs) == 0 {
		s.over = []int{0}
		return a.varying(a.float(1), float)
	}
	p := pairs[a.n(min(len(pairs), 256))]
	s.over = []int{p[2]}
	x, y := a.prologue(a.values[p[0]]), a.prologue(a.values[p[1]])
	return &node{form: pick(a.dice, "$0 * $1", "$0 * $1", "0.5 * $0 * $1", "$0 * $1 * 0.25"), args: []*node{x, y}}
}

func (a *author) prologue(v value) *node {
	a.allowed = v.axes()
	switch a.n(6) {
	case 5:
		return &node{form: "where($0, $1, 0)", args: []*node{a.bool(1), v.read()}}
	case 4:
		return &node{form: "($0 + $1)", args: []*node{v.read(), a.float(1)}}
	case 3:
		return &node{form: pick(a.dice, "tanh($0)", "max($0, 0)"), args: []*node{v.read()}}
	}
	return v.read()
}

// scatter makes s a sum over the places that an id names.
func (a *author) scatter(s *step) *node {
	s.reduce = "sum"
	for _, v := range a.shuffledValues() {
		if v.bounds < 0 || v.let || len(v.shape) == 0 {
			continue
		}
		s.over = v.shape
		a.allowed = a.subset() | v.axes()
		a.allowed &^= axes(0).with(v.bounds)
		id, at := v.read(), a.index(v.bounds)
		if a.one(3) {
			return &node{form: "where($0 == $1 && $3, $2, 0)", args: []*node{id, at, a.float(1), a.bool(1)}}
		}
		return &node{form: pick(a.dice, "where($0 == $1, $2, 0)", "where($1 == $0, $2, 0)"), args: []*node{id, at, a.float(1)}}
	}
	s.over = []int{0}
	return a.varying(a.float(2), float)
}

func (a *author) shuffledValues() []value {
	list := slices.Clone(a.values)
	for i := len(list) - 1; i > 0; i-- {
		j := a.n(i + 1)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// output adds an output, the first of which reads lets that nothing else does.
func (a *author) output(i int) {
	s := step{name: [...]string{"y", "z", "v"}[i], merged: -1}
	a.allowed = a.subset()
	var v value
	switch a.n(6) {
	case 5:
		s.typ = pick(a.dice, "i32", "u8", "f32")
		k := map[string]kind{"i32": integer, "u8": boolean, "f32": float}[s.typ]
		s.expr = a.expr(k, 2)
	case 4:
		s.expr = a.reduction(&s, &v)
		if v.kind != float {
			s.typ = "i32"
		}
	default:
		s.expr = a.float(3)
	}
	if i == 0 && s.reduce == "" && s.typ == "" {
		s.expr = a.joined(s.expr)
	}
	a.place(&s)
	a.m.outs = append(a.m.outs, s)
}

// joined adds the lets that nothing reads to e.
func (a *author) joined(e *node) *node {
	used := a.m.used()
	e.names(used)
	for _, v := range a.values {
		if !v.let || used[v.name] || slices.ContainsFunc(a.m.params, func(p param) bool { return p.name == v.name }) {
			continue
		}
		form := map[kind]string{float: "($0 + $1)", integer: "($0 + f32($1))", boolean: "where($1, $0, 0.5)"}[v.kind]
		e = &node{form: form, args: []*node{e, v.read()}}
	}
	return e
}

// place gives an output its shape: the axes of its expression in some order,
// now and then one more, along which it repeats, and two that are one dimension.
func (a *author) place(s *step) {
	used := s.expr.used() &^ setOf(s.over)
	if a.one(8) {
		used |= a.subset() &^ setOf(s.over)
	}
	s.shape = a.shuffled(used.list())
	if len(s.shape) < 2 || !a.one(8) {
		return
	}
	for i := range s.shape[1:] {
		if !a.m.axes[s.shape[i]].group && !a.m.axes[s.shape[i+1]].group {
			s.merged = i
		}
	}
}

// inout makes an input one whose new value the spec computes.
func (a *author) inout() {
	if !a.one(6) {
		return
	}
	for i := range a.m.ins {
		t := &a.m.ins[i]
		if t.typ != "i32" && t.typ != "u8" && t.bounds < 0 && !t.optional && setOf(t.shape).within(a.before(i)) {
			a.allowed = setOf(t.shape)
			t.value = &node{form: "(0.5*$0 + $1)", args: []*node{
				{form: t.name, refs: []string{t.name}, axes: setOf(t.shape)}, a.float(2),
			}}
			return
		}
	}
}

// gradient asks for one with respect to some of the float inputs.
func (a *author) gradient() {
	if slices.ContainsFunc(a.m.ins, func(t tensor) bool { return t.value != nil || t.optional }) ||
		!slices.ContainsFunc(a.m.outs, func(s step) bool { return s.typ == "" || s.typ == "f32" }) || !a.one(2) {
		return
	}
	for _, t := range a.m.ins {
		if t.typ != "i32" && t.typ != "u8" && (len(a.m.wrt) == 0 || a.one(2)) {
			a.m.wrt = append(a.m.wrt, t.name)
		}
	}
}
