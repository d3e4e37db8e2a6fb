package runtime

import (
	"fmt"
	"math/bits"
	"slices"
)

// unifier finds the extents of an operation's axes from the shapes of its
// inputs. Its slices are reused from call to call.
type unifier struct {
	op    *Op
	param []Scalar
	size  []int64  // extent of each axis, unknown if negative
	axes  []axisIs // what else is known of each axis
	dims  []int64  // of group axes
	shape []shapeOf
	given given
	merge []merged // dimensions of several axes, to be looked at last
}

// axisIs is what is known of an axis beside its extent.
type axisIs struct {
	at, n int32 // dimensions of a group axis in unifier.dims, unknown if at is negative
	from  int16 // argument that gave the extent, or one of the constants below
	fixed bool  // a derived axis that is computed
}

// The sources of an extent other than an argument.
const (
	fromNowhere int16 = -1
	fromCaller  int16 = -2
	fromExtent  int16 = -3
)

// shapeOf is the shape of an argument: of an input, or of an output that is known
// beforehand, whose numbers follow those of the inputs.
type shapeOf struct {
	arg  int16
	dims []int64
}

// merged is a dimension of several axes.
type merged struct {
	shape int16 // position in unifier.shape
	dim   int16
}

// given says which arguments and which axes an operation is unified from, a bit for
// each.
type given struct{ args, axes uint64 }

// matching says how shapes give the extents of axes: in which order they are walked
// and what each of their dimensions does. It depends on what is given, and on no
// extent, so that an operation keeps it.
type matching struct {
	given given
	order []argMatch
	stuck bool // the ranks of some groups cannot be told apart
	rest  bool // finish has work
}

type argMatch struct {
	shape int16   // position in unifier.shape
	plain int     // dimensions that are no group
	known []uint8 // groups whose ranks are known by then
	open  bool    // there is one group whose rank is not
	dims  []dimMatch
}

type dimMatch struct {
	do   uint8
	axis uint8
}

// What a dimension does.
const (
	setExtent uint8 = iota
	sameExtent
	setDims // of a group
	sameDims
	mergeAxes
)

// begin starts a call of op.
func (u *unifier) begin(op *Op) {
	n := len(op.Axes)
	u.op = op
	u.size = grow(u.size, n)
	u.axes = grow(u.axes, n)
	for i := range n {
		u.size[i] = -1
		u.axes[i] = axisIs{at: -1, from: fromNowhere}
	}
	u.dims, u.shape, u.merge = u.dims[:0], u.shape[:0], u.merge[:0]
	u.given = given{}
}

// grow returns s with length n; its elements are undefined.
func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n, 2*n)
	}
	return s[:n]
}

// argument adds the shape of an argument: of an input, or by a number after theirs
// of an output. dims is not kept beyond solve.
func (u *unifier) argument(i int, dims []int64) {
	u.shape = append(u.shape, shapeOf{int16(i), dims})
	u.given.args |= 1 << i
}

// arg returns what was declared of the argument that a shape is of.
func (u *unifier) arg(s *shapeOf) *Arg { return u.op.argument(int(s.arg)) }

// argument returns an input, or by a number after theirs an output.
func (op *Op) argument(i int) *Arg {
	if n := len(op.Ins); i >= n {
		return &op.Outs[i-n]
	}
	return &op.Ins[i]
}

// axis sets the extent of a plain axis that the caller gives.
func (u *unifier) axis(a int, n int64) *refusal {
	if n < 0 {
		return &refusal{ErrShape, fmt.Sprintf("axis %s is %d, must not be negative", u.op.Axes[a].Name, n)}
	}
	u.size[a], u.axes[a].from = n, fromCaller
	u.given.axes |= 1 << a
	return nil
}

// groupAxis sets the dimensions of a group axis that the caller gives.
func (u *unifier) groupAxis(a int, dims []int64) *refusal {
	for _, n := range dims {
		if n < 0 {
			return &refusal{ErrShape, fmt.Sprintf("axis %s is %v, must not be negative", u.op.Axes[a].Name, dims)}
		}
	}
	u.given.axes |= 1 << a
	return u.setGroup(a, dims, fromCaller)
}

// solve finds every extent, or says what does not fit.
func (u *unifier) solve() *refusal {
	m := u.matching()
	for i := range m.order {
		if err := u.match(&m.order[i]); err != nil {
			return err
		}
	}
	switch {
	case m.stuck:
		return u.ambiguous()
	case m.rest:
		return u.finish()
	}
	return nil
}

// matching returns how the shapes are matched.
func (u *unifier) matching() *matching {
	known := u.op.facts()
	for _, m := range known.matchings {
		if m.given == u.given {
			return m
		}
	}
	m, more := u.newMatching(), *known
	more.matchings = append(slices.Clip(known.matchings), m)
	u.op.learn(known, &more)
	return m
}

