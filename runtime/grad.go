package runtime

import "fmt"

// gradient is the state of one reverse walk over a record. Its slices are
// reused.
type gradient struct {
	cot    []int32 // by node of the forward record: node of what is known of its cotangent, -1 if nothing
	active []bool  // by node: the value depends on a parameter
	params []int32
	known  [][]int64
	outs   []DType
	ins    []int32
	pair   [2]int32
	scalar []Scalar
	again  map[int32]int32 // by node of a segment: the one that was computed again
	redone map[int32]int32 // the same for records
	index  []int32         // nodes of caller's memory that have a cotangent, see sortIndex
	maxEnd []int64
}

// Grad appends the computation of the gradient of loss with respect to each of
// the parameters and returns the gradients, pending, with the shape and type of
// their parameter. loss is a floating-point result of this batch; its own
// cotangent is one everywhere, so a loss with several elements counts as their
// sum. A parameter is a tensor that the batch has used, or a result of the batch;
// one that loss does not depend on has a gradient of zeros. Sub-views count as
// the memory they stand for.
//
// The tape is the batch: every call recorded so far is differentiated as it was
// recorded. A value that the gradient reads and that a later in-place operation
// overwrote is an error that wraps ErrOverwritten: call Grad before the update.
// The new version that an in-place operation returns is a value like any other.
func (b *Batch) Grad(loss Operand, params ...Operand) []Handle {
	return b.appendGrad(loss, params, false)
}

// GradOrNone is Grad, with the zero Handle for each parameter that loss does not depend
// on.
func (b *Batch) GradOrNone(loss Operand, params ...Operand) []Handle {
	return b.appendGrad(loss, params, true)
}

func (b *Batch) appendGrad(loss Operand, params []Operand, orNone bool) []Handle {
	grads := make([]Handle, len(params))
	if b.d == nil {
		for i := range grads {
			grads[i] = Handle{v: &value{state: statePoisoned, err: b.deviceless()}}
		}
		return grads
	}
	var site sitePCs
	callers(&site)
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	r := b.current()
	if r.err == nil {
		if err := b.gradients(r, loss, params, grads, orNone, &site); err != nil {
			err.Batch = b.name
			if err.Site.File == "" {
				err.Site = site.user()
			}
			r.fail(err)
		}
	}
	if r.err != nil {
		for i, p := range params {
			grads[i] = r.failed(untyped(p).dtype)
		}
	}
	return grads
}

// GradOf returns the gradient of loss with respect to one parameter; see
// Batch.Grad.
func GradOf[L, T Element](b *Batch, loss Tensor[L], param Tensor[T]) Tensor[T] {
	return As[T](b.Grad(loss, param)[0])
}

func (b *Batch) gradients(r *run, loss Operand, params []Operand, grads []Handle, orNone bool, site *sitePCs) *Error {
	g := &b.grad
	l, err := b.gradNode(r, loss, "loss")
	if err != nil {
		return err
	}
	if r.nodes[l].v.run != r {
		return opError("grad", ErrNoGradient, "loss is not a result of this batch")
	}
	g.params = g.params[:0]
	for i, p := range params {
		n, err := b.gradNode(r, p, fmt.Sprintf("parameter %d", i))
		if err != nil {
			return err
		}
		g.params = append(g.params, n)
	}
	b.reach(r)
	v := r.nodes[l].v
	shape := v.dims
	g.cot[l] = r.recordFill(v.dtype, shape[:v.rank], v.dtype.one(), site)
	if err := b.reverse(r); err != nil {
		return err
	}
	return b.results(r, grads, orNone, site)
}

// gradNode returns the node of a floating-point argument of Grad.
func (b *Batch) gradNode(r *run, t Operand, name string) (int32, *Error) {
	v, why := b.operand(untyped(t))
	if why == nil {
		why = r.usable(v)
	}
	if why == nil && !v.dtype.float() {
		why = &refusal{ErrNoGradient, "holds " + v.dtype.String() + ": only floating-point tensors have gradients"}
	}
	if why != nil {
		return 0, why.named("grad", name)
	}
	return r.nodeFor(v), nil
}

