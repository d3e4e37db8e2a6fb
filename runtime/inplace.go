package runtime

import (
	"slices"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// takeover is a result that may take over the memory of an operand.
type takeover struct{ to, from int32 } // places

// allowed notes which results of a kernel may take over which operands, given its
// arguments: those that it is the first to write, and operands that are whole and
// that no other argument is a part of.
func (p *planner) allowed(k *Kernel, bufs []backend.Buf) {
	for i, b := range k.Buffers {
		if to := bufs[i]; len(b.InPlace) > 0 && !p.places[to.Slot].used {
			for _, in := range b.InPlace {
				if from := bufs[in].Slot; free(bufs, from, b.InPlace) {
					p.takeovers = append(p.takeovers, takeover{to.Slot, from})
				}
			}
		}
	}
}

// free reports whether only the given arguments use a place, from its beginning.
func free(bufs []backend.Buf, place int32, args []uint8) bool {
	for i, b := range bufs {
		if b.Slot == place && (b.Off != 0 || !slices.Contains(args, uint8(i))) {
			return false
		}
	}
	return true
}

// inplace lets results take over the memory of operands that are used for the last
// time by the command that computes them.
func (p *planner) inplace() {
	if p.r.d.guards {
		return // each value has memory of its own
	}
	for _, t := range p.takeovers {
		to, from := &p.places[t.to], &p.places[t.from]
		ours := to.base == 0 && from.base == 0 && to.bytes == from.bytes
		if ours && to.over == 0 && from.next == 0 && from.first < to.first && from.last == to.first {
			to.over, from.next = t.from+1, t.to+1
		}
	}
}

// takenOver returns how many results take over the memory of an operand.
func (p *planner) takenOver() int {
	n := 0
	for i := range p.places {
		if p.places[i].over > 0 {
			n++
		}
	}
	return n
}
