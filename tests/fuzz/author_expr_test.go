//go:build proof

package fuzz

import (
	"slices"
	"strings"
)

func (a *author) expr(k kind, depth int) *node {
	switch k {
	case integer:
		return a.int(depth)
	case boolean:
		return a.bool(depth)
	}
	return a.float(depth)
}

// The forms of floats: $a and $b are floats, $i an int, $c a bool. They keep
// values near one, and denominators and the arguments of roots and logarithms
// away from zero, so that the intervals stay narrow.
var floatForms = []string{
	"($a + $b)", "($a - $b)", "$a * $b", "$a * $b", "0.5*$a", "-$a", "tanh($a)", "max($a, $b)", "min($a, $b)",
	"where($c, $a, $b)", "where($c, $a, 0)", "sigmoid($a)", "exp(min($a, 2))", "exp(-$a*$a)", "$a / (1.5 + tanh($b))",
	"sqrt(1 + $a*$a)", "rsqrt(1 + $a*$a)", "log(1.5 + abs($a))", "log1p(abs($a))", "expm1(tanh($a))", "erf($a)", "abs($a)",
	"fma($a, $b, 0.25)", "pow(1 + abs($a), 0.5)", "sign($a)", "f16(tanh($a))", "bf16($a)", "stop($a)", "f32($i)",
	"floor($a)", "round($a)", "where(isnan($a), 0, $b)", "min($a, 1, $b)", "$a * f32($c)", "max($a, 0)", "ceil($a)",
}

var intForms = []string{
	"($i + $j)", "($i - $j)", "$i * 2", "$i / 2", "$i % 3", "min($i, $j)", "max($i, 1)", "where($c, $i, $j)", "abs($i)",
	"-$i", "i32($a)", "($i & 3)", "($i << 1)", "i32($c)", "$i % -2", "-$i / 3", "($i ^ 1)", "($i | 4)", "($i >> 1)",
}

var boolForms = []string{
	"$a > $b", "$a > 0.25", "$i == $j", "$i < $j", "$c && $d", "$c || $d", "!$c", "$i % 2 == 0", "$a <= $b", "$i != 1",
	"isnan($a)", "isinf($a)", "$c == $d", "$a != $b", "$i >= 2",
}

// filled puts operands into a form. Two operands of one letter are one node.
func (a *author) filled(k kind, form string, depth int) *node {
	n := &node{form: form, kind: k}
	for _, hole := range []struct {
		mark string
		kind kind
	}{{"$a", float}, {"$b", float}, {"$i", integer}, {"$j", integer}, {"$c", boolean}, {"$d", boolean}} {
		if strings.Contains(form, hole.mark) {
			n.form = strings.ReplaceAll(n.form, hole.mark, "$"+string(rune('0'+len(n.args))))
			n.args = append(n.args, a.expr(hole.kind, depth-1))
		}
	}
	if n.form[0] != '(' {
		n.form = "(" + n.form + ")"
	}
	return n
}

func (a *author) float(depth int) *node {
	if depth <= 0 || a.one(5) {
		return a.floatLeaf()
	}
	switch a.n(24) {
	case 23:
		if a.m.static {
			return &node{form: `where(mode == "a", $0, $1)`, refs: []string{"mode"}, args: []*node{a.float(depth - 1), a.float(depth - 1)}}
		}
	case 22:
		if n := a.random(); n != nil {
			return n
		}
	}
	return a.filled(float, pick(a.dice, floatForms...), depth)
}

// floatLeaf reads a value, here or elsewhere, or is a number.
func (a *author) floatLeaf() *node {
	for range 3 {
		v, ok := a.readable(float)
		if !ok {
			break
		}
		if v.axes().within(a.allowed) && !a.one(6) {
			return a.guarded(v, v.read())
		}
		if n := a.elsewhere(v); n != nil {
			return a.guarded(v, n)
		}
	}
	if list := a.allowed.list(); len(list) > 0 && a.one(4) {
		return &node{form: "0.125*f32($0)", args: []*node{a.index(list[a.n(len(list))])}}
	}
	return &node{form: pick(a.dice, "0.5", "1.25", "-0.75", "2", "0.1", "inf()")}
}

