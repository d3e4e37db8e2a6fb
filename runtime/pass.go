package runtime

import (
	"slices"
	"strings"
)

// A pass rewrites a program before it becomes commands, or says where the commands'
// results lie. What it does depends on the structure of the program only, which is
// the key of the program cache.
type pass struct {
	name  string
	run   func(*program) // nil for the other kind
	place func(*planner)
}

// passes are those of a planner, in order.
func passes() []pass {
	return []pass{
		{name: "dead", run: (*program).dead},
		{name: "view", run: (*program).view},
		{name: "share", run: (*program).share},
		{name: "fuse", run: (*program).fuse},
		{name: "inplace", place: (*planner).inplace},
	}
}

// passNames lists the passes for messages.
func passNames() string {
	var names []string
	for _, p := range passes() {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// WithoutPasses turns passes over recorded programs off, by name: "dead" drops
// calls whose results nobody reads, "view" those whose result is an operand in
// another shape, "share" computes equal work once, "fuse" puts fused kernels in
// the place of sequences, "inplace" computes results in the memory of operands that
// nothing reads later. All are on by default. Results with and without "fuse" may
// differ by a rounding of the values between fused calls.
func WithoutPasses(names ...string) Option {
	return func(c *config) error {
		for _, name := range names {
			if !slices.ContainsFunc(passes(), func(p pass) bool { return p.name == name }) {
				return opError("open", ErrOption, "there is no pass %q; those there are: %s", name, passNames())
			}
		}
		c.without = append(c.without, names...)
		return nil
	}
}

// dead drops the steps whose results nobody reads.
func (p *program) dead() {
	needed := make([]bool, p.slots)
	for i := range needed {
		needed[i] = p.outlives(int32(i))
	}
	for i := range slices.Backward(p.steps) {
		s := &p.steps[i]
		live := s.kind == recordRead
		for j := s.nIn; j < s.nIn+s.nOut+s.nNew; j++ {
			live = live || needed[p.slotOf(s, j)]
		}
		s.dropped = !live
		for j := range s.nIn {
			if live {
				needed[p.slotOf(s, j)] = true
			}
		}
	}
	p.sweep()
}
