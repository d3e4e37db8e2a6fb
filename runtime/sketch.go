package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// ErrLazy is the kind of errors about tensors that only a graph has: they have no
// memory.
var ErrLazy = errors.New("the tensor is lazy")

// A Sketch is a record of calls that belongs to no device yet: what package graph
// gives lazy tensors with. Its tensors are those of Sketch.Device, which checks calls
// as every device does and has neither memory nor kernels. Generated functions of
// both forms record calls on them, in the sketch; a tensor of a real device that is
// given beside them is an operand from outside. Parts of the record are recorded
// again, in batches of real devices (Part.Record), as often as one likes: the values
// of a sketch never change, so an operation that updates a tensor is an error.
type Sketch struct {
	// Owner is whatever the sketch was made for.
	Owner any

	d       *Device
	run     *run
	outside map[int32]Handle  // by node: the tensor of a real device that it stands for
	nodes   map[Handle]Handle // the lazy tensor of each of them
}

// sketchBackend stands for a device where there is none.
type sketchBackend struct{ backend.Backend }

func (sketchBackend) Name() string { return "sketch" }
func (sketchBackend) Now() int64   { return referenceNow() }
func (sketchBackend) Close()       {}

// NewSketch returns an empty sketch. The name is for errors.
func NewSketch(name string, owner any) *Sketch {
	s := &Sketch{Owner: owner, outside: map[int32]Handle{}, nodes: map[Handle]Handle{}}
	s.d = newDevice(sketchBackend{}, true, defaults())
	s.d.sketch = s
	s.run = s.d.newRun(name)
	return s
}

// SketchOf returns the sketch that a tensor belongs to, nil for a tensor of a real
// device.
func SketchOf(t Operand) *Sketch {
	if d := untyped(t).Device(); d != nil {
		return d.sketch
	}
	return nil
}

// Device returns what the sketch's tensors call their device.
func (s *Sketch) Device() *Device { return s.d }

// Batch returns a batch for deferred calls that the sketch records. It is not synced.
func (s *Sketch) Batch() *Batch { return &Batch{d: s.d, name: s.run.batch} }

// Close ends the sketch: its tensors are stale.
func (s *Sketch) Close() error { return s.d.Close() }

// Err returns the first error of deferred calls; immediate ones return their own.
func (s *Sketch) Err() error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.run.err
}

