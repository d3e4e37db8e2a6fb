package expr

import (
	"slices"
	"strings"
)

// facts is what the host guarantees before a kernel runs, for proofs that an
// index lies inside its axis: extents are not negative, positions lie inside
// their axes, [require] holds. A kernel runs only where no axis of its step is
// empty.
type facts struct {
	extents  map[string]poly // computed extents by atom
	nonneg   []poly          // known to be >= 0
	given    []poly          // the same, at the positions at hand
	lower    map[string]int64
	quotient map[string]division // atoms of floored divisions
	lets     map[*Tensor]*Axis   // lets that hold positions along an axis
	work     int                 // steps left for the proof at hand
}

// maxWork bounds the steps of one proof; what takes longer is not proven.
const maxWork = 20000

type division struct{ x, y poly }

func newFacts(p *Program) *facts {
	f := &facts{
		extents: map[string]poly{}, lower: map[string]int64{},
		quotient: map[string]division{}, lets: map[*Tensor]*Axis{},
	}
	for _, a := range p.Axes {
		f.lower[sizeAtom(a)] = 0
		if a.Extent != nil {
			f.extents[sizeAtom(a)] = f.poly(a.Extent)
		}
	}
	for _, r := range p.Require {
		for _, p := range f.claims(r.Cond) {
			f.know(p)
		}
	}
	return f
}

// claims returns the polynomials that a condition says are not negative, as far
// as it is a comparison of ints.
func (f *facts) claims(c Expr) []poly {
	b, ok := c.(*Binary)
	if !ok {
		return nil
	}
	if b.Op == LogicAnd {
		return append(f.claims(b.X), f.claims(b.Y)...)
	}
	if b.X.Kind() != Int {
		return nil
	}
	d := f.poly(b.X).add(f.poly(b.Y), -1)
	neg := poly{}.add(d, -1)
	switch b.Op {
	case Ge:
		return []poly{d}
	case Gt:
		return []poly{d.add(constPoly(1), -1)}
	case Le:
		return []poly{neg}
	case Lt:
		return []poly{neg.add(constPoly(1), -1)}
	case Eq:
		return []poly{d, neg}
	}
	return nil
}

// know records p >= 0; a bound of a single atom is kept as such.
func (f *facts) know(p poly) {
	if !p.small() {
		return
	}
	if atoms := p.atoms(""); len(atoms) == 1 && p[atoms[0]] == 1 && len(p) <= 2 {
		lo := min(-p[""], maxLower)
		if at, ok := f.lower[atoms[0]]; (!ok || at < lo) && lo >= -maxLower {
			f.lower[atoms[0]] = lo
		}
		return
	}
	f.nonneg = append(f.nonneg, p)
}

// poly turns an int expression into a polynomial. What is not made of +, - and
// * becomes an atom.
func (f *facts) poly(e Expr) poly {
	switch e := e.(type) {
	case *Const:
		return constPoly(e.I)
	case *Size:
		return f.expand(sizeAtom(e.A))
	case *Index:
		return atomPoly(indexAtom(e.A))
	case *ParamRef:
		return atomPoly("p:" + e.P.Name)
	case *Unary:
		return poly{}.add(f.poly(e.X), -1)
	case *Binary:
		x, y := f.poly(e.X), f.poly(e.Y)
		switch {
		case len(x)*len(y) > maxTerms || !x.small() || !y.small():
		case e.Op == Add:
			return x.add(y, 1)
		case e.Op == Sub:
			return x.add(y, -1)
		case e.Op == Mul && x.degree()+y.degree() <= maxDegree:
			return x.mul(y)
		case e.Op == Div:
			atom := opaque(e)
			f.quotient[atom] = division{x, y}
			return atomPoly(atom)
		}
	}
	return atomPoly(opaque(e))
}

// opaque is the atom of an expression that is taken as a whole.
func opaque(e Expr) string { return "e:" + strings.ReplaceAll(Key(e), "*", "×") }

func (f *facts) expand(atom string) poly {
	if p, ok := f.extents[atom]; ok {
		return p
	}
	return atomPoly(atom)
}

// atMost reports whether a bound is known to be at most the extent of a.
func (f *facts) atMost(bound Expr, a *Axis) bool {
	f.work = maxWork
	return f.prove(f.expand(sizeAtom(a)).add(f.poly(bound), -1), nil)
}

// inside reports whether x is known to lie in [0, extent of a).
func (f *facts) inside(x Expr, a *Axis) bool {
	last := f.expand(sizeAtom(a)).add(constPoly(1), -1)
	f.work = maxWork
	return f.atLeast(x, poly{}, UsedAxes(x), 1) && f.atLeast(x, last, UsedAxes(x), -1)
}

