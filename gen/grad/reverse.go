package grad

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// node is a distinct subexpression of a step, with what has been contributed to
// its cotangent so far.
type node struct {
	e      expr.Expr
	kids   []*node
	axes   []*expr.Axis
	active bool
	terms  []term
}

// reverse adds what step s contributes to the cotangents of what it reads.
func (b *builder) reverse(s *expr.Step) {
	t := s.Result
	if !b.active[t] || len(b.cot[t]) == 0 {
		return
	}
	nodes := b.nodes(s.Expr)
	root := nodes[len(nodes)-1]
	space := append(slices.Clone(t.Axes), s.Over...)
	for _, c := range b.incoming(s) {
		root.terms = append(root.terms, b.reduction(s, term{path: c.path, val: c.val, space: space})...)
	}
	for _, n := range slices.Backward(nodes) {
		if n.active && len(n.terms) > 0 {
			b.visit(n)
		}
	}
}

// incoming returns the cotangent of the result of s: one read of it, or, where
// the quotient rules of ratio.go may apply further on, the terms as they are.
func (b *builder) incoming(s *expr.Step) []term {
	t := s.Result
	if (s.Reduce == expr.NoReduce || s.Reduce == expr.Sum) && b.inRatio(t) {
		return merge(b.reduced(t))
	}
	g, path := b.cotangent(t)
	return []term{{path: path, val: g}}
}

// nodes returns the distinct subexpressions of e, operands first.
func (b *builder) nodes(e expr.Expr) []*node {
	var list []*node
	seen := map[string]*node{}
	var enter func(expr.Expr) *node
	enter = func(e expr.Expr) *node {
		key := expr.Key(e)
		if n, ok := seen[key]; ok {
			return n
		}
		n := &node{e: e, axes: expr.UsedAxes(e), active: b.isActive(e)}
		for _, k := range expr.Children(e) {
			n.kids = append(n.kids, enter(k))
		}
		seen[key] = n
		list = append(list, n)
		return n
	}
	enter(e)
	return list
}

// visit passes the cotangent of n on to its operands.
func (b *builder) visit(n *node) {
	terms := merge(n.terms)
	if r, ok := n.e.(*expr.Read); ok {
		for _, t := range terms {
			b.deliver(r, t)
		}
		return
	}
	var settled []term
	for _, t := range terms {
		if t = b.settle(n, t); t.val != nil {
			settled = append(settled, t)
		}
	}
	for _, t := range merge(settled) {
		b.rule(n, t)
	}
}

// deliver contributes t, a term of read r, to the tensor that r reads.
func (b *builder) deliver(r *expr.Read, t term) {
	if r.Idx != nil {
		var ok bool
		if t, ok = b.invert(r, t); !ok {
			return
		}
	}
	b.cot[r.T] = append(b.cot[r.T], t)
}

// settle sums t over the axes that n does not vary over, as far as no condition
// depends on them: what is below n does not vary over them either, so the sum
// is as small as it gets. The value of what sums to zero is nil.
func (b *builder) settle(n *node, t term) term {
	free := minus(t.space, n.axes)
	for _, c := range t.path {
		free = minus(free, expr.UsedAxes(c.e))
	}
	if len(free) == 0 {
		return t
	}
	val := b.sum("d_"+label(n.e), t.val, free)
	return term{path: t.path, val: val, space: minus(t.space, free)}
}

// merge adds up terms that count under the same conditions in the same space.
func merge(terms []term) []term {
	var keys []string
	groups := map[string][]term{}
	for _, t := range terms {
		k := ""
		for _, c := range t.path {
			k += c.key() + "&"
		}
		for _, a := range t.space {
			k += "," + a.Name
		}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], t)
	}
	merged := make([]term, 0, len(keys))
	for _, k := range keys {
		g := groups[k]
		t := g[0]
		t.val = add(g)
		merged = append(merged, t)
	}
	return merged
}
