package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A way is how a search comes into a block.
type way struct {
	block *ssa.BasicBlock
	first bool // the block is the head of a loop that is entered
}

// enter returns the way from one block to another.
func enter(from, to *ssa.BasicBlock) way {
	loop := loopOf(to)
	return way{to, loop != nil && !loop[from]}
}

// rangeBody marks the body of a loop over the integers below a limit. The limit
// is compared with zero in front of it; of other loops, the head has the
// condition.
const rangeBody = "rangeint.body"

// next returns the blocks that may follow one, in the order of its branches.
// Those that are taken because of an error are nil, and so is the way past a loop
// that is entered: its body is taken to run once at least.
func (w way) next() []*ssa.BasicBlock {
	next := make([]*ssa.BasicBlock, len(w.block.Succs))
	for i, s := range w.block.Succs {
		if !afterError(w.block, i) && !w.past(i) {
			next[i] = s
		}
	}
	return next
}

// past reports whether a branch leads past a loop that is entered.
func (w way) past(branch int) bool {
	to := w.block.Succs[branch]
	if w.first && w.block.Comment != rangeBody {
		return !loopOf(w.block)[to]
	}
	body := w.block.Succs[0]
	return branch == 1 && body.Comment == rangeBody && !loopOf(body)[w.block]
}

// loopOf returns the blocks of the loop that a block is the head of, nil if it is
// none.
func loopOf(head *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	var work []*ssa.BasicBlock
	for _, pred := range head.Preds {
		if head.Dominates(pred) {
			work = append(work, pred)
		}
	}
	if work == nil {
		return nil
	}
	loop := map[*ssa.BasicBlock]bool{head: true}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !loop[b] {
			loop[b] = true
			work = append(work, b.Preds...)
		}
	}
	return loop
}

// A point is a place in a function: before an instruction of a block.
type point struct {
	way
	at int
}

// after returns the point behind an instruction.
func after(instr ssa.Instruction) point {
	b := instr.Block()
	return point{way{block: b}, slices.Index(b.Instrs, instr) + 1}
}

// A reach is a search for a way from where a value comes from to a use of it.
type reach struct {
	from  ssa.Value // the value
	flow  *flow
	to    ssa.Instruction
	arg   ssa.Value // that the use has of the value, nil if it does not matter
	stop  func(ssa.Instruction) bool
	holds []*ssa.Phi // where branches meet and the value is one of several
	seen  map[visited]bool
}

// visited is a block, and which of the reach's phis hold the value.
type visited struct {
	way
	held uint64
}

// maxPhis is how many phis a search can tell apart.
const maxPhis = 64

// find reports whether there is a way from a point to the use on which the use
// still has the value and stop holds of nothing.
func (r *reach) find(from point) bool {
	for v := range r.flow.values {
		if phi, ok := v.(*ssa.Phi); ok {
			r.holds = append(r.holds, phi)
		}
	}
	if len(r.holds) > maxPhis {
		return false
	}
	r.seen = map[visited]bool{}
	return r.walk(from, 0)
}

func (r *reach) walk(from point, held uint64) bool {
	b := from.block
	for _, instr := range b.Instrs[from.at:] {
		if instr == r.to && (r.arg == nil || r.has(r.arg, held)) {
			return true
		}
		if v, ok := instr.(ssa.Value); ok && v == r.from {
			return false // another value from here on
		}
		if r.stop(instr) {
			return false
		}
	}
	for _, s := range from.next() {
		if s == nil {
			continue
		}
		for i, pred := range s.Preds {
			if pred != b {
				continue
			}
			to := visited{enter(b, s), r.cross(s, i, held)}
			if r.seen[to] {
				continue
			}
			r.seen[to] = true
			if r.walk(point{to.way, 0}, to.held) {
				return true
			}
		}
	}
	return false
}

// cross returns which phis hold the value behind an edge into a block.
func (r *reach) cross(b *ssa.BasicBlock, edge int, held uint64) uint64 {
	next := held
	for i, phi := range r.holds {
		if phi.Block() != b {
			continue
		}
		next &^= 1 << i
		if r.has(phi.Edges[edge], held) {
			next |= 1 << i
		}
	}
	return next
}

