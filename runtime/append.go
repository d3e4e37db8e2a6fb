package runtime

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// request is a call to be recorded. The caller has begun the unifier.
type request struct {
	op     *Op
	static string
	ins    []int32
	params []Scalar
	outs   []DType   // of outputs whose type no input fixes; may be shorter
	known  [][]int64 // shapes of the outputs, where they are known beforehand
	gradOf int32     // see record.gradOf
	site   *sitePCs
	start  time.Time // of recording the call, while the device is traced
}

// append checks shapes and conditions of a call, and records it; it returns the
// position of the record. Nothing is recorded when there is an error.
func (b *Batch) append(r *run, q *request) (int32, *Error) {
	op := q.op
	if q.start.IsZero() {
		q.start = b.d.traceTime()
	}
	if r.d.sketch != nil {
		if err := refuseUpdate(op); err != nil {
			return 0, err
		}
	}
	variant, why := r.variant(q)
	if why == nil {
		why = b.solve(r, q)
	}
	if why != nil {
		return 0, &Error{Op: op.Name, Err: why.kind, Text: why.text}
	}
	if err := r.checkAlias(q); err != nil {
		return 0, err
	}
	outs, err := b.shapes(q, &op.Variants[variant])
	if err != nil {
		return 0, err
	}
	b.separate(r, q)
	at := int32(len(r.recs))
	rec := r.newRecord(recordOp, q.site)
	rec.op, rec.variant, rec.gradOf = op, int32(variant), q.gradOf
	rec.nIn, rec.nOut = int32(len(op.Ins)), int32(len(op.Outs))
	rec.size, rec.param = int32(len(r.sizes)), int32(len(r.params))
	r.sizes = append(r.sizes, b.unify.size...)
	for _, p := range q.params {
		r.params = append(r.params, uint64(p))
	}
	r.args = append(r.args, q.ins...)
	for i, t := range op.Variants[variant].Outs {
		dims := b.dims[outs[i]:outs[i+1]]
		count, _ := product(dims)
		r.args = append(r.args, r.newResult(t, dims, count, at))
	}
	for _, i := range op.facts().inouts {
		r.args = append(r.args, r.replace(q.ins[i], at))
		rec.nNew++
	}
	if !q.start.IsZero() {
		r.noteCall(at, q.start)
	}
	return at, nil
}

// variant returns the number of the op's variant for the types of the inputs
// and the static choices.
func (r *run) variant(q *request) (int, *refusal) {
next:
	for i := range q.op.Variants {
		v := &q.op.Variants[i]
		if v.Static != q.static {
			continue
		}
		for j, n := range q.ins {
			if v.Ins[j] != r.nodes[n].v.dtype {
				continue next
			}
		}
		for j, t := range q.outs {
			if t != InvalidDType && v.Outs[j] != t {
				continue next
			}
		}
		return i, r.d.runnable(q.op, v)
	}
	types := make([]string, len(q.ins))
	for i, n := range q.ins {
		types[i] = q.op.Ins[i].Name + " " + r.nodes[n].v.dtype.String()
	}
	text := fmt.Sprintf("no variant for %v", types)
	if q.static != "" {
		text += " and " + q.static
	}
	return 0, &refusal{ErrType, text}
}

// runnable says why the device cannot run a variant of op.
func (d *Device) runnable(op *Op, v *Variant) *refusal {
	if d.sketch != nil {
		return nil // the device that runs it will say
	}
	if d.reference {
		if v.Ref == nil {
			return &refusal{ErrNoKernel, "no reference function was generated"}
		}
		return nil
	}
	if d.gpu != nil {
		if d.gpu.source(op) == nil || len(v.Kernel) == 0 {
			return &refusal{ErrNoKernel, "no " + d.gpu.name + " kernel was generated: open another device"}
		}
		return nil
	}
	if op.Built != 0 && op.Built != op.Hash {
		return &refusal{ErrNoKernel, fmt.Sprintf("the C source was made from another spec (hash %#016x) than the Go code (%#016x): run kgen generate", op.Built, op.Hash)}
	}
	if len(v.Kernel) == 0 {
		return &refusal{ErrNoKernel, "no C kernel was generated: open the device with Reference()"}
	}
	for i := range v.Kernel {
		if v.Kernel[i].C == nil {
			return &refusal{ErrNoKernel, "kernel " + v.Kernel[i].Symbol + " was built without cgo: build with CGO_ENABLED=1 or open the device with Reference()"}
		}
	}
	return nil
}

