package runtime

// view drops calls whose result is their operand in another shape: the result is
// a view of the operand's memory, unless it outlives the program or one of the two
// changes from there on.
func (p *program) view() {
	for i := range p.steps {
		s := &p.steps[i]
		if s.kind != recordOp || s.op.Variants[s.variant].Reshape == 0 {
			continue
		}
		from, to := *p.value(s, int32(s.op.Variants[s.variant].Reshape)-1), *p.value(s, s.nIn)
		if p.outlives(to.slot) || p.written(to.slot) || !p.whole(&to) || p.writes(p.steps[i+1:], from.slot) {
			continue
		}
		for j := range p.values {
			if v := &p.values[j]; v.slot == to.slot {
				v.slot, v.off = from.slot, v.off+from.off
			}
		}
		s.dropped = true
	}
	p.sweep()
}

// writes reports whether one of the steps writes the slot.
func (p *program) writes(steps []step, slot int32) bool {
	for i := range steps {
		s := &steps[i]
		for j := s.nIn; j < s.nIn+s.nOut+s.nNew; j++ {
			if p.slotOf(s, j) == slot {
				return true
			}
		}
	}
	return false
}