// has reports whether an SSA value may be the value.
func (r *reach) has(v ssa.Value, held uint64) bool {
	for {
		if _, ok := r.flow.values[v]; !ok {
			return false
		}
		switch x := v.(type) {
		case *ssa.ChangeType:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.Phi:
			for i, phi := range r.holds {
				if phi == x {
					return held&(1<<i) != 0
				}
			}
			return false
		default:
			return true
		}
	}
}

// A life is a search for a way out of a function on which a value is left as it
// must not be.
type life struct {
	fn     *ssa.Function
	start  ssa.Instruction // that makes the value
	events map[ssa.Instruction]effect
	begins effect // that makes it need an end; none: it needs one from the start
	seen   map[state]bool
}

// state is what is known of the value before a block.
type state struct {
	way
	live    bool // it needs an end
	covered bool // a deferred call ends it
}

// lives returns the search for a value that an instruction makes. It returns nil
// if the value goes where it cannot be followed, or is ended where it cannot be
// said when.
func lives(start ssa.Instruction, f *flow, begins effect) *life {
	l := &life{fn: start.Parent(), start: start, events: map[ssa.Instruction]effect{}, begins: begins}
	for _, u := range f.uses {
		if u.effect&escapes != 0 {
			return nil
		}
		at := u.instr
		for at.Parent() != l.fn {
			c := closure(at.Parent())
			if c == nil {
				return nil
			}
			at = runsAt(c)
			if at == nil && u.effect&ends != 0 {
				return nil
			}
			if at == nil {
				at = c
			}
		}
		l.events[at] |= u.effect
	}
	return l
}

// closure returns the instruction that makes a function literal, nil if there is
// no single one.
func closure(fn *ssa.Function) *ssa.MakeClosure {
	if fn.Parent() == nil {
		return nil
	}
	for _, b := range fn.Parent().Blocks {
		for _, instr := range b.Instrs {
			if c, ok := instr.(*ssa.MakeClosure); ok && c.Fn == fn {
				return c
			}
		}
	}
	return nil
}

// runsAt returns the only use of a function literal, if that is a call of it, now
// or deferred; nil otherwise.
func runsAt(c *ssa.MakeClosure) ssa.Instruction {
	if len(*c.Referrers()) != 1 {
		return nil
	}
	switch call := (*c.Referrers())[0].(type) {
	case *ssa.Call:
		if call.Call.Value == c {
			return call
		}
	case *ssa.Defer:
		if call.Call.Value == c {
			return call
		}
	}
	return nil
}

// lost returns where the value is left: at a return, or where the same
// instruction makes the next one. It returns nil if it never is.
func (l *life) lost() ssa.Instruction {
	l.seen = map[state]bool{}
	return l.walk(after(l.start), l.begins == 0, false)
}

func (l *life) walk(from point, live, covered bool) ssa.Instruction {
	for _, instr := range from.block.Instrs[from.at:] {
		if instr == l.start {
			if live && !covered {
				return instr
			}
			live = l.begins == 0
			continue
		}
		e := l.events[instr]
		if _, ok := instr.(*ssa.Defer); ok {
			covered = covered || e&ends != 0
			e &^= ends
		}
		if e&l.begins != 0 {
			live = true
		}
		if e&ends != 0 {
			live = false
		}
		if ret, ok := instr.(*ssa.Return); ok && live && !covered && !returnsError(ret) {
			return ret
		}
	}
	for i, s := range from.next() {
		if s == nil || l.absent(from.block, i) {
			continue
		}
		to := state{enter(from.block, s), live, covered}
		if l.seen[to] {
			continue
		}
		l.seen[to] = true
		if at := l.walk(point{to.way, 0}, live, covered); at != nil {
			return at
		}
	}
	return nil
}

// absent reports whether a branch is taken because the value is nil.
func (l *life) absent(b *ssa.BasicBlock, branch int) bool {
	v, whenNil := isNilCheck(b)
	return v != nil && followed(v.Type()) && branch == whenNil
}