// reach marks every value that depends on a parameter, and clears the
// cotangents.
func (b *Batch) reach(r *run) {
	g := &b.grad
	g.cot, g.active = grow(g.cot, len(r.nodes)), grow(g.active, len(r.nodes))
	for i := range g.cot {
		g.cot[i], g.active[i] = -1, false
	}
	for _, p := range g.params {
		if r.nodes[p].v.constant {
			g.active[p] = true // and nothing that it was made from
		} else {
			g.activate(r, p)
		}
	}
	for i := range r.recs {
		rec := &r.recs[i]
		if rec.kind != recordOp && rec.kind != recordCopy || !g.anyActive(r, rec) {
			continue
		}
		for _, a := range r.args[rec.arg+rec.nIn : rec.arg+rec.nIn+rec.nOut+rec.nNew] {
			g.activate(r, a)
		}
	}
}

// activate marks a node, and those that stand for some of its memory with the
// same contents.
func (g *gradient) activate(r *run, n int32) {
	if v := r.nodes[n].v; g.active[n] || v.constant || !v.dtype.float() {
		return
	}
	g.active[n] = true
	for q := r.slots[r.nodes[n].slot].nodes; q >= 0; q = r.nodes[q].sibling {
		if !r.nodes[q].v.constant && r.same(n, q) {
			g.active[q] = true
		}
	}
}

func (g *gradient) anyActive(r *run, rec *record) bool {
	for _, a := range r.args[rec.arg : rec.arg+rec.nIn] {
		if g.active[a] {
			return true
		}
	}
	return false
}

