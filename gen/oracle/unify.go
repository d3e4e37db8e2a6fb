package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// Sizes are the extents of the axes of a program for given input shapes.
type Sizes struct {
	Extent []int64 // of each axis, in the order of Program.Axes
	groups [][]int // the dimensions of each group axis
	axis   map[*expr.Axis]int
}

// Of returns the extent of an axis of the program.
func (s *Sizes) Of(a *expr.Axis) int64 { return s.Extent[s.axis[a]] }

// Shape returns the shape that a caller sees for a tensor of the program.
func (s *Sizes) Shape(t *expr.Tensor) []int {
	shape := []int{}
	for _, dim := range t.Shape {
		if g, ok := groupOf(dim); ok {
			shape = append(shape, s.groups[s.axis[g]]...)
			continue
		}
		n := int64(1)
		for _, a := range dim {
			n *= s.Of(a)
		}
		shape = append(shape, int(n))
	}
	return shape
}

// Unify finds the extents of all axes of p from the shapes of its inputs, the
// values of its parameters and, by axis name, the extents that the caller
// gives: one number for an axis, a shape for a group. All mismatches are
// reported, joined.
func Unify(p *expr.Program, shapes [][]int, params []Value, free map[string][]int) (*Sizes, error) {
	if len(shapes) != len(p.Ins) {
		return nil, fmt.Errorf("%s: %d inputs given, want %d", p.Name, len(shapes), len(p.Ins))
	}
	if len(params) != len(p.Params) {
		return nil, fmt.Errorf("%s: %d parameters given, want %d", p.Name, len(params), len(p.Params))
	}
	u := newUnifier(p, params)
	u.freeAxes(free)
	u.solve(shapes)
	if err := errors.Join(u.errs...); err != nil {
		return nil, err
	}
	return &u.Sizes, nil
}

// unifier is a Sizes in the making.
type unifier struct {
	Sizes
	p      *expr.Program
	params []Value
	known  []bool   // by axis
	from   []string // what an extent was first found in
	done   []bool   // by input: all its dimensions are matched
	errs   []error
}

func newUnifier(p *expr.Program, params []Value) *unifier {
	n := len(p.Axes)
	u := &unifier{p: p, params: params, known: make([]bool, n), from: make([]string, n), done: make([]bool, len(p.Ins))}
	u.Extent, u.groups = make([]int64, n), make([][]int, n)
	u.axis = axisNumbers(p)
	return u
}

func axisNumbers(p *expr.Program) map[*expr.Axis]int {
	m := make(map[*expr.Axis]int, len(p.Axes))
	for i, a := range p.Axes {
		m[a] = i
	}
	return m
}

func (u *unifier) failf(format string, args ...any) {
	u.errs = append(u.errs, fmt.Errorf(u.p.Name+": "+format, args...))
}

func (u *unifier) freeAxes(free map[string][]int) {
	for _, a := range u.p.Axes {
		dims, ok := free[a.Name]
		switch {
		case !a.Free:
		case !ok:
			u.failf("the extent of axis %s is not given", a.Name)
		case !a.Group && len(dims) != 1:
			u.failf("axis %s needs one extent, %d given", a.Name, len(dims))
		case slices.Min(append([]int{0}, dims...)) < 0:
			u.failf("axis %s has a negative extent: %v", a.Name, dims)
		default:
			u.set(a, dims, "the call")
		}
	}
}

// set records the extent of an axis, or compares it with the one known.
func (u *unifier) set(a *expr.Axis, dims []int, from string) {
	i := u.axis[a]
	switch {
	case !u.known[i]:
		u.known[i], u.from[i], u.Extent[i] = true, from, int64(elements(dims))
		if a.Group {
			u.groups[i] = slices.Clone(dims)
		}
	case a.Group && !slices.Equal(u.groups[i], dims):
		u.failf("axes %s... of %s are %v, of %s they are %v", a.Name, from, dims, u.from[i], u.groups[i])
	case u.Extent[i] != int64(elements(dims)):
		u.failf("axis %s of %s is %d, of %s it is %d", a.Name, from, elements(dims), u.from[i], u.Extent[i])
	}
}

