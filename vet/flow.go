package vet

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A place is how a followed value is in an SSA value.
type place uint8

const (
	itself place = iota
	cell         // a variable that holds it
	list         // an array or slice that holds it
)

// A use is an instruction that does something with a followed value.
type use struct {
	instr  ssa.Instruction
	effect effect
	arg    ssa.Value // that the instruction has of it
}

// flow is where a value goes in its function and the function literals inside.
type flow struct {
	values map[ssa.Value]place
	uses   []use
}

// effects returns everything that is done with the value.
func (f *flow) effects() effect {
	var all effect
	for _, u := range f.uses {
		all |= u.effect
	}
	return all
}

// returned returns which result of fn the value is, if that is all that escapes
// of it; -1 otherwise.
func (f *flow) returned(fn *ssa.Function) int {
	at := -1
	for _, u := range f.uses {
		if u.effect&escapes == 0 {
			continue
		}
		ret, ok := u.instr.(*ssa.Return)
		if !ok || ret.Parent() != fn {
			return -1
		}
		for i, v := range ret.Results {
			if v != u.arg {
				continue
			}
			if at >= 0 && at != i {
				return -1
			}
			at = i
		}
	}
	return at
}

// follow finds where a value goes. A variable may hold another value at another
// time, so not all that is found need happen.
func (p *program) follow(v ssa.Value) *flow {
	p.mu.Lock()
	known := p.flows[v]
	p.mu.Unlock()
	if known != nil {
		return known
	}
	f := &follower{p: p, flow: flow{values: map[ssa.Value]place{}}}
	at := itself
	if _, ok := types.Unalias(v.Type()).Underlying().(*types.Slice); ok {
		at = list
	}
	f.add(v, at)
	for len(f.work) > 0 {
		v := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		refs := v.Referrers()
		if refs == nil {
			continue
		}
		for _, instr := range *refs {
			f.visit(v, f.values[v], instr)
		}
	}
	p.mu.Lock()
	p.flows[v] = &f.flow
	p.mu.Unlock()
	return &f.flow
}

type follower struct {
	p *program
	flow
	work []ssa.Value
}

func (f *follower) add(v ssa.Value, at place) {
	if _, ok := f.values[v]; !ok {
		f.values[v] = at
		f.work = append(f.work, v)
	}
}

func (f *follower) use(instr ssa.Instruction, arg ssa.Value, e effect) {
	f.uses = append(f.uses, use{instr, e, arg})
}

// visit notes what an instruction does with a value.
func (f *follower) visit(v ssa.Value, at place, instr ssa.Instruction) {
	switch instr := instr.(type) {
	case *ssa.DebugRef, *ssa.BinOp, *ssa.If:
	case *ssa.Phi:
		f.add(instr, at)
	case *ssa.ChangeType:
		f.add(instr, at)
	case *ssa.ChangeInterface:
		f.add(instr, at)
	case *ssa.MakeInterface:
		f.add(instr, at)
	case *ssa.Store:
		f.store(v, at, instr)
	case *ssa.UnOp: // a load
		if at == cell {
			f.add(instr, itself)
		}
	case *ssa.IndexAddr:
		if at == list {
			f.load(instr)
		}
	case *ssa.Slice:
		f.add(instr, at)
	case *ssa.MakeClosure:
		f.capture(v, at, instr)
	case ssa.CallInstruction:
		f.call(v, at, instr)
	default:
		f.use(instr, v, escapes)
	}
}

// store follows a value into a variable or a list.
func (f *follower) store(v ssa.Value, at place, s *ssa.Store) {
	if s.Val != v {
		return // the variable gets another value
	}
	switch addr := s.Addr.(type) {
	case *ssa.Alloc:
		if at == itself {
			f.add(addr, cell)
			return
		}
	case *ssa.IndexAddr:
		if a, ok := addr.X.(*ssa.Alloc); ok && isList(a) && at == itself {
			f.add(a, list)
			return
		}
	}
	f.use(s, v, escapes)
}

// load follows an element out of a list.
func (f *follower) load(elem *ssa.IndexAddr) {
	for _, r := range *elem.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp:
			f.add(r, itself)
		case *ssa.Store:
		default:
			f.use(r, elem, escapes)
		}
	}
}

// capture follows a variable into a function literal.
func (f *follower) capture(v ssa.Value, at place, c *ssa.MakeClosure) {
	fn := c.Fn.(*ssa.Function)
	for i, b := range c.Bindings {
		if b != v {
			continue
		}
		if fn.Synthetic != "" || at == list { // a method as a value
			f.use(c, v, escapes)
			continue
		}
		f.add(fn.FreeVars[i], at)
	}
}

// call notes what a call does with its arguments.
func (f *follower) call(v ssa.Value, at place, c ssa.CallInstruction) {
	common := c.Common()
	if common.Value == v || at == cell {
		f.use(c, v, escapes)
		return
	}
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if b.Name() != "len" && b.Name() != "cap" {
			f.use(c, v, escapes)
		}
		return
	}
	s := f.p.of(common)
	if s == nil {
		f.use(c, v, escapes)
		return
	}
	if call, ok := c.(*ssa.Call); ok && s.Same {
		if at == list {
			f.add(call, list)
		} else {
			f.add(call, itself)
		}
	}
	for i, arg := range common.Args {
		if arg != v {
			continue
		}
		e := s.arg(i)
		if e&takes != 0 && !dataUsed(c) {
			e &^= takes
		}
		f.use(c, v, e)
	}
}

// dataUsed reports whether a call that takes the value of a read-back uses it.
// Where only the error is asked for, that is what is expected.
func dataUsed(c ssa.CallInstruction) bool {
	if name(c.Common()) == "" {
		return true
	}
	call, ok := c.(*ssa.Call)
	if !ok {
		return false
	}
	data := result(call, 0)
	if data == nil {
		return false
	}
	for _, r := range *data.Referrers() {
		if op, ok := r.(*ssa.BinOp); !ok || !isNil(op.X) && !isNil(op.Y) {
			return true
		}
	}
	return false
}

// isList reports whether an array holds the arguments of a variadic call or the
// elements of a slice literal.
func isList(a *ssa.Alloc) bool { return a.Comment == "varargs" || a.Comment == "slicelit" }

// elements returns what is stored in a list.
func elements(a *ssa.Alloc) []ssa.Value {
	var list []ssa.Value
	for _, r := range *a.Referrers() {
		addr, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, r := range *addr.Referrers() {
			if s, ok := r.(*ssa.Store); ok && s.Addr == addr {
				list = append(list, s.Val)
			}
		}
	}
	return list
}