// reverse walks the record backwards and appends the gradients of its calls.
func (b *Batch) reverse(r *run) *Error {
	g := &b.grad
	clear(g.again)
	clear(g.redone)
	segments := r.marked
	for i := len(r.recs) - 1; i >= 0; i-- {
		if n := len(segments); n > 0 && int32(i) < segments[n-1].from {
			segments = segments[:n-1]
		}
		rec := &r.recs[i] // which stays what it is while the record grows
		if rec.kind != recordOp && rec.kind != recordCopy || !g.anyActive(r, rec) {
			continue
		}
		cots, err := b.incoming(r, rec)
		if err != nil {
			return err
		}
		if !anyNode(cots) {
			continue
		}
		if n := len(segments); n > 0 && int32(i) < segments[n-1].end {
			if err := b.recompute(r, segments[n-1]); err != nil {
				return err
			}
			segments = segments[:n-1]
		}
		if rec.kind == recordCopy {
			err = b.contribute(r, nil, r.args[rec.arg], cots[0], rec)
		} else {
			err = b.differentiate(r, g.call(int32(i)), rec, cots)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func anyNode(nodes []int32) bool {
	for _, n := range nodes {
		if n >= 0 {
			return true
		}
	}
	return false
}

// incoming returns the cotangents of the results of a record, -1 for those that
// have none.
func (b *Batch) incoming(r *run, rec *record) ([]int32, *Error) {
	g := &b.grad
	g.ins = g.ins[:0]
	for _, out := range r.args[rec.arg+rec.nIn : rec.arg+rec.nIn+rec.nOut+rec.nNew] {
		if int(out) >= len(g.cot) { // recorded by this Grad
			g.ins = append(g.ins, -1)
			continue
		}
		total := int32(-1)
		for q := r.slots[r.nodes[out].slot].nodes; q >= 0; q = r.nodes[q].sibling {
			var err *Error
			if total, err = b.fold(r, total, out, q, rec); err != nil {
				return nil, err
			}
		}
		g.ins = append(g.ins, total)
	}
	return g.ins, nil
}

// differentiate appends the gradient of the call at a position and hands its results to the
// inputs of the call.
func (b *Batch) differentiate(r *run, at int32, rec *record, cots []int32) *Error {
	grad := rec.op.Grad
	if grad == nil {
		return &Error{Op: rec.op.Name, Site: rec.where(), Err: ErrNoGradient, Text: "has no gradient, and loss depends on a parameter through it"}
	}
	g := &b.grad
	q := request{op: grad.Op, static: rec.op.Variants[rec.variant].Static, gradOf: at + 1, site: &rec.site}
	base := len(cots)
	for i, in := range grad.Ins {
		n, err := b.gradInput(r, rec, grad.Op, i, in, cots[:base])
		if err != nil {
			return err
		}
		cots = append(cots, n)
	}
	g.ins, q.ins = cots, cots[base:]
	g.scalar = g.scalar[:0]
	for _, p := range grad.Params {
		g.scalar = append(g.scalar, Scalar(r.params[rec.param+int32(p)]))
	}
	q.params = g.scalar
	g.known, g.outs = g.known[:0], g.outs[:0]
	for _, in := range grad.Outs {
		g.outs = append(g.outs, r.nodes[r.args[rec.arg+int32(in)]].v.dtype)
		g.known = append(g.known, r.nodes[r.args[rec.arg+int32(in)]].v.shape())
	}
	q.known, q.outs = g.known, g.outs
	b.unify.begin(grad.Op)
	b.inheritAxes(r, rec, grad.Op)
	made, err := b.append(r, &q)
	if err != nil {
		err.Site = rec.where()
		return err
	}
	for j, in := range grad.Outs {
		out := r.args[r.recs[made].arg+r.recs[made].nIn+int32(j)]
		r.dropHandle(out)
		if err := b.contribute(r, grad.Op.Accumulate, r.args[rec.arg+int32(in)], out, rec); err != nil {
			return err
		}
	}
	return nil
}

// gradInput returns the node of input i of a gradient.
func (b *Batch) gradInput(r *run, rec *record, op *Op, i int, in GradIn, cots []int32) (int32, *Error) {
	if in.From == FromCotangent {
		if n := cots[in.Index]; n >= 0 {
			return n, nil
		}
		v := r.nodes[r.args[rec.arg+rec.nIn+int32(in.Index)]].v
		shape := v.dims
		return r.recordFill(v.dtype, shape[:v.rank], 0, &rec.site), nil
	}
	at := rec.arg + int32(in.Index)
	if in.From == FromOut {
		at += rec.nIn
	}
	n := r.args[at]
	if again, ok := b.standIn(r, n); ok {
		return again, nil
	}
	node := &r.nodes[n]
	if w := r.lastWrite(node, node.ver, r.slots[node.slot].ver); w >= 0 && op.reads(i) {
		name := op.Ins[i].Name
		return 0, &Error{Op: rec.op.Name, Arg: name, Site: rec.where(), Err: ErrOverwritten,
			Text: fmt.Sprintf("the gradient reads %s, which %s overwrote: call Grad before it", name, r.opAt(r.writes[w].rec))}
	}
	return n, nil
}

// reads reports whether a kernel of the op reads the elements of input i, and
// not its shape only.
func (op *Op) reads(i int) bool {
	for v := range op.Variants {
		for k := range op.Variants[v].Kernel {
			for _, b := range op.Variants[v].Kernel[k].Buffers {
				if int(b.Tensor) == i {
					return true
				}
			}
		}
	}
	return false
}

// inheritAxes gives the axes that a caller of the gradient would choose the
// extents that they have in the forward call.
func (b *Batch) inheritAxes(r *run, rec *record, op *Op) {
	for a := range op.Axes {
		if !op.Axes[a].Free || op.Axes[a].Group {
			continue
		}
		for f := range rec.op.Axes {
			if rec.op.Axes[f].Name == op.Axes[a].Name && !rec.op.Axes[f].Group {
				b.unify.axis(a, r.sizes[rec.size+int32(f)])
			}
		}
	}
}

// contribute adds part of the cotangent of an input.
func (b *Batch) contribute(r *run, accumulate *Op, input, part int32, rec *record) *Error {
	g := &b.grad
	if int(input) >= len(g.cot) || !g.active[input] {
		return nil
	}
	sum, err := b.sum(r, accumulate, g.cot[input], part, rec)
	g.cot[input] = sum
	return err
}

// sum returns the node of x + y, where either may be -1 for nothing.
func (b *Batch) sum(r *run, accumulate *Op, x, y int32, rec *record) (int32, *Error) {
	switch {
	case x < 0:
		return y, nil
	case y < 0:
		return x, nil
	}
	if accumulate == nil {
		accumulate = b.grad.accumulate(r)
	}
	if accumulate == nil {
		return x, &Error{Op: rec.name(), Site: rec.where(), Err: ErrNoGradient, Text: "its input is used more than once, and no operation was generated that adds the cotangents"}
	}
	b.grad.pair = [2]int32{x, y}
	b.unify.begin(accumulate)
	at, err := b.append(r, &request{op: accumulate, ins: b.grad.pair[:], site: &rec.site})
	if err != nil {
		err.Site = rec.where()
		return x, err
	}
	out := r.args[r.recs[at].arg+2]
	r.dropHandle(out)
	return out, nil
}

// accumulate returns the op that adds cotangents, from any call of the record
// that has one.
func (g *gradient) accumulate(r *run) *Op {
	for i := range r.recs {
		if op := r.recs[i].op; op != nil && op.Grad != nil && op.Grad.Op.Accumulate != nil {
			return op.Grad.Op.Accumulate
		}
	}
	return nil
}