// newMatching finds out how the shapes are matched: each as soon as at most one of
// its groups is of a rank that those before it do not give.
func (u *unifier) newMatching() *matching {
	m := &matching{given: u.given}
	known := u.given.axes
	done := make([]bool, len(u.shape))
	for progress := true; progress; {
		progress = false
		for i := range u.shape {
			if done[i] {
				continue
			}
			if next, ok := u.matchOf(int16(i), known); ok {
				for _, d := range next.dims {
					if d.do == setExtent || d.do == setDims {
						known |= 1 << d.axis
					}
					m.rest = m.rest || d.do == mergeAxes
				}
				m.order = append(m.order, next)
				done[i], progress = true, true
			}
		}
	}
	m.stuck = slices.Contains(done, false)
	for a := range u.op.Axes {
		axis := &u.op.Axes[a]
		m.rest = m.rest || axis.Extent != nil || axis.Chunk != 0 || known&(1<<a) == 0
	}
	return m
}

// matchOf returns how a shape is matched once some axes are known. It cannot be
// while more than one of its groups is not.
func (u *unifier) matchOf(i int16, known uint64) (argMatch, bool) {
	m := argMatch{shape: i}
	unknown := 0
	for _, d := range u.arg(&u.shape[i]).Shape {
		if len(d) != 1 {
			m.plain++
			m.dims = append(m.dims, dimMatch{do: mergeAxes})
			continue
		}
		a := d[0]
		isGroup, isKnown := u.op.Axes[a].Group, known&(1<<a) != 0
		do := setExtent
		switch {
		case isGroup && isKnown:
			do = sameDims
			m.known = append(m.known, a)
		case isGroup:
			do = setDims
			unknown++
		case isKnown:
			do = sameExtent
			m.plain++
		default:
			m.plain++
		}
		m.dims = append(m.dims, dimMatch{do, a})
		if !isGroup {
			known |= 1 << a
		}
	}
	m.open = unknown == 1
	return m, unknown <= 1
}

func (u *unifier) isGroup(d Dim) bool { return len(d) == 1 && u.op.Axes[d[0]].Group }

// match walks one shape and sets or compares the extents of its axes.
func (u *unifier) match(m *argMatch) *refusal {
	s := &u.shape[m.shape]
	rest := len(s.dims) - m.plain // dimensions of the group of unknown rank
	for _, a := range m.known {
		rest -= int(u.axes[a].n)
	}
	if rest < 0 || rest > 0 && !m.open {
		return u.wrongRank(s)
	}
	at := 0
	for j, d := range m.dims {
		switch d.do {
		case setDims:
			if err := u.setGroup(int(d.axis), s.dims[at:at+rest], s.arg); err != nil {
				return err
			}
			at += rest
			continue
		case sameDims:
			g := &u.axes[d.axis]
			for k, n := range u.dims[g.at : g.at+g.n] {
				if s.dims[at+k] != n {
					return u.otherGroup(int(d.axis), s)
				}
			}
			at += int(g.n)
			continue
		case setExtent:
			u.size[d.axis], u.axes[d.axis].from = s.dims[at], s.arg
		case sameExtent:
			if n := s.dims[at]; n != u.size[d.axis] {
				return u.mismatch(int(d.axis), n, s)
			}
		case mergeAxes:
			u.merge = append(u.merge, merged{m.shape, int16(j)})
		}
		at++
	}
	return nil
}

func (u *unifier) setGroup(a int, dims []int64, from int16) *refusal {
	n, ok := product(dims)
	if !ok {
		return &refusal{ErrShape, fmt.Sprintf("axes %s are %v: more elements than an int64 holds", u.op.Axes[a].Name, dims)}
	}
	u.axes[a] = axisIs{at: int32(len(u.dims)), n: int32(len(dims)), from: from}
	u.dims = append(u.dims, dims...)
	u.size[a] = n
	return nil
}

// finish solves merged dimensions and derived axes, which may depend on each
// other, and checks that nothing is left open.
func (u *unifier) finish() *refusal {
	for progress := true; progress; {
		progress = false
		for i := range u.merge {
			ok, err := u.solveMerged(u.merge[i])
			if err != nil {
				return err
			}
			progress = progress || ok
		}
		ok, err := u.derive()
		if err != nil {
			return err
		}
		progress = progress || ok
	}
	for a := range u.size {
		if u.size[a] < 0 {
			return &refusal{ErrShape, fmt.Sprintf("the extent of axis %s is not known: the inputs %s do not give it", u.op.Axes[a].Name, u.inputs())}
		}
	}
	for _, m := range u.merge {
		if err := u.checkMerged(m); err != nil {
			return err
		}
	}
	return nil
}

