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
	if p != q && (pn.v.constant || qn.v.constant || !r.same(p, q)) {
		return total, nil
	}
	part := g.cot[q]
	if p != q {
		part = r.restrict(part, qn.v, pn.v, rec)
	}
	return b.sum(r, nil, total, part, rec)
}

// restrict turns the cotangent n of a value into what it says about another
// that shares memory with it: a node with the shape of to, zero where from says
// nothing.
func (r *run) restrict(n int32, from, to *value, rec *record) int32 {
	start := max(from.off, to.off)
	end := min(from.off+from.byteSize(), to.off+to.byteSize())
	if start == to.off && end == to.off+to.byteSize() {
		return r.viewNode(n, start-from.off, to.shape(), to.count)
	}
	count := (end - start) / to.dtype.Size()
	part := r.viewNode(n, start-from.off, []int64{count}, count)
	return r.embed(part, start-to.off, to, rec)
}

// same reports whether two nodes have memory in common that was not written to
// between them.
func (r *run) same(p, q int32) bool {
	x, y := &r.nodes[p], &r.nodes[q]
	return x.v.overlaps(y.v) && !r.changed(x, min(x.ver, y.ver), max(x.ver, y.ver))
}

// viewNode returns a node for part of the memory of node n.
func (r *run) viewNode(n int32, off int64, dims []int64, count int64) int32 {
	base := r.nodes[n].v
	v := r.newView(base, base.off+off, dims, count)
	i := r.addNode(v, r.slotFor(v.buf), -1)
	r.dropHandle(i)
	return i
}

// embed returns a node with the shape of whole that holds node n at an offset,
// and zero elsewhere.
func (r *run) embed(n int32, off int64, whole *value, rec *record) int32 {
	dims := whole.dims
	out := r.recordFill(whole.dtype, dims[:whole.rank], 0, &rec.site)
	part := r.nodes[n].v
	dims = part.dims
	to := r.viewNode(out, off, dims[:part.rank], part.count)
	put := r.newRecord(recordCopy, &rec.site)
	put.nIn, put.nOut = 1, 1
	r.args = append(r.args, n, to)
	return out
}

// results finds the gradients of the parameters and gives them handles. Those that are
// zero whatever the data are left out, or filled with zeros.
func (b *Batch) results(r *run, grads []Handle, orNone bool, site *sitePCs) *Error {
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
		if total < 0 && orNone {
			continue
		}
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
