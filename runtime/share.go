package runtime

import (
	"hash/maphash"
	"slices"
)

// share lets calls that compute the same value be one: same operation, same
// operands, same scalars.
//
// Scalars are no part of a program's structure, but which of its calls have equal
// ones is (see run.twins).
func (p *program) share() {
	seen := map[uint64][]int32{}
	for i := range p.steps {
		s := &p.steps[i]
		if s.dropped || s.kind != recordOp && s.kind != recordFill || s.nNew > 0 {
			continue
		}
		hash := p.hash(s)
		same := slices.IndexFunc(seen[hash], func(j int32) bool { return p.equal(&p.steps[j], s) && p.merge(&p.steps[j], s) })
		if same < 0 {
			seen[hash] = append(seen[hash], int32(i))
			continue
		}
		s.dropped = true
		for j := range p.steps[i+1:] { // its gradients are the other's
			if g := &p.steps[i+1+j]; g.forward == int32(i) {
				g.forward = seen[hash][same]
			}
		}
	}
	p.sweep()
}

// hash is equal for equal steps.
func (p *program) hash(s *step) uint64 {
	key := []uint64{uint64(s.kind), uint64(s.variant), s.fill}
	if s.op != nil {
		key = append(key, s.op.Hash)
	}
	for j := range s.nIn {
		v := p.value(s, j)
		key = append(key, uint64(v.slot), uint64(v.off), uint64(v.count))
	}
	return maphash.Bytes(hashSeed, bytesOf(key))
}

// equal reports whether two steps compute the same.
func (p *program) equal(a, b *step) bool {
	if a.kind != b.kind || a.again != b.again || a.op != b.op || a.variant != b.variant || a.fill != b.fill || a.nIn != b.nIn || a.nOut != b.nOut {
		return false
	}
	for j := range a.nIn {
		if v := p.value(a, j); *v != *p.value(b, j) || p.written(v.slot) {
			return false
		}
	}
	for j := a.nIn; j < a.nIn+a.nOut; j++ {
		if v, w := p.value(a, j), p.value(b, j); v.count != w.count || v.dtype != w.dtype {
			return false
		}
	}
	if a.op == nil {
		return true
	}
	if !slices.Equal(p.sizes[a.size:int(a.size)+len(a.op.Axes)], p.sizes[b.size:int(b.size)+len(b.op.Axes)]) {
		return false
	}
	return len(a.op.Params) == 0 || p.r.twins[b.at] == a.at+1
}

// merge makes the results of b those of a, unless one of them is more than a
// value of the program.
func (p *program) merge(a, b *step) bool {
	for j := a.nIn; j < a.nIn+a.nOut; j++ {
		v, w := p.value(a, j), p.value(b, j)
		if p.outlives(w.slot) || p.written(v.slot) || p.written(w.slot) || !p.whole(v) || !p.whole(w) {
			return false
		}
	}
	for j := a.nIn; j < a.nIn+a.nOut; j++ {
		to, from := p.value(a, j).slot, p.value(b, j).slot
		for i := range p.values {
			if p.values[i].slot == from {
				p.values[i].slot = to
			}
		}
	}
	return true
}