// solve matches inputs and derives extents until nothing new is found.
func (u *unifier) solve(shapes [][]int) {
	for progress := true; progress && len(u.errs) == 0; {
		progress = false
		for i, t := range u.p.Ins {
			if !u.done[i] && u.match(t, shapes[i]) {
				u.done[i], progress = true, true
			}
		}
		for _, a := range u.p.Axes {
			progress = u.derive(a) || progress
		}
	}
	if len(u.errs) > 0 {
		return
	}
	var open []string
	for i, a := range u.p.Axes {
		if !u.known[i] {
			open = append(open, a.Name)
		}
	}
	if len(open) > 0 {
		u.failf("the inputs do not give the extent of %s", strings.Join(open, ", "))
	}
}

// derive computes the extent of an axis whose formula has become computable.
func (u *unifier) derive(a *expr.Axis) bool {
	if a.Extent == nil || u.known[u.axis[a]] {
		return false
	}
	ready := true
	expr.Walk(a.Extent, func(e expr.Expr) bool {
		if s, ok := e.(*expr.Size); ok {
			ready = ready && u.known[u.axis[s.A]]
		}
		return ready
	})
	if !ready {
		return false
	}
	n, err := Extent(u.p, a, u.params, u.Of)
	switch {
	case err != nil:
		u.errs = append(u.errs, err)
	case n < 0:
		u.failf("axis %s would have extent %d", a.Name, n)
	default:
		u.set(a, []int{int(n)}, "its formula")
	}
	return true
}

// match compares an input with its declared shape; it reports false when too
// many of its groups are still open.
func (u *unifier) match(t *expr.Tensor, shape []int) bool {
	rank, ok := u.openRank(t, len(shape))
	if !ok {
		return false
	}
	if rank < 0 {
		u.failf("%s has %d dimensions, want %s", t.Name, len(shape), describe(t))
		return true
	}
	at := 0
	for _, dim := range t.Shape {
		width := 1
		if g, ok := groupOf(dim); ok {
			width = rank
			if i := u.axis[g]; u.known[i] {
				width = len(u.groups[i])
			}
			u.set(g, shape[at:at+width], t.Name)
		} else if !u.product(dim, shape[at], t.Name) {
			return false
		}
		at += width
	}
	return true
}

// openRank returns the number of dimensions left for the one group of t that
// is not known, or -1 when the rank does not fit.
func (u *unifier) openRank(t *expr.Tensor, rank int) (left int, ok bool) {
	open := 0
	for _, dim := range t.Shape {
		g, isGroup := groupOf(dim)
		switch {
		case !isGroup:
			rank--
		case u.known[u.axis[g]]:
			rank -= len(u.groups[u.axis[g]])
		default:
			open++
		}
	}
	if open == 0 && rank != 0 {
		rank = -1
	}
	return max(rank, -1), open <= 1
}

// product matches one dimension that is the product of some axes; it reports
// false when more than one of them is open.
func (u *unifier) product(dim expr.Dim, extent int, from string) bool {
	var open *expr.Axis
	rest := int64(1)
	for _, a := range dim {
		i := u.axis[a]
		switch {
		case u.known[i]:
			rest *= u.Extent[i]
		case open != nil || a.Extent != nil:
			return false
		default:
			open = a
		}
	}
	switch {
	case open == nil && len(dim) == 1:
		u.set(dim[0], []int{extent}, from)
	case open == nil && rest != int64(extent):
		u.failf("a dimension of %s is %d, its axes have product %d", from, extent, rest)
	case open != nil && (rest == 0 || int64(extent)%rest != 0):
		u.failf("a dimension of %s is %d, not a multiple of %d, so axis %s is not known", from, extent, rest, open.Name)
	case open != nil:
		u.set(open, []int{int(int64(extent) / rest)}, from)
	}
	return true
}

func groupOf(dim expr.Dim) (*expr.Axis, bool) {
	if len(dim) == 1 && dim[0].Group {
		return dim[0], true
	}
	return nil, false
}

// describe gives a declared shape as specs write it.
func describe(t *expr.Tensor) string {
	parts := make([]string, len(t.Shape))
	for i, dim := range t.Shape {
		names := make([]string, len(dim))
		for j, a := range dim {
			names[j] = a.Name
			if a.Group {
				names[j] += "..."
			}
		}
		parts[i] = strings.Join(names, " ")
		if len(dim) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}
