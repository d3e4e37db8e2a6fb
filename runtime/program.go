package runtime

import "slices"

// program is the part of a run that is planned: its calls as steps over values,
// which passes rewrite before the planner turns them into commands. Values are
// numbered like the run's nodes; a pass adds its own behind them. Its slices are
// reused.
type program struct {
	r       *run
	steps   []step
	values  []progValue
	args    []int32 // values
	sizes   []int64
	params  []int32 // the run's scalar that each parameter of a step is
	slots   int32   // memory slots: those of the run, then one for each value that a pass added
	changes []bool  // by slot of the run: it is written more than once, or was there before
	unify   unifier
}

// step is one call of a program. Its arguments, extents and parameters lie in
// the arrays of the program.
type step struct {
	record
	at      int32   // the call of the part that it stands for
	forward int32   // the step whose gradient it is part of, -1 if none
	dropped bool    // it takes no part any more
	from    []argOf // for a step that a pass made: where each of its inputs was an argument
}

// argOf is argument arg of call at of the part.
type argOf struct{ at, arg int32 }

// progValue is a value of a program: bytes of a slot.
type progValue struct {
	slot  int32
	off   int64
	count int64
	dtype DType
}

func (v *progValue) bytes() int64 { return v.count * v.dtype.Size() }

// load copies the calls [from, end) of a run.
func (p *program) load(r *run) {
	p.r, p.slots = r, int32(len(r.slots))
	p.steps, p.args, p.sizes, p.params = p.steps[:0], p.args[:0], p.sizes[:0], p.params[:0]
	p.values = p.values[:0]
	for i := range r.nodes {
		n := &r.nodes[i]
		p.values = append(p.values, progValue{n.slot, n.v.off, n.v.count, n.v.dtype})
	}
	first := r.firstParam()
	for i := r.from; i < r.end; i++ {
		rec := r.recs[i]
		s := step{record: rec, at: i - r.from, forward: -1}
		if rec.gradOf > r.from {
			s.forward = rec.gradOf - 1 - r.from
		}
		s.arg, s.size, s.param = int32(len(p.args)), int32(len(p.sizes)), int32(len(p.params))
		p.args = append(p.args, r.args[rec.arg:rec.arg+rec.nIn+rec.nOut+rec.nNew]...)
		if rec.kind == recordOp {
			p.sizes = append(p.sizes, r.sizes[rec.size:int(rec.size)+len(rec.op.Axes)]...)
			for j := range rec.op.Params {
				p.params = append(p.params, rec.param+int32(j)-first)
			}
		}
		p.steps = append(p.steps, s)
	}
	p.findChanges()
}

// value returns argument i of a step.
func (p *program) value(s *step, i int32) *progValue { return &p.values[p.args[s.arg+i]] }

// slotOf returns the slot of argument i of a step.
func (p *program) slotOf(s *step, i int32) int32 { return p.value(s, i).slot }

// size returns the extent of axis a of a step.
func (p *program) size(s *step, a uint8) int64 { return p.sizes[s.size+int32(a)] }

// written reports whether what the slot holds changes while the part runs, beyond
// the one call that computes it.
func (p *program) written(slot int32) bool { return slot < int32(len(p.changes)) && p.changes[slot] }

// findChanges sets program.changes.
func (p *program) findChanges() {
	p.changes = grow(p.changes, len(p.r.slots))
	for i := range p.changes {
		p.changes[i] = false
	}
	made := make([]bool, len(p.changes))
	for i := range p.steps {
		s := &p.steps[i]
		for j := s.nIn; j < s.nIn+s.nOut+s.nNew; j++ {
			slot := p.slotOf(s, j)
			p.changes[slot] = p.changes[slot] || made[slot] || p.r.slots[slot].external
			made[slot] = true
		}
	}
}

// outlives reports whether somebody may read the slot after the part.
func (p *program) outlives(slot int32) bool {
	return slot < int32(len(p.r.slots)) && p.r.outlives(&p.r.slots[slot])
}

// A memory is what a value is, whatever it is called: a tensor and its views of
// another shape are one.
type memory struct {
	slot       int32
	off, bytes int64
}

func (v *progValue) memory() memory { return memory{v.slot, v.off, v.bytes()} }

// uses are the steps that read each slot, and the step that computes it.
type uses struct {
	def     []int32 // by slot: the step that writes it; -1 none, -2 several
	readers [][]int32
}

// uses finds who reads and who writes what.
func (p *program) uses() *uses {
	u := &uses{def: make([]int32, p.slots), readers: make([][]int32, p.slots)}
	for i := range u.def {
		u.def[i] = -1
	}
	for i := range p.steps {
		s := &p.steps[i]
		if s.dropped {
			continue
		}
		for j := range s.nIn {
			slot := p.slotOf(s, j)
			if n := len(u.readers[slot]); n == 0 || u.readers[slot][n-1] != int32(i) {
				u.readers[slot] = append(u.readers[slot], int32(i))
			}
		}
		for j := s.nIn; j < s.nIn+s.nOut+s.nNew; j++ {
			if slot := p.slotOf(s, j); u.def[slot] == -1 {
				u.def[slot] = int32(i)
			} else {
				u.def[slot] = -2
			}
		}
	}
	return u
}

// whole reports whether v is all of the memory that its slot has.
func (p *program) whole(v *progValue) bool {
	if v.slot >= int32(len(p.r.slots)) {
		return true
	}
	return v.off == 0 && v.bytes() == p.r.slots[v.slot].buf.bytes
}

// sweep removes the steps that passes dropped.
func (p *program) sweep() {
	at := make([]int32, len(p.steps))
	n := int32(0)
	for i := range p.steps {
		at[i] = n
		if !p.steps[i].dropped {
			n++
		} else {
			at[i] = -1
		}
	}
	p.steps = slices.DeleteFunc(p.steps, func(s step) bool { return s.dropped })
	for i := range p.steps {
		if f := p.steps[i].forward; f >= 0 {
			p.steps[i].forward = at[f]
		}
	}
}