// Declare returns a tensor that Part.Record is given.
func (s *Sketch) Declare(t DType, shape ...int) (Handle, error) {
	dims, count, err := checkShape("declare", t, shape)
	if err != nil {
		return Handle{}, err
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.closed {
		return Handle{}, opError("declare", ErrClosed, "the graph is closed")
	}
	return s.run.handle(s.run.newResult(t, dims[:len(shape)], count, -1)), nil
}

// adopt returns the value that stands for a tensor of a real device. The caller holds
// s.d.mu; devices are locked after sketches.
func (s *Sketch) adopt(h Handle) (*value, *refusal) {
	if own, ok := s.nodes[h]; ok {
		return own.resolve(s.d)
	}
	d := h.v.dev
	if d.sketch != nil {
		return nil, &refusal{ErrLazy, "belongs to another graph: evaluate it there first"}
	}
	d.mu.Lock()
	v, why := h.resolve(d)
	var dims [MaxRank]int64
	var rank int
	var count int64
	if why == nil && v.private() {
		why = &refusal{ErrPending, fmt.Sprintf("is a pending result of batch %q: keep it and sync that batch first", v.run.batch)}
	}
	if why == nil {
		dims, rank, count = v.dims, int(v.rank), v.count
	}
	d.mu.Unlock()
	if why != nil {
		return nil, why
	}
	n := s.run.newResult(h.dtype, dims[:rank], count, -1)
	s.outside[n], s.nodes[h] = h, s.run.handle(n)
	return s.run.nodes[n].v, nil
}

// lone returns a batch for one immediate call, whose error is its own.
func (s *Sketch) lone() *Batch { return &Batch{d: s.d, name: s.run.batch, lone: true} }

// refuseUpdate says why an operation cannot be part of a sketch.
func refuseUpdate(op *Op) *Error {
	i := slices.IndexFunc(op.Ins, func(a Arg) bool { return a.InOut })
	if i < 0 {
		return nil
	}
	return opError(op.Name, ErrLazy, "updates %s in place, and the values of a graph do not change: record it in a batch of a device", op.Ins[i].Name)
}

// A Part of a sketch is what some of its tensors need to be computed.
type Part struct {
	s       *Sketch
	recs    []int32 // calls, in order
	inputs  []int32 // nodes
	results []int32
	shared  []int32
	base    []int32 // by slot: the node that is all of its memory
	costs   []CallCost
}

// CallCost is the work of one call.
type CallCost struct {
	Op    string
	Bytes int64 // of operands and results
	Flops int64
}

// Part returns what results need that is not known: calls are followed back to
// tensors that known reports, or that no call computes.
func (s *Sketch) Part(results []Handle, known func(Handle) bool) (*Part, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	r := s.run
	if r.err != nil {
		return nil, r.err
	}
	p := &Part{s: s, base: make([]int32, len(r.slots))}
	for i := range slices.Backward(r.nodes) {
		p.base[r.nodes[i].slot] = int32(i)
	}
	seen, need := make([]bool, len(r.nodes)), make([]bool, len(r.slots))
	mark := func(n int32) {
		if seen[n] {
			return
		}
		seen[n] = true
		slot := r.nodes[n].slot
		base := p.base[slot]
		switch {
		case known(r.handle(n)):
			p.inputs = append(p.inputs, n)
		case r.nodes[base].def >= 0 && (base == n || !known(r.handle(base))):
			need[slot] = true
		case !seen[base] || base == n:
			seen[base] = true
			p.inputs = append(p.inputs, base)
		}
	}
	for _, h := range results {
		v, why := h.resolve(s.d)
		if why != nil {
			return nil, why.named("eval", "the tensor")
		}
		n := r.nodeFor(v)
		if int(n) == len(seen) { // a view that no call has used
			seen = append(seen, false)
		}
		mark(n)
		p.results = append(p.results, n)
	}
	left := make([]bool, len(r.recs))
	for i := range slices.Backward(r.recs) {
		rec := &r.recs[i]
		outs := r.args[rec.arg+rec.nIn : rec.arg+rec.nIn+rec.nOut]
		if !slices.ContainsFunc(outs, func(a int32) bool { return need[r.nodes[a].slot] }) {
			left[i] = true
			continue
		}
		for _, a := range r.args[rec.arg : rec.arg+rec.nIn] {
			mark(a)
		}
		p.recs = append(p.recs, int32(i))
		p.costs = append(p.costs, r.cost(rec))
	}
	slices.Reverse(p.recs)
	slices.Reverse(p.costs)
	p.share(need, left)
	return p, nil
}

// share finds the values between the part's calls that other calls of the sketch
// read, too.
func (p *Part) share(need, left []bool) {
	r := p.s.run
	taken := map[int32]bool{}
	for _, n := range p.results {
		taken[n] = true
	}
	for i := range r.recs {
		rec := &r.recs[i]
		for _, a := range r.args[rec.arg : rec.arg+rec.nIn] {
			base := p.base[r.nodes[a].slot]
			if left[i] && need[r.nodes[a].slot] && !taken[base] {
				taken[base] = true
				p.shared = append(p.shared, base)
			}
		}
	}
}

// cost returns the work of a call.
func (r *run) cost(rec *record) CallCost {
	c := CallCost{Op: rec.name()}
	for _, a := range r.args[rec.arg : rec.arg+rec.nIn+rec.nOut] {
		c.Bytes += r.nodes[a].v.byteSize()
	}
	if rec.kind == recordOp {
		c.Flops = rec.op.Variants[rec.variant].flops(r.sizes[rec.size:])
	}
	return c
}

// Costs returns the work of the part's calls, in order.
func (p *Part) Costs() []CallCost { return p.costs }

// Inputs returns the tensors that Record asks for: those that were known, that were
// declared, and that stand for tensors of real devices.
func (p *Part) Inputs() []Handle { return p.handles(p.inputs) }

// Made returns the tensors that Record makes: the results, and after them the values
// on the way to them that other calls of the sketch read, too.
func (p *Part) Made() []Handle { return p.handles(slices.Concat(p.results, p.shared)) }

func (p *Part) handles(nodes []int32) []Handle {
	p.s.d.mu.Lock()
	defer p.s.d.mu.Unlock()
	list := make([]Handle, len(nodes))
	for i, n := range nodes {
		list[i] = p.s.run.handle(n)
	}
	return list
}

// Outside returns the tensor of a real device that a lazy tensor stands for.
func (s *Sketch) Outside(h Handle) (Handle, bool) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	v, why := h.resolve(s.d)
	if why != nil || v.own < 0 {
		return Handle{}, false
	}
	out, ok := s.outside[v.own]
	return out, ok
}