// atLeast proves sign*(x - limit) >= 0. A choice is proven for both of its
// values, a maximum from below for one of them, as is a minimum from above.
// With y > 0, x/y >= l holds if x >= y*l, x/y <= l if x <= y*l + y-1, and x%y
// lies in [0, y-1].
func (f *facts) atLeast(x Expr, limit poly, used []*Axis, sign int64) bool {
	switch x := x.(type) {
	case *Where:
		return f.atLeast(x.A, limit, used, sign) && f.atLeast(x.B, limit, used, sign)
	case *Call:
		if x.Fn != FnMin && x.Fn != FnMax {
			break
		}
		a, b := f.atLeast(x.Args[0], limit, used, sign), f.atLeast(x.Args[1], limit, used, sign)
		if (x.Fn == FnMax) == (sign > 0) {
			return a || b
		}
		return a && b
	}
	if f.prove(poly{}.add(f.poly(x), sign).add(limit, -sign), used) {
		return true
	}
	b, ok := x.(*Binary)
	if !ok || b.Op != Div && b.Op != Rem {
		return false
	}
	y := f.poly(b.Y)
	last := y.add(constPoly(1), -1)
	switch {
	case len(y)*len(limit) > maxTerms || !y.small() || !limit.small() || y.degree()+limit.degree() > maxDegree || !f.prove(last, used):
		return false
	case b.Op == Div && sign > 0:
		return f.atLeast(b.X, y.mul(limit), used, sign)
	case b.Op == Div:
		return f.atLeast(b.X, y.mul(limit).add(last, 1), used, sign)
	case sign > 0:
		return f.prove(poly{}.add(limit, -1), used)
	}
	return f.prove(limit.add(last, -1), used)
}

// prove tries to show p >= 0 for all positions along the axes used, none of
// which is empty, or for those at which what is given holds.
func (f *facts) prove(p poly, used []*Axis) bool {
	return f.everywhere(p, used) || slices.ContainsFunc(f.given, func(q poly) bool {
		return q.small() && f.everywhere(p.add(q, -1), used)
	})
}

// everywhere is prove for all positions.
func (f *facts) everywhere(p poly, used []*Axis) bool {
	f.work--
	atoms := p.atoms("i:")
	if f.work < 0 || len(p) > maxTerms || !p.small() {
		return false
	}
	if len(atoms) == 0 {
		return f.sum(p, used, 3)
	}
	coeff, rest, ok := p.split(atoms[0])
	if !ok {
		return false
	}
	last := f.expand("s:"+strings.TrimPrefix(atoms[0], "i:")).add(constPoly(1), -1)
	switch {
	case f.everywhere(coeff, used):
		return f.everywhere(rest, used)
	case f.everywhere(poly{}.add(coeff, -1), used):
		return f.everywhere(rest.add(coeff.mul(last), 1), used)
	}
	return false
}

// sum shows p >= 0 as a sum of at most depth known facts and of terms that are
// not negative.
func (f *facts) sum(p poly, used []*Axis, depth int) bool {
	f.work--
	if f.work < 0 || len(p) > maxTerms || !p.small() {
		return false
	}
	if f.positive(p, used) {
		return true
	}
	if depth == 0 {
		return false
	}
	for _, q := range f.nonneg {
		if f.sum(p.add(q, -1), used, depth-1) {
			return true
		}
	}
	for _, a := range used {
		if q, ok := f.extents[sizeAtom(a)]; ok && f.sum(p.add(q.add(constPoly(1), -1), -1), used, depth-1) {
			return true
		}
	}
	return f.divisions(p, used, depth)
}

// divisions uses x - y*(x/y) >= 0 for y > 0.
func (f *facts) divisions(p poly, used []*Axis, depth int) bool {
	for _, atom := range p.atoms("e:") {
		d, ok := f.quotient[atom]
		if !ok || !f.positive(d.y.add(constPoly(1), -1), used) {
			continue
		}
		if f.sum(p.add(d.x.add(d.y.mul(atomPoly(atom)), -1), -1), used, depth-1) {
			return true
		}
	}
	return false
}

// positive reports whether every term of p is >= 0 after each atom is written
// as its lower bound and what it has above that.
func (f *facts) positive(p poly, used []*Axis) bool {
	for _, atom := range p.atoms("") {
		lo, ok := f.lower[atom]
		if !ok {
			return false
		}
		if strings.HasPrefix(atom, "s:") && usesAxis(used, atom) {
			lo = max(lo, 1)
		}
		if lo != 0 {
			p = p.replace(atom, atomPoly(atom).add(constPoly(lo), 1))
		}
	}
	for _, c := range p {
		if c < 0 {
			return false
		}
	}
	return true
}

func usesAxis(used []*Axis, atom string) bool {
	for _, a := range used {
		if sizeAtom(a) == atom {
			return true
		}
	}
	return false
}
