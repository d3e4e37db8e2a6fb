package runtime

import (
	"cmp"
	"slices"
	"sort"
)

// Several nodes may stand for the same memory: a tensor and its sub-views. The
// cotangent of a piece of memory is the sum over all of them.

// fold adds what node q contributes to the cotangent of node p, which is total
// so far.
func (b *Batch) fold(r *run, total, p, q int32, rec *record) (int32, *Error) {
	g := &b.grad
	if int(q) >= len(g.cot) || g.cot[q] < 0 {
		return total, nil
	}
	pn, qn := &r.nodes[p], &r.nodes[q]
	if !pn.v.overlaps(qn.v) && p != q || r.changed(pn, min(pn.ver, qn.ver), max(pn.ver, qn.ver)) {
		return total, nil
	}
	part := g.cot[q]
	switch {
	case p == q:
	case pn.v.inside(qn.v):
		part = r.viewNode(part, pn.v.off-qn.v.off, pn.v)
	case qn.v.inside(pn.v):
		part = r.embed(part, qn.v, pn.v, rec)
	default:
		return total, opError("grad", ErrAlias, "views %v and %v of one tensor overlap in part: their gradients cannot be told apart", pn.v.shape(), qn.v.shape())
	}
	return b.sum(r, nil, total, part, rec)
}

// viewNode returns a node for part of the memory of node n, with the shape of
// like.
func (r *run) viewNode(n int32, off int64, like *value) int32 {
	base := r.nodes[n].v
	dims := like.dims
	v := r.newView(base, base.off+off, dims[:like.rank], like.count)
	i := r.addNode(v, r.slotFor(v.buf), -1)
	r.dropHandle(i)
	return i
}

// embed returns a node with the shape of whole that holds the cotangent n of
// part at its place, and zero elsewhere.
func (r *run) embed(n int32, part, whole *value, rec *record) int32 {
	dims := whole.dims
	out := r.recordFill(whole.dtype, dims[:whole.rank], 0, &rec.site)
	to := r.viewNode(out, part.off-whole.off, r.nodes[n].v)
	r.recs = append(r.recs, record{kind: recordCopy, arg: int32(len(r.args)), nIn: 1, nOut: 1, site: rec.site})
	r.args = append(r.args, n, to)
	return out
}

// results finds the gradients of the parameters and gives them handles.
func (b *Batch) results(r *run, grads []Handle, site *sitePCs) *Error {
	g := &b.grad
	g.sortIndex(r)
	rec := record{kind: recordFill, site: *site}
	for i, p := range g.params {
		total, err := b.total(r, p, &rec)
		if err != nil {
			return err
		}
		v := r.nodes[p].v
		dims := v.dims
		if total < 0 {
			total = r.recordFill(v.dtype, dims[:v.rank], 0, site)
		}
		if w := r.nodes[total].v; w.open || w.run != r || w.off != 0 {
			total = r.recordCopy(total, site) // a handle of its own
		}
		grads[i] = r.openHandle(total)
	}
	return nil
}

// openHandle gives a result that had none a handle.
func (r *run) openHandle(i int32) Handle {
	v := r.nodes[i].v
	v.open = true
	v.pins++
	return r.handle(i)
}

// total returns the node of the whole cotangent of node p, -1 if it is zero.
func (b *Batch) total(r *run, p int32, rec *record) (int32, *Error) {
	g := &b.grad
	n := &r.nodes[p]
	total := int32(-1)
	var err *Error
	for i := g.first(r, n); i < len(g.index); i++ {
		q := g.index[i]
		if r.nodes[q].slot != n.slot || r.nodes[q].v.off > n.v.off+n.v.byteSize() {
			break
		}
		if total, err = b.fold(r, total, p, q, rec); err != nil {
			return total, err
		}
	}
	return total, nil
}

// sortIndex sorts the nodes that have a cotangent by slot and offset, and notes
// for each the largest end of those before it in its slot, so that the nodes
// which overlap a range are found without looking at all.
func (g *gradient) sortIndex(r *run) {
	g.index, g.maxEnd = g.index[:0], g.maxEnd[:0]
	for i, c := range g.cot {
		if c >= 0 {
			g.index = append(g.index, int32(i))
		}
	}
	slices.SortFunc(g.index, func(x, y int32) int {
		a, b := &r.nodes[x], &r.nodes[y]
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.v.off, b.v.off), cmp.Compare(x, y))
	})
	for i, n := range g.index {
		v := r.nodes[n].v
		end := v.off + v.byteSize()
		if i > 0 && r.nodes[g.index[i-1]].slot == r.nodes[n].slot {
			end = max(end, g.maxEnd[i-1])
		}
		g.maxEnd = append(g.maxEnd, end)
	}
}

// first returns where in the index the nodes that may overlap n start.
func (g *gradient) first(r *run, n *node) int {
	return sort.Search(len(g.index), func(i int) bool {
		s := r.nodes[g.index[i]].slot
		return s > n.slot || s == n.slot && g.maxEnd[i] >= n.v.off
	})
}
