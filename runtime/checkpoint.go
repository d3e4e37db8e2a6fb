package runtime

// segment is a range of records whose values Grad computes again.
type segment struct{ from, end int32 }

// StopGradient returns the values of x as a result of the batch that Grad takes
// for constants: no gradient flows from its uses back to x. It shares the memory of
// x, and nothing is computed.
func StopGradient[T Element](b *Batch, x Tensor[T]) Tensor[T] {
	return As[T](b.stopGradient(x.h))
}

func (b *Batch) stopGradient(h Handle) Handle {
	if b.d == nil {
		return Handle{v: &value{state: statePoisoned, err: b.deviceless()}, dtype: h.dtype}
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	r := b.current()
	if r.err == nil {
		v, why := b.operand(h)
		if why == nil {
			why = r.usable(v)
		}
		if why == nil {
			w := r.newView(v, v.off, v.shape(), v.count)
			w.constant = true
			return r.handle(r.addNode(w, r.slotFor(v.buf), -1))
		}
		b.failAt(r, "stop gradient", why)
	}
	return r.failed(h.dtype)
}

// Checkpoint marks the calls that record makes: Grad does not keep their results
// until it needs them, but computes them again, from what the calls took from
// outside. That trades time for memory: of a chain of segments only the values
// between them live through the forward pass, and those within one at a time
// through its backward. The gradients have the same bits. A call that updates a
// tensor in place is an error. Within a segment, Checkpoint does nothing more.
func (b *Batch) Checkpoint(record func()) {
	if b.d == nil || b.marking {
		record()
		return
	}
	b.d.mu.Lock()
	r := b.current()
	from := int32(len(r.recs))
	b.d.mu.Unlock()
	b.marking = true
	defer func() {
		b.marking = false
		b.d.mu.Lock()
		defer b.d.mu.Unlock()
		if b.run == r && r.err == nil && int32(len(r.recs)) > from {
			b.mark(r, segment{from, int32(len(r.recs))})
		}
	}()
	record()
}

// mark notes a segment, if it can be computed again.
func (b *Batch) mark(r *run, s segment) {
	for i := s.from; i < s.end; i++ {
		if rec := &r.recs[i]; rec.nNew > 0 {
			e := opError(rec.op.Name, ErrCheckpoint, "updates a tensor in place in a marked segment, which could then not be computed again: make the call outside")
			e.Batch, e.Site = b.name, rec.where()
			r.fail(e)
			return
		}
	}
	r.marked = append(r.marked, s)
}

// recompute appends the calls of a segment once more, for gradients to read their
// results. Those that no gradient reads are dropped by the passes over the program.
func (b *Batch) recompute(r *run, s segment) *Error {
	g := &b.grad
	if g.again == nil {
		g.again, g.redone = map[int32]int32{}, map[int32]int32{}
	}
	for i := s.from; i < s.end; i++ {
		rec := r.recs[i] // a copy: the record grows
		if rec.kind != recordOp && rec.kind != recordFill && rec.kind != recordCopy {
			continue
		}
		made, at := rec, int32(len(r.recs))
		made.arg, made.again, made.gradOf = int32(len(r.args)), true, 0
		if rec.kind == recordOp {
			made.param = int32(len(r.params))
			r.params = append(r.params, r.params[rec.param:int(rec.param)+len(rec.op.Params)]...)
		}
		g.redone[i] = at
		for _, n := range r.args[rec.arg : rec.arg+rec.nIn] {
			from, err := b.recomputed(r, n, &rec)
			if err != nil {
				return err
			}
			r.args = append(r.args, from)
		}
		for _, n := range r.args[rec.arg+rec.nIn : rec.arg+rec.nIn+rec.nOut] {
			v := r.nodes[n].v
			dims := v.dims
			out := r.newResult(v.dtype, dims[:v.rank], v.count, at)
			r.dropHandle(out)
			r.args = append(r.args, out)
			g.again[n] = out
		}
		r.recs = append(r.recs, made)
	}
	return nil
}

// recomputed returns what stands for node n where a call is made again: the node
// itself, if it was not, which must still hold what it held.
func (b *Batch) recomputed(r *run, n int32, rec *record) (int32, *Error) {
	if again, ok := b.standIn(r, n); ok {
		return again, nil
	}
	node := &r.nodes[n]
	if w := r.lastWrite(node, node.ver, r.slots[node.slot].ver); w >= 0 {
		return 0, &Error{Op: rec.name(), Site: rec.where(), Err: ErrOverwritten,
			Text: "the call is made again for the gradient, and " + r.opAt(r.writes[w].rec) + " overwrote its operand: call Grad before it"}
	}
	return n, nil
}

// standIn returns the result of a call that was made again for node n, or a view
// of one.
func (b *Batch) standIn(r *run, n int32) (int32, bool) {
	g := &b.grad
	if len(g.again) == 0 {
		return 0, false
	}
	if again, ok := g.again[n]; ok {
		return again, true
	}
	node := r.nodes[n]
	for q := r.slots[node.slot].nodes; q >= 0; q = r.nodes[q].sibling {
		again, ok := g.again[q]
		if base := r.nodes[q].v; ok && node.v.inside(base) {
			dims := node.v.dims
			view := r.viewNode(again, node.v.off-base.off, dims[:node.v.rank], node.v.count)
			g.again[n] = view
			return view, true
		}
	}
	return 0, false
}

// call returns the record whose gradient is taken where that of record i is: the
// one that made the call again, if there is one.
func (g *gradient) call(i int32) int32 {
	if again, ok := g.redone[i]; ok {
		return again
	}
	return i
}
