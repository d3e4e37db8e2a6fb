package vet

import "golang.org/x/tools/go/ssa"

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
