package runtime

import (
	"fmt"
	"math/bits"
)

// unifier finds the extents of an operation's axes from the shapes of its
// inputs. Its slices are reused from call to call.
type unifier struct {
	op    *Op
	param []Scalar
	size  []int64 // extent of each axis, unknown if negative
	from  []int16 // input that gave the extent, or one of the constants below
	group []span  // dimensions of each group axis in dims, unknown if start is negative
	dims  []int64
	shape []dimsOf // of the inputs, and of outputs that are known beforehand
	done  []bool   // per element of shape
	merge []merged // dimensions of several axes, to be looked at last
	fixed []bool   // derived axes that are computed
}

// The sources of an extent other than an input.
const (
	fromNowhere int16 = -1
	fromCaller  int16 = -2
	fromExtent  int16 = -3
)

type span struct{ start, n int }

// dimsOf is the shape of a tensor argument.
type dimsOf struct {
	arg  *Arg
	dims []int64
}

type merged struct {
	shape int16
	dim   int16
}

// begin starts a call of op.
func (u *unifier) begin(op *Op) {
	n := len(op.Axes)
	u.op = op
	u.size = grow(u.size, n)
	u.from = grow(u.from, n)
	u.group = grow(u.group, n)
	u.fixed = grow(u.fixed, n)
	for i := range n {
		u.size[i] = -1
		u.from[i] = fromNowhere
		u.group[i] = span{-1, 0}
		u.fixed[i] = false
	}
	u.dims, u.shape, u.merge = u.dims[:0], u.shape[:0], u.merge[:0]
}

// grow returns s with length n; its elements are undefined.
func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n, 2*n)
	}
	return s[:n]
}

// tensor adds the shape of an argument. dims is not kept beyond solve.
func (u *unifier) tensor(arg *Arg, dims []int64) {
	u.shape = append(u.shape, dimsOf{arg, dims})
}

// axis sets the extent of a plain axis that the caller gives.
func (u *unifier) axis(a int, n int64) *refusal {
	if n < 0 {
		return &refusal{ErrShape, fmt.Sprintf("axis %s is %d, must not be negative", u.op.Axes[a].Name, n)}
	}
	u.size[a], u.from[a] = n, fromCaller
	return nil
}

// groupAxis sets the dimensions of a group axis that the caller gives.
func (u *unifier) groupAxis(a int, dims []int64) *refusal {
	for _, n := range dims {
		if n < 0 {
			return &refusal{ErrShape, fmt.Sprintf("axis %s is %v, must not be negative", u.op.Axes[a].Name, dims)}
		}
	}
	return u.setGroup(a, dims, fromCaller)
}

// solve finds every extent, or says what does not fit.
func (u *unifier) solve() *refusal {
	u.done = grow(u.done, len(u.shape))
	clear(u.done)
	for left := len(u.shape); left > 0; {
		before := left
		for i := range u.shape {
			if u.done[i] || !u.matchable(u.shape[i].arg) {
				continue
			}
			if err := u.match(int16(i)); err != nil {
				return err
			}
			u.done[i] = true
			left--
		}
		if left == before {
			return u.ambiguous()
		}
	}
	return u.finish()
}

// matchable reports whether at most one group in the shape has an unknown rank.
func (u *unifier) matchable(arg *Arg) bool {
	unknown := 0
	for _, d := range arg.Shape {
		if u.isGroup(d) && u.group[d[0]].start < 0 {
			unknown++
		}
	}
	return unknown <= 1
}

func (u *unifier) isGroup(d Dim) bool { return len(d) == 1 && u.op.Axes[d[0]].Group }