// solve finds the extents of all axes and checks the op's conditions.
func (b *Batch) solve(r *run, q *request) *refusal {
	u := &b.unify
	u.param = q.params
	for i, n := range q.ins {
		u.argument(i, r.nodes[n].v.shape())
	}
	for i, dims := range q.known {
		u.argument(len(q.ins)+i, dims)
	}
	if err := u.solve(); err != nil {
		return err
	}
	for i := range q.op.Require {
		if c := &q.op.Require[i]; !c.Cond(u.size, u.param) {
			return &refusal{ErrRequire, fmt.Sprintf("must hold: %s (inputs %s%s)", c.Text, u.inputs(), u.params())}
		}
	}
	return nil
}

// shapes puts the shapes of the outputs into b.dims and returns where each
// starts; the last entry is the end.
func (b *Batch) shapes(q *request, v *Variant) ([]int32, *Error) {
	b.dims = b.dims[:0]
	b.starts = append(b.starts[:0], 0)
	for i := range q.op.Outs {
		out := &q.op.Outs[i]
		start := len(b.dims)
		var why *refusal
		b.dims, why = b.unify.appendShape(b.dims, out)
		if why == nil {
			why = fits(out.Name, b.dims[start:], v.Outs[i])
		}
		if why != nil {
			return nil, &Error{Op: q.op.Name, Arg: out.Name, Err: why.kind, Text: why.text}
		}
		b.starts = append(b.starts, int32(len(b.dims)))
	}
	return b.starts, nil
}

// fits says why a tensor of this shape cannot be.
func fits(name string, dims []int64, t DType) *refusal {
	if len(dims) > MaxRank {
		return &refusal{ErrShape, fmt.Sprintf("%s would have %d dimensions, the most is %d", name, len(dims), MaxRank)}
	}
	n, ok := product(dims)
	if !ok || n > math.MaxInt64/4/t.Size() {
		return &refusal{ErrShape, fmt.Sprintf("%s would have shape %v, more bytes than an int64 holds", name, dims)}
	}
	return nil
}

// checkAlias refuses a call that updates the same memory twice.
func (r *run) checkAlias(q *request) *Error {
	inouts := q.op.facts().inouts
	for n, i := range inouts {
		for _, j := range inouts[:n] {
			if r.nodes[q.ins[i]].v.overlaps(r.nodes[q.ins[j]].v) {
				return opError(q.op.Name, ErrAlias, "%s and %s are both updated and overlap in memory", q.op.Ins[j].Name, q.op.Ins[i].Name)
			}
		}
	}
	return nil
}

// separate records a copy of each input that shares memory with one that the
// call updates, and gives the copy to the call: all reads see the old values.
func (b *Batch) separate(r *run, q *request) {
	for _, i := range q.op.facts().inouts {
		for j := range q.op.Ins {
			a, u := r.nodes[q.ins[j]].v, r.nodes[q.ins[i]].v
			if j != int(i) && a.overlaps(u) {
				q.ins[j] = r.recordCopy(q.ins[j], q.site)
			}
		}
	}
}

// newRecord appends a record whose arguments come next, without any yet. It is
// filled in place, since it is large.
func (r *run) newRecord(kind recordKind, site *sitePCs) *record {
	n := len(r.recs)
	if n == cap(r.recs) {
		r.recs = slices.Grow(r.recs, 1)
	}
	r.recs = r.recs[:n+1]
	rec := &r.recs[n]
	*rec = record{kind: kind, arg: int32(len(r.args))}
	rec.site = *site
	return rec
}

// recordCopy records a copy of a node and returns the copy.
func (r *run) recordCopy(src int32, site *sitePCs) int32 {
	v := r.nodes[src].v
	dims := v.dims
	dst := r.newResult(v.dtype, dims[:v.rank], v.count, int32(len(r.recs)))
	r.dropHandle(dst)
	rec := r.newRecord(recordCopy, site)
	rec.nIn, rec.nOut = 1, 1
	r.args = append(r.args, src, dst)
	return dst
}

// recordFill records a new tensor of one repeated value.
func (r *run) recordFill(t DType, dims []int64, bits uint64, site *sitePCs) int32 {
	count, _ := product(dims)
	dst := r.newResult(t, dims, count, int32(len(r.recs)))
	r.dropHandle(dst)
	rec := r.newRecord(recordFill, site)
	rec.nOut, rec.fill = 1, t.repeat(bits)
	r.args = append(r.args, dst)
	return dst
}

// dropHandle takes away the handle of a result that the user never sees.
func (r *run) dropHandle(i int32) {
	r.d.closeHandle(r.nodes[i].v)
}