// guarded reads an optional input only where it is there.
func (a *author) guarded(v value, n *node) *node {
	if slices.ContainsFunc(a.m.ins, func(t tensor) bool { return t.name == v.name && t.optional }) {
		return &node{form: "where(has(" + v.name + "), $0, 0.5)", refs: []string{v.name}, args: []*node{n}, kind: v.kind}
	}
	return n
}

func (a *author) readable(k kind) (value, bool) {
	var list []value
	for _, v := range a.values {
		if v.kind == k {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return value{}, false
	}
	return list[a.n(len(list))], true
}

// elsewhere reads a tensor at a place that its axes do not name, if one can be
// said that lies inside.
func (a *author) elsewhere(v value) *node {
	n := &node{kind: v.kind, refs: []string{v.name}}
	if len(v.shape) == 0 {
		return nil
	}
	var marks []string
	for i, x := range v.shape {
		at := a.position(x, v.fill)
		if at == nil {
			return nil
		}
		n.args = append(n.args, at)
		marks = append(marks, "$"+string(rune('0'+i)))
	}
	n.form = v.name + "[" + strings.Join(marks, ", ") + "]"
	return n
}

// position is an index along axis x, anywhere at all where a fill serves what
// lies outside.
func (a *author) position(x int, fill bool) *node {
	if fill && a.allowed != 0 {
		list := a.allowed.list()
		y := a.index(list[a.n(len(list))])
		switch a.n(6) {
		case 0:
			return &node{form: "($0 - 1)", args: []*node{y}, kind: integer}
		case 1:
			return &node{form: "(2*$0 - 1)", args: []*node{y}, kind: integer}
		case 2:
			return &node{form: "($0 + $1 - 2)", args: []*node{y, a.index(list[a.n(len(list))])}, kind: integer}
		case 3:
			// Kept from the ends of the ints, where the offset overflows that a
			// kernel computes and, since it is outside, does not use.
			return &node{form: "max(min($0, 999), -999)", args: []*node{a.int(1)}, kind: integer}
		}
	}
	if ids := a.positionsAlong(x); len(ids) > 0 && a.one(2) {
		return ids[a.n(len(ids))].read()
	}
	if !a.allowed.has(x) {
		return nil
	}
	name := a.m.axes[x].name
	form := pick(a.dice, "$0", "$0", "$0", "(size(X) - 1 - $0)", "($0/2)", "min($0 + 1, size(X) - 1)", "max($0 - 2, 0)")
	return &node{form: strings.ReplaceAll(form, "X", name), args: []*node{a.index(x)}, kind: integer}
}

// positionsAlong are the values that hold positions along x.
func (a *author) positionsAlong(x int) (list []value) {
	for _, v := range a.values {
		if v.bounds == x && v.axes().within(a.allowed) {
			list = append(list, v)
		}
	}
	return list
}

// random is a uniform number for each element of an input.
func (a *author) random() *node {
	if !slices.ContainsFunc(a.m.params, func(p param) bool { return p.name == "seed" }) {
		return nil
	}
	for _, v := range a.values {
		if !v.let && v.kind == float && v.axes().within(a.allowed) {
			form := "uniform(philox(seed, flat(" + v.name + ")))"
			return a.guarded(v, &node{form: form, refs: []string{"seed", v.name}, axes: v.axes()})
		}
	}
	return nil
}

func (a *author) int(depth int) *node {
	if depth <= 0 || a.one(4) {
		return a.intLeaf()
	}
	return a.filled(integer, pick(a.dice, intForms...), depth)
}

func (a *author) intLeaf() *node {
	if v, ok := a.readable(integer); ok && v.axes().within(a.allowed) && a.one(2) {
		return a.guarded(v, v.read())
	}
	list := a.allowed.list()
	switch {
	case len(list) == 0 || a.one(5):
		return &node{form: pick(a.dice, "1", "2", "0", "7"), kind: integer}
	case a.one(4):
		name := a.m.axes[list[a.n(len(list))]].name
		return &node{form: "size(" + name + ")", kind: integer, refs: []string{name}}
	}
	return a.index(list[a.n(len(list))])
}

func (a *author) bool(depth int) *node {
	if v, ok := a.readable(boolean); ok && v.axes().within(a.allowed) && (depth <= 0 || a.one(4)) {
		return v.read()
	}
	if depth <= 0 {
		return &node{form: "($0 > $1)", args: []*node{a.floatLeaf(), a.floatLeaf()}, kind: boolean}
	}
	return a.filled(boolean, pick(a.dice, boolForms...), depth)
}