// match walks one shape and sets or compares the extents of its axes.
func (u *unifier) match(i int16) *refusal {
	s := u.shape[i]
	rest := len(s.dims) // dimensions of the group of unknown rank
	open := false
	for _, d := range s.arg.Shape {
		switch {
		case !u.isGroup(d):
			rest--
		case u.group[d[0]].start >= 0:
			rest -= u.group[d[0]].n
		default:
			open = true
		}
	}
	if rest < 0 || rest > 0 && !open {
		return u.wrongRank(s)
	}
	at := 0
	for j, d := range s.arg.Shape {
		switch {
		case u.isGroup(d):
			n := rest
			if g := u.group[d[0]]; g.start >= 0 {
				n = g.n
			}
			if err := u.matchGroup(int(d[0]), s, at, n, i); err != nil {
				return err
			}
			at += n
			continue
		case len(d) == 1:
			if err := u.matchAxis(int(d[0]), s.dims[at], i); err != nil {
				return err
			}
		default:
			u.merge = append(u.merge, merged{i, int16(j)})
		}
		at++
	}
	return nil
}

func (u *unifier) matchAxis(a int, n int64, i int16) *refusal {
	if u.size[a] < 0 {
		u.size[a], u.from[a] = n, i
		return nil
	}
	if u.size[a] != n {
		return u.mismatch(a, n, u.shape[i])
	}
	return nil
}

func (u *unifier) matchGroup(a int, s dimsOf, at, n int, i int16) *refusal {
	g := u.group[a]
	if g.start < 0 {
		return u.setGroup(a, s.dims[at:at+n], i)
	}
	for k := range n {
		if u.dims[g.start+k] != s.dims[at+k] {
			return &refusal{ErrShape, fmt.Sprintf("%s has shape %v, axes %s%s are %v",
				s.arg.Name, s.dims, u.op.Axes[a].Name, u.source(a), u.dims[g.start:g.start+g.n])}
		}
	}
	return nil
}

func (u *unifier) setGroup(a int, dims []int64, from int16) *refusal {
	n, ok := product(dims)
	if !ok {
		return &refusal{ErrShape, fmt.Sprintf("axes %s are %v: more elements than an int64 holds", u.op.Axes[a].Name, dims)}
	}
	u.group[a] = span{len(u.dims), len(dims)}
	u.dims = append(u.dims, dims...)
	u.size[a], u.from[a] = n, from
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
	s := u.shape[m.shape]
	extent := u.extentOf(s, int(m.dim))
	known, open := int64(1), -1
	for _, a := range s.arg.Shape[m.dim] {
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
				s.arg.Name, u.dimName(s.arg.Shape[m.dim]), extent, known)}
		}
	}
	u.size[open], u.from[open] = n, m.shape
	return true, nil
}

func (u *unifier) checkMerged(m merged) *refusal {
	s := u.shape[m.shape]
	want, ok := u.product(s.arg.Shape[m.dim])
	if got := u.extentOf(s, int(m.dim)); !ok || got != want {
		return &refusal{ErrShape, fmt.Sprintf("%s has a dimension %s of %d, the axes make it %d", s.arg.Name, u.dimName(s.arg.Shape[m.dim]), got, want)}
	}
	return nil
}

// extentOf returns the extent of the declared dimension dim of a shape whose
// groups are all known.
func (u *unifier) extentOf(s dimsOf, dim int) int64 {
	at := 0
	for _, d := range s.arg.Shape[:dim] {
		if u.isGroup(d) {
			at += u.group[d[0]].n
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
		if u.fixed[a] {
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
			u.size[a], u.from[a] = n, fromExtent
			u.setDerivedGroup(a, n)
		}
		u.fixed[a] = true
		progress = true
	}
	return progress, nil
}

// setDerivedGroup gives a derived group axis a single dimension.
func (u *unifier) setDerivedGroup(a int, n int64) {
	if u.op.Axes[a].Group && u.group[a].start < 0 {
		u.group[a] = span{len(u.dims), 1}
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
			g := u.group[d[0]]
			if g.start < 0 {
				dims = append(dims, u.size[d[0]])
				continue
			}
			dims = append(dims, u.dims[g.start:g.start+g.n]...)
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