// solveMerged finds the one unknown axis of a dimension; it reports progress.
func (u *unifier) solveMerged(m merged) (bool, *refusal) {
	s := &u.shape[m.shape]
	arg := u.arg(s)
	extent := u.extentOf(s, int(m.dim))
	known, open := int64(1), -1
	for _, a := range arg.Shape[m.dim] {
		switch {
		case u.size[a] >= 0:
			known *= u.size[a]
		case open >= 0:
			return false, nil
		default:
			open = int(a)
		}
	}
	if open < 0 {
		return false, nil
	}
	n := int64(0)
	if known > 0 {
		n = extent / known
		if extent%known != 0 {
			return false, &refusal{ErrShape, fmt.Sprintf("%s has a dimension %s of %d, not a multiple of %d",
				arg.Name, u.dimName(arg.Shape[m.dim]), extent, known)}
		}
	}
	u.size[open], u.axes[open].from = n, s.arg
	return true, nil
}

func (u *unifier) checkMerged(m merged) *refusal {
	s := &u.shape[m.shape]
	arg := u.arg(s)
	want, ok := u.product(arg.Shape[m.dim])
	if got := u.extentOf(s, int(m.dim)); !ok || got != want {
		return &refusal{ErrShape, fmt.Sprintf("%s has a dimension %s of %d, the axes make it %d", arg.Name, u.dimName(arg.Shape[m.dim]), got, want)}
	}
	return nil
}

// extentOf returns the extent of the declared dimension dim of a shape whose
// groups are all known.
func (u *unifier) extentOf(s *shapeOf, dim int) int64 {
	at := 0
	for _, d := range u.arg(s).Shape[:dim] {
		if u.isGroup(d) {
			at += int(u.axes[d[0]].n)
		} else {
			at++
		}
	}
	return s.dims[at]
}

// derive computes the axes whose extent follows from others, as far as the
// axes before them are known; it reports progress.
func (u *unifier) derive() (bool, *refusal) {
	progress := false
	for a := range u.op.Axes {
		axis := &u.op.Axes[a]
		if axis.Extent == nil && axis.Chunk == 0 {
			if u.size[a] < 0 {
				break // what follows may depend on it
			}
			continue
		}
		if u.axes[a].fixed {
			continue
		}
		n, ok := int64(0), true
		if axis.Extent != nil {
			n = axis.Extent(u.size, u.param)
		} else if n, ok = u.chunks(axis); !ok {
			break
		}
		if n < 0 {
			return false, &refusal{ErrShape, fmt.Sprintf("axis %s would be %d with the inputs %s%s", axis.Name, n, u.inputs(), u.params())}
		}
		if u.size[a] >= 0 && u.size[a] != n {
			return false, u.notDerived(a, n)
		}
		if u.size[a] < 0 {
			u.size[a], u.axes[a].from = n, fromExtent
			u.setDerivedGroup(a, n)
		}
		u.axes[a].fixed = true
		progress = true
	}
	return progress, nil
}

// setDerivedGroup gives a derived group axis a single dimension.
func (u *unifier) setDerivedGroup(a int, n int64) {
	if g := &u.axes[a]; u.op.Axes[a].Group && g.at < 0 {
		g.at, g.n = int32(len(u.dims)), 1
		u.dims = append(u.dims, n)
	}
}

// chunks returns the extent of an axis of chunks, when it is known.
func (u *unifier) chunks(axis *Axis) (int64, bool) {
	for _, a := range axis.ChunkOf {
		if u.size[a] < 0 {
			return 0, false
		}
	}
	n, ok := u.product(axis.ChunkOf)
	return ceilDiv(n, axis.Chunk), ok
}

// product returns the product of the extents of some axes, and whether it fits.
func (u *unifier) product(axes []uint8) (int64, bool) {
	n, ok := int64(1), true
	for _, a := range axes {
		if u.size[a] == 0 {
			return 0, true
		}
		var fits bool
		n, fits = mul(n, u.size[a])
		ok = ok && fits
	}
	return n, ok
}

// appendShape appends the dimensions of an argument whose axes are all known.
func (u *unifier) appendShape(dims []int64, arg *Arg) ([]int64, *refusal) {
	for _, d := range arg.Shape {
		if u.isGroup(d) {
			g := &u.axes[d[0]]
			if g.at < 0 {
				dims = append(dims, u.size[d[0]])
				continue
			}
			dims = append(dims, u.dims[g.at:g.at+g.n]...)
			continue
		}
		n, ok := u.product(d)
		if !ok {
			return dims, &refusal{ErrShape, fmt.Sprintf("%s would have a dimension %s of more than an int64 holds", arg.Name, u.dimName(d))}
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// mul multiplies two numbers that are not negative.
func mul(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo < 1<<63
}

// product multiplies numbers that are not negative. A zero makes it zero,
// whatever the others are.
func product(dims []int64) (int64, bool) {
	n, ok := int64(1), true
	for _, d := range dims {
		if d == 0 {
			return 0, true
		}
		var fits bool
		n, fits = mul(n, d)
		ok = ok && fits
	}
	return n, ok
}

func ceilDiv(n, by int64) int64 {
	if n%by != 0 {
		return n/by + 1
	}
	return n / by
}
