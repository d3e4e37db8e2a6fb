package runtime

import (
	"fmt"
	"slices"
	"strings"
)

// Explain returns what becomes of the calls recorded so far: the program as it was
// recorded and after each pass that changes it, how many results are computed in the
// memory of an operand, and the memory that it needs, with the least that any placing
// of its values could do with. It runs nothing, and records nothing.
//
// A value is written as %N, by the memory that holds it; with its results a call
// shows the type and number of elements of the first, the bytes of all operands and
// results, and the float operations of its kernels.
func (b *Batch) Explain() (string, error) {
	if b.d == nil {
		return "", b.deviceless()
	}
	d := b.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sketch != nil {
		return "", opError("explain", ErrLazy, "a graph has no program before it is evaluated")
	}
	r := b.run
	if r == nil {
		return "", nil
	}
	if r.err != nil {
		return "", r.err
	}
	for r.partial != nil {
		d.changed.Wait()
	}
	end := r.end
	defer func() { r.end = end }()
	r.end = int32(len(r.recs))
	d.cache.twins.find(r)
	var out strings.Builder
	before := ""
	plan, err := d.planner.build(r, func(pass string) {
		switch text := d.planner.program.String(); {
		case pass == "":
			fmt.Fprintf(&out, "recorded: %s\n%s", plural(len(d.planner.steps), "call"), text)
			before = text
		case text != before:
			fmt.Fprintf(&out, "\nafter %s: %s\n%s", pass, plural(len(d.planner.steps), "call"), text)
			before = text
		}
	})
	if err != nil {
		return "", err
	}
	kept := int64(0)
	for _, i := range plan.bases {
		if s := &r.slots[i]; !s.external {
			kept += s.buf.bytes
		}
	}
	inPlace := ""
	if n := d.planner.takenOver(); n > 0 {
		inPlace = fmt.Sprintf(", %s in the memory of an operand", plural(n, "result"))
	}
	fmt.Fprintf(&out, "\n%s%s; %d bytes while it runs (at most %d at a time), %d bytes kept\n", plural(len(d.planner.cmds), "command"), inPlace, plan.arena, d.planner.arena.most, kept)
	return out.String(), nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String lists the program, one line for each call.
func (p *program) String() string {
	var b strings.Builder
	u := p.uses()
	for i := range p.steps {
		s := &p.steps[i]
		args := slices.Clone(p.args[s.arg : s.arg+s.nIn+s.nOut+s.nNew])
		for o := s.nOut - 1; o >= 0 && s.op != nil; o-- {
			if slot := p.slotOf(s, s.nIn+o); s.op.Outs[o].Lazy && len(u.readers[slot]) == 0 && !p.outlives(slot) {
				args = slices.Delete(args, int(s.nIn+o), int(s.nIn+o)+1) // it is not stored
			}
		}
		if s.nOut+s.nNew > 0 {
			fmt.Fprintf(&b, "%s = ", p.names(args[s.nIn:]))
		}
		fmt.Fprintf(&b, "%s(%s)", s.label(), p.names(args[:s.nIn]))
		bytes := int64(0)
		for _, n := range args {
			bytes += p.values[n].bytes()
		}
		first := &p.values[args[min(int(s.nIn), len(args)-1)]]
		fmt.Fprintf(&b, "  %s×%d, %d bytes", first.dtype, first.count, bytes)
		if n := p.flops(s); n > 0 {
			fmt.Fprintf(&b, ", %d flops", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// flops is the number of float operations of all kernels of a step.
func (p *program) flops(s *step) int64 {
	if s.kind != recordOp {
		return 0
	}
	return s.op.Variants[s.variant].flops(p.sizes[s.size:])
}

// names lists values.
func (p *program) names(args []int32) string {
	var names []string
	for _, n := range args {
		v := &p.values[n]
		s := fmt.Sprintf("%%%d", v.slot)
		if !p.whole(v) {
			s += fmt.Sprintf("[%d:%d]", v.off, v.off+v.bytes())
		}
		names = append(names, s)
	}
	return strings.Join(names, ", ")
}

// label names a step as errors do, with the static choices.
func (s *step) label() string {
	if s.kind == recordOp {
		if static := s.op.Variants[s.variant].Static; static != "" {
			return s.op.Name + "[" + static + "]"
		}
	}
	return s.name()
}
