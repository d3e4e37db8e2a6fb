package vet

import "golang.org/x/tools/go/ssa"

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
