package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// cotangent returns the cotangent of t as a read or constant, and the soft
// conditions under which it may be other than zero.
func (b *builder) cotangent(t *expr.Tensor) (expr.Expr, []cond) {
	e, path := b.total(t)
	switch x := e.(type) {
	case *expr.Const:
		return e, nil
	case *expr.Read:
		if x.Idx == nil {
			b.rename(x.T, "d_"+t.Name)
			return e, b.unlost(path, e)
		}
	}
	e = expr.ReadOf(e.Pos(), b.let("d_"+t.Name, expr.NoReduce, nil, e))
	return e, b.unlost(path, e)
}

// lost marks a set of conditions that was summed over: what is left of it is
// that the cotangent is zero where none held.
var lost = cond{soft: true}

// unlost replaces the mark by the condition that cotangent e is not zero.
func (b *builder) unlost(path []cond, e expr.Expr) []cond {
	for i, c := range path {
		if c.e == nil {
			path[i] = cond{e: isZero(e.Pos(), e), neg: true, soft: true}
		}
	}
	return path
}

// rename gives a let with a made-up name its final one.
func (b *builder) rename(t *expr.Tensor, name string) {
	if !b.auto[t] || t.Name == name {
		return
	}
	delete(b.names, t.Name)
	t.Name = b.unique(name)
	delete(b.auto, t)
}

// total adds up the contributions to t. The conditions that all of them share
// come back as soft ones.
func (b *builder) total(t *expr.Tensor) (expr.Expr, []cond) {
	terms := b.reduced(t)
	if len(terms) == 0 {
		return expr.Num(t.Pos, 0), nil
	}
	path := shared(terms)
	if len(path) == 0 && !slices.ContainsFunc(b.cot[t], func(c term) bool { return !summedOver(c, t) }) {
		path = []cond{lost}
	}
	return b.join(merge(terms)), path
}

// reduced returns the contributions to t, each summed over what t does not vary
// over.
func (b *builder) reduced(t *expr.Tensor) []term {
	var terms []term
	for _, c := range b.cot[t] {
		if c = b.reduce(t, c); c.val != nil {
			terms = append(terms, c)
		}
	}
	return terms
}

// summedOver reports whether a condition of c varies along an axis that t does
// not have.
func summedOver(c term, t *expr.Tensor) bool {
	over := minus(c.space, t.Axes)
	return slices.ContainsFunc(c.path, func(d cond) bool { return len(meet(expr.UsedAxes(d.e), over)) > 0 })
}

// shared returns the conditions that are in the path of every term, as soft
// ones.
func shared(terms []term) []cond {
	var path []cond
	for _, c := range terms[0].path {
		everywhere := true
		for _, t := range terms[1:] {
			everywhere = everywhere && implies(t.path, []cond{c})
		}
		if everywhere {
			path = append(path, cond{e: c.e, neg: c.neg, soft: true})
		}
	}
	return path
}

// reduce sums a contribution to t over the axes that t does not have. What is
// left has the axes of t at most, and the conditions that do not vary along the
// summed ones.
func (b *builder) reduce(t *expr.Tensor, c term) term {
	over := minus(c.space, t.Axes)
	c = b.simplify(c)
	c.path = b.prune(c, over)
	c.space = t.Axes
	if len(over) == 0 {
		return c
	}
	var outer []cond
	var inside expr.Expr
	for _, d := range c.path {
		switch {
		case len(meet(expr.UsedAxes(d.e), over)) == 0:
			outer = append(outer, d)
		case inside == nil:
			inside = d.bool()
		default:
			inside = expr.AndOf(d.e.Pos(), inside, d.bool())
		}
	}
	c.path = outer
	name := "d_" + t.Name + "_part"
	if inside == nil {
		c.val = b.sum(name, c.val, over)
	} else {
		c.val = b.sumWhere(name, inside, c.val, over)
	}
	return c
}

// prune drops the conditions of c that keep nothing infinite out: soft ones with
// no such factor, or one that leaves the sum over the given axes, and those
// outside of which the value is zero anyway. Soft ones also make way for a
// matrix product.
func (b *builder) prune(c term, over []*expr.Axis) []cond {
	_, _, product := matrices(factors(c.val), over)
	product = product && len(over) > 0
	_, inner := factors(c.val).hoist(func(f expr.Expr) bool {
		return len(meet(expr.UsedAxes(f), over)) == 0
	})
	summed := inner.expr(c.val.Pos())
	var path []cond
	for _, d := range c.path {
		val := c.val
		if len(meet(expr.UsedAxes(d.e), over)) > 0 {
			val = summed
		}
		if d.soft && (product || b.tameBut(val, d.about, c.path)) || b.implied(c.val, d, c.path) {
			continue
		}
		path = append(path, d)
	}
	return path
}

// join adds up terms, with the conditions that they share outermost.
func (b *builder) join(terms []term) expr.Expr {
	var parts []term
	var heads []string
	groups := map[string][]term{}
	for _, t := range terms {
		if len(t.path) == 0 {
			parts = append(parts, t)
			continue
		}
		k := expr.Key(t.path[0].e)
		if groups[k] == nil {
			heads = append(heads, k)
		}
		groups[k] = append(groups[k], t)
	}
	for _, k := range heads {
		parts = append(parts, term{val: b.choose(groups[k])})
	}
	return add(parts)
}

// choose joins terms whose paths begin with the same condition or its opposite.
func (b *builder) choose(terms []term) expr.Expr {
	c := terms[0].path[0].e
	var yes, no []term
	for _, t := range terms {
		rest := term{path: t.path[1:], val: t.val, space: t.space}
		if t.path[0].neg {
			no = append(no, rest)
		} else {
			yes = append(yes, rest)
		}
	}
	at := terms[0].val.Pos()
	side := func(ts []term) expr.Expr {
		if len(ts) == 0 {
			return expr.Num(at, 0)
		}
		return b.join(ts)
	}
	y, n := side(yes), side(no)
	if w, ok := y.(*expr.Where); ok && expr.IsNum(n, 0) && expr.IsNum(w.B, 0) {
		return expr.WhereOf(at, expr.AndOf(at, c, w.C), w.A, w.B)
	}
	return expr.WhereOf(at, c, y, n)
}
