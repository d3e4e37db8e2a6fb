package runtime

import (
	"cmp"
	"slices"
)

// fuse puts one call in the place of several where a fused kernel does the work
// of them: the patterns are those that specs declare. Where the calls were
// differentiated, their gradients become the gradient of the fused one.
func (p *program) fuse() {
	all := p.fusions()
	if len(all) == 0 {
		return
	}
	for again := true; again; {
		again = false
		u := p.uses()
		for _, f := range all {
			last := f.Calls[len(f.Calls)-1].Op
			for i := range p.steps {
				if p.steps[i].op == last && p.fuseAt(f, u, int32(i)) {
					u, again = p.uses(), true
				}
			}
		}
		p.sweep()
	}
}

// fusions returns those that pay among what the packages of the program's operations
// declare, longer ones first, so that none takes calls from
// one that does the work of more. On the CPU one that computes an operand again costs
// more than the memory traffic that it saves: with 2 threads, LayerNorm, GELU and a
// product of 1024³ take an eighth more as one kernel.
func (p *program) fusions() []*Fusion {
	var of []Package
	var all []*Fusion
	for i := range p.steps {
		op := p.steps[i].op
		if op == nil || op.Package == nil || slices.Contains(of, op.Package) {
			continue
		}
		of = append(of, op.Package)
		for _, f := range op.Package.Fusions() {
			if !f.Again || p.r.d.Name() != "cpu" {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Fusion) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	return all
}

// match is a sequence of steps that a fusion can replace.
type match struct {
	*Fusion
	p     *program
	u     *uses
	calls []int32 // steps of the calls
	leaf  []int32 // values that are the inputs of the fused call
	where []argOf // where each of them is an argument: of which call, which
	grads []int32 // the gradient's step of each call, -1 if there is none; nil without gradients
}

// fuseAt replaces the calls of which step i is the last by a fusion, if it can do
// their work.
func (p *program) fuseAt(f *Fusion, u *uses, i int32) bool {
	m := &match{
		Fusion: f, p: p, u: u, calls: make([]int32, len(f.Calls)),
		leaf: slices.Repeat([]int32{-1}, len(f.Op.Ins)), where: make([]argOf, len(f.Op.Ins)),
	}
	return m.call(len(f.Calls)-1, i) && m.undisturbed() && m.gradients() && m.apply()
}

func (m *match) last() int { return len(m.Calls) - 1 }

func (m *match) step(k int) *step { return &m.p.steps[m.calls[k]] }

// call matches step i, and what its operands come from, with call k.
func (m *match) call(k int, i int32) bool {
	s, c := &m.p.steps[i], &m.Calls[k]
	if s.dropped || s.op != c.Op || s.nNew > 0 {
		return false
	}
	m.calls[k] = i
	for j, in := range c.Ins {
		n := m.p.args[s.arg+int32(j)]
		if in.Call < 0 {
			if int(n) >= len(m.p.r.nodes) { // a pass made it
				return false
			}
			if m.leaf[in.Index] >= 0 && m.leaf[in.Index] != n {
				return false
			}
			m.leaf[in.Index], m.where[in.Index] = n, argOf{int32(k), int32(j)}
			continue
		}
		v := &m.p.values[n]
		def := m.u.def[v.slot]
		if def < 0 || m.p.steps[def].op != m.Calls[in.Call].Op || m.p.written(v.slot) {
			return false
		}
		of := &m.p.steps[def]
		if m.p.value(of, of.nIn+int32(in.Index)).memory() != v.memory() || !m.call(int(in.Call), def) {
			return false
		}
	}
	return true
}

// undisturbed reports whether nothing but the calls and their gradients has to
// do with the values between them, and nothing changes their operands before the
// last of them.
func (m *match) undisturbed() bool {
	end := m.calls[m.last()]
	for k := range m.last() {
		s := m.step(k)
		for o := range s.nOut {
			slot := m.p.slotOf(s, s.nIn+o)
			switch {
			case m.given(k, o) >= 0: // the fused call gives it as well, a little later
				if slices.ContainsFunc(m.u.readers[slot], func(i int32) bool { return i < end && !m.has(i) }) {
					return false
				}
			case m.p.outlives(slot) || m.p.written(slot):
				return false
			case slices.ContainsFunc(m.u.readers[slot], func(i int32) bool { return !m.has(i) && !m.ofGradient(i) }):
				return false
			}
		}
	}
	return m.unchanged(end)
}

// unchanged reports whether no operand is written between the first of
// the calls and step end.
func (m *match) unchanged(end int32) bool {
	for i := slices.Min(m.calls); i < end; i++ {
		s := &m.p.steps[i]
		for j := s.nIn; j < s.nIn+s.nOut+s.nNew && !s.dropped; j++ {
			slot := m.p.slotOf(s, j)
			if slices.ContainsFunc(m.leaf, func(n int32) bool { return m.p.values[n].slot == slot }) {
				return false
			}
		}
	}
	return true
}

// given returns the output of the fused call that is output o of call k, -1 if
// none is.
func (m *match) given(k int, o int32) int {
	return slices.IndexFunc(m.Outs, func(out FusedOut) bool { return int(out.Call) == k && int32(out.Index) == o })
}

func (m *match) has(i int32) bool { return slices.Contains(m.calls, i) }

// ofGradient reports whether step i belongs to the gradient of one of the calls.
func (m *match) ofGradient(i int32) bool {
	f := m.p.steps[i].forward
	return f >= 0 && m.has(f)
}

// gradients finds the steps that compute the gradients of the calls and reports
// whether the gradient of the fused call can do their work: each hands what it
// finds for its call's operand to the gradient of the call that gave it, and to
// nobody else.
func (m *match) gradients() bool {
	for i := range m.p.steps {
		if m.p.steps[i].dropped || !m.ofGradient(int32(i)) {
			continue
		}
		if m.grads == nil {
			m.grads = slices.Repeat([]int32{-1}, len(m.Calls))
		}
		k := slices.Index(m.calls, m.p.steps[i].forward)
		if m.grads[k] >= 0 {
			return false // of several losses
		}
		m.grads[k] = int32(i)
	}
	if m.grads == nil {
		return true
	}
	if m.Op.Grad == nil || m.grads[m.last()] < 0 || !m.unchanged(m.grads[m.last()]) {
		return false
	}
	for c, call := range m.Calls {
		for j, in := range call.Ins {
			if in.Call >= 0 && !m.handsOn(c, j, int(in.Call), in.Index) {
				return false
			}
		}
	}
	return true
}

// handsOn reports whether the cotangent of input j of call c goes to the
// gradient of call k, whose output o the input is, and nowhere else.
func (m *match) handsOn(c, j, k int, o uint8) bool {
	n, ok := m.cotangentOf(c, j)
	if !ok {
		return m.grads[k] < 0
	}
	slot := m.p.values[n].slot
	if m.p.outlives(slot) || m.p.written(slot) {
		return false
	}
	if m.grads[k] < 0 {
		return len(m.u.readers[slot]) == 0
	}
	if !slices.Equal(m.u.readers[slot], []int32{m.grads[k]}) {
		return false
	}
	g := &m.p.steps[m.grads[k]]
	for q, in := range m.Calls[k].Op.Grad.Ins {
		if in.From == FromCotangent && (in.Index != o || m.p.args[g.arg+int32(q)] != n) {
			return false
		}
	}
	return true
}

// cotangentOf returns the value that the gradient of call c gives for its input
// j.
func (m *match) cotangentOf(c, j int) (int32, bool) {
	if m.grads[c] < 0 {
		return 0, false
	}
	g := &m.p.steps[m.grads[c]]
	o := slices.Index(m.Calls[c].Op.Grad.Outs, uint8(j))
	if o < 0 {
		return 0, false
	}
	return m.p.args[g.arg+g.nIn+int32(o)], true
}

// apply replaces the calls, and their gradients, if the fused operation takes
// operands of these types and shapes.
func (m *match) apply() bool {
	p := m.p
	root := m.step(m.last())
	types := make([]DType, len(m.leaf))
	for j, n := range m.leaf {
		types[j] = p.values[n].dtype
	}
	outs := make([]int32, len(m.Outs))
	given := make([]DType, len(m.Outs))
	for o, out := range m.Outs {
		outs[o] = -1
		if out.Call >= 0 {
			s := m.step(int(out.Call))
			outs[o] = p.args[s.arg+s.nIn+int32(out.Index)]
			given[o] = p.values[outs[o]].dtype
		}
	}
	fused, ok := p.newStep(root, m.Op, types, given)
	if !ok || !p.extents(&fused, m.leaf, nil) || !m.pays(&fused) {
		return false
	}
	var back step
	var backIns, backOuts []int32
	if m.grads != nil {
		if back, backIns, backOuts, ok = m.gradient(outs, &m.Op.Variants[fused.variant]); !ok {
			return false
		}
	}
	p.scalars(&fused, m, m.Params)
	outs = p.connect(&fused, m.leaf, outs)
	for _, of := range m.where {
		s := m.step(int(of.at))
		if s.from != nil { // a fused call itself
			fused.from = append(fused.from, s.from[of.arg])
		} else {
			fused.from = append(fused.from, argOf{s.at, of.arg})
		}
	}
	at := m.calls[m.last()]
	for _, i := range slices.Concat(m.calls, m.grads) {
		if i >= 0 {
			p.steps[i].dropped = true
		}
	}
	p.steps[at] = fused
	if m.grads == nil {
		return true
	}
	for q, in := range m.Op.Grad.Ins {
		if in.From == FromOut {
			backIns[q] = outs[in.Index]
		}
	}
	var params []FusedParam
	for _, q := range m.Op.Grad.Params {
		params = append(params, m.Params[q])
	}
	p.scalars(&back, m, params)
	p.connect(&back, backIns, backOuts)
	back.forward = at
	p.steps[m.grads[m.last()]] = back
	return true
}

// fewFlops is how many operations for each byte that is moved make a fused product
// on the CPU worth its while: measured with 2 threads, matmul_bias_gelu is an eighth
// faster than its parts up to a depth of 128, and as fast as they are from 256 on.
const fewFlops = 48

// pays reports whether the fused call takes less time than the calls. It saves writing
// and reading what lies between them, which a CPU hardly notices beside a deep product.
func (m *match) pays(fused *step) bool {
	if m.p.r.d.Name() != "cpu" {
		return true
	}
	bytes := int64(0)
	for k := range m.last() {
		s := m.step(k)
		for o := range s.nOut {
			if m.given(k, o) < 0 {
				bytes += 2 * m.p.value(s, s.nIn+o).bytes()
			}
		}
	}
	return m.p.flops(fused) <= fewFlops*bytes
}

// gradient returns the step that computes the gradient of the fused call, whose
// outputs are outs, with its operands and results; -1 stands for a value that the
// fused call will make, or that nobody asked for.
func (m *match) gradient(outs []int32, forward *Variant) (s step, ins, results []int32, ok bool) {
	g, last := m.Op.Grad, m.last()
	root := &m.p.steps[m.grads[last]]
	var types, given []DType
	for _, in := range g.Ins {
		switch in.From {
		case FromIn:
			ins, types = append(ins, m.leaf[in.Index]), append(types, forward.Ins[in.Index])
		case FromOut:
			ins, types = append(ins, outs[in.Index]), append(types, forward.Outs[in.Index])
		default:
			n, ok := m.incoming(root, m.Outs[in.Index])
			if !ok {
				return s, nil, nil, false
			}
			ins, types = append(ins, n), append(types, forward.Outs[in.Index])
		}
	}
	var known [][]int64
	for _, input := range g.Outs {
		of := m.where[input]
		n, asked := m.cotangentOf(int(of.at), int(of.arg))
		if !asked {
			n = -1
		}
		results, given = append(results, n), append(given, forward.Ins[input])
		known = append(known, m.p.r.nodes[m.leaf[input]].v.shape())
	}
	s, ok = m.p.newStep(root, g.Op, types, given)
	return s, ins, results, ok && m.p.extents(&s, ins, known)
}

// incoming returns the cotangent of an output of the fused call, which must be
// one of the last call.
func (m *match) incoming(root *step, out FusedOut) (int32, bool) {
	for q, in := range m.Calls[m.last()].Op.Grad.Ins {
		if int(out.Call) == m.last() && in.From == FromCotangent && in.Index == out.Index {
			return m.p.args[root.arg+int32(q)], true
		}
	}
	return 0, false
}

// newStep returns a step without arguments that calls op in the place of another;
// false if op has no variant for these types. InvalidDType stands for any type.
func (p *program) newStep(place *step, op *Op, ins, outs []DType) (step, bool) {
	fits := func(have []DType, want DType, i int) bool { return want == InvalidDType || have[i] == want }
	s := step{record: place.record, at: place.at, forward: -1}
	s.op, s.nIn, s.nOut, s.nNew = op, int32(len(ins)), int32(len(outs)), 0
	i := slices.IndexFunc(op.Variants, func(v Variant) bool {
		for j, t := range ins {
			if !fits(v.Ins, t, j) {
				return false
			}
		}
		for j, t := range outs {
			if !fits(v.Outs, t, j) {
				return false
			}
		}
		return true
	})
	s.variant = int32(i)
	return s, i >= 0 && p.r.d.runnable(op, &op.Variants[i]) == nil
}

// extents finds the extents of a new step from its operands and from results
// whose shapes are known (of all or none); false if they do not fit.
func (p *program) extents(s *step, ins []int32, known [][]int64) bool {
	p.unify.begin(s.op)
	for j, n := range ins {
		if n >= 0 && int(n) < len(p.r.nodes) {
			p.unify.argument(j, p.r.nodes[n].v.shape())
		}
	}
	for j, dims := range known {
		p.unify.argument(len(s.op.Ins)+j, dims)
	}
	if p.unify.solve() != nil {
		return false
	}
	s.size = int32(len(p.sizes))
	p.sizes = append(p.sizes, p.unify.size...)
	return true
}

// scalars gives a new step the scalars of the calls of a match.
func (p *program) scalars(s *step, m *match, from []FusedParam) {
	s.param = int32(len(p.params))
	for _, f := range from {
		p.params = append(p.params, p.params[m.step(int(f.Call)).param+int32(f.Index)])
	}
}

// connect gives a new step its operands and its results, and makes those results
// that are -1. It returns the results.
func (p *program) connect(s *step, ins, outs []int32) []int32 {
	s.arg = int32(len(p.args))
	p.args = append(p.args, ins...)
	for o, n := range outs {
		if n < 0 {
			count := int64(1)
			for _, d := range s.op.Outs[o].Shape {
				for _, a := range d {
					count *= p.size(s, a)
				}
			}
			outs[o] = int32(len(p.values))
			p.values = append(p.values, progValue{slot: p.slots, count: count, dtype: s.op.Variants[s.variant].Outs[o]})
			p.slots++
		}
	}
	p.args = append(p.args, outs...)
	return outs
}