// Record records the part's calls in a batch of a real device and keeps what they
// make; it returns the pending tensors of Made. inputs are the tensors of the device
// for Inputs.
func (p *Part) Record(b *Batch, inputs []Handle) ([]Handle, error) {
	if b.d == nil {
		return nil, b.deviceless()
	}
	p.s.d.mu.Lock()
	defer p.s.d.mu.Unlock()
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	c := carrier{p: p, from: p.s.run, to: b.current(), node: map[int32]int32{}, call: map[int32]int32{}}
	if p.s.d.closed {
		return nil, &Error{Op: "eval", Batch: b.name, Err: ErrClosed, Text: "the graph is closed"}
	}
	if c.to.err != nil {
		return nil, c.to.err
	}
	for i, n := range p.inputs {
		if err := c.input(n, inputs[i]); err != nil {
			err.Batch = b.name
			return nil, err
		}
	}
	for _, at := range p.recs {
		if err := c.record(at); err != nil {
			err.Batch = b.name
			return nil, err
		}
	}
	var made []Handle
	for _, n := range slices.Concat(p.results, p.shared) {
		m := c.to.nodes[c.value(n)].v
		if m.run != c.to { // an input: a tensor of its own in the same memory
			m = c.to.newView(m, m.off, m.shape(), m.count)
			c.to.addNode(m, c.to.slotFor(m.buf), -1)
		}
		if why := c.to.keep(m); why != nil {
			return nil, why.named("eval", "a result")
		}
		made = append(made, Handle{v: m, gen: m.gen, dtype: m.dtype})
	}
	return made, nil
}

// carrier records calls of one run in another.
type carrier struct {
	p        *Part
	from, to *run
	node     map[int32]int32 // nodes of from in to
	call     map[int32]int32 // calls
}

// input lets a tensor of the device be a node.
func (c *carrier) input(n int32, h Handle) *Error {
	want := c.from.nodes[n].v
	v, why := h.resolve(c.to.d)
	if why == nil {
		why = c.to.usable(v)
	}
	if why == nil && (v.dtype != want.dtype || !slices.Equal(v.shape(), want.shape())) {
		why = &refusal{ErrShape, fmt.Sprintf("is %s%v, the graph has %s%v in its place", v.dtype, v.shape(), want.dtype, want.shape())}
	}
	if why != nil {
		return why.named("eval", "an operand")
	}
	c.node[n] = c.to.nodeFor(v)
	return nil
}

// value returns the node for one of the sketch. A view is one of what its memory was
// carried over to.
func (c *carrier) value(n int32) int32 {
	if m, ok := c.node[n]; ok {
		return m
	}
	v := c.from.nodes[n].v
	whole := c.p.base[c.from.nodes[n].slot]
	base := c.to.nodes[c.node[whole]].v
	w := c.to.newView(base, base.off+v.off-c.from.nodes[whole].v.off, v.shape(), v.count)
	w.constant = v.constant
	m := c.to.addNode(w, c.to.slotFor(w.buf), -1)
	c.node[n] = m
	return m
}

// record carries the call at a position over.
func (c *carrier) record(at int32) *Error {
	rec, to := c.from.recs[at], c.to
	if rec.kind == recordOp {
		if why := to.d.runnable(rec.op, &rec.op.Variants[rec.variant]); why != nil {
			return &Error{Op: rec.op.Name, Err: why.kind, Text: why.text, Site: rec.where()}
		}
	}
	args := c.from.args[rec.arg : rec.arg+rec.nIn+rec.nOut]
	place := int32(len(to.recs))
	c.call[at] = place
	var list [16]int32
	moved := list[:0]
	for _, a := range args[:rec.nIn] {
		moved = append(moved, c.value(a))
	}
	for _, a := range args[rec.nIn:] {
		if _, ok := c.node[a]; !ok && c.p.base[c.from.nodes[a].slot] == a {
			v := c.from.nodes[a].v
			c.node[a] = to.newResult(v.dtype, v.shape(), v.count, place)
		}
		moved = append(moved, c.value(a))
	}
	if rec.kind == recordOp {
		size, param := rec.size, rec.param
		rec.size, rec.param = int32(len(to.sizes)), int32(len(to.params))
		to.sizes = append(to.sizes, c.from.sizes[size:int(size)+len(rec.op.Axes)]...)
		to.params = append(to.params, c.from.params[param:int(param)+len(rec.op.Params)]...)
	}
	rec.arg = int32(len(to.args))
	to.args = append(to.args, moved...)
	if rec.gradOf > 0 {
		if of, ok := c.call[rec.gradOf-1]; ok {
			rec.gradOf = of + 1
		} else {
			rec.gradOf = 0
		}
	}
	to.recs = append(to.recs, rec)
	return nil
}
