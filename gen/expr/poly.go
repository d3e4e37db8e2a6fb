package expr

import (
	"sort"
	"strings"
)

// poly is an integer polynomial over atoms: extents, parameters, positions
// along axes, and whatever else is taken as a whole. The key of a term is its
// atoms, sorted and joined by "*"; the constant term has the key "".
type poly map[string]int64

// The limits of the proofs; what is larger is not proven. maxTerms and maxDegree
// bound the work, maxCoeff and maxLower keep sums and products inside int64.
const (
	maxTerms  = 64
	maxDegree = 4
	maxCoeff  = 1 << 28
	maxLower  = 1 << 6
)

func constPoly(n int64) poly  { return poly{}.plus("", n) }
func atomPoly(a string) poly  { return poly{a: 1} }
func sizeAtom(a *Axis) string { return "s:" + a.Name }

func indexAtom(a *Axis) string { return "i:" + a.Name }

// plus adds n times the term to p, in place.
func (p poly) plus(term string, n int64) poly {
	if p[term] += n; p[term] == 0 {
		delete(p, term)
	}
	return p
}

// add returns p + n*q.
func (p poly) add(q poly, n int64) poly {
	r := poly{}
	for t, c := range p {
		r.plus(t, c)
	}
	for t, c := range q {
		r.plus(t, c*n)
	}
	return r
}

func (p poly) mul(q poly) poly {
	r := poly{}
	for t, c := range p {
		for u, d := range q {
			r.plus(mulTerms(t, u), c*d)
		}
	}
	return r
}

// small reports whether products and sums with p cannot overflow.
func (p poly) small() bool {
	for _, c := range p {
		if c > maxCoeff || c < -maxCoeff {
			return false
		}
	}
	return true
}

// degree is the largest number of atoms in a term.
func (p poly) degree() int {
	n := 0
	for t := range p {
		if t != "" {
			n = max(n, 1+strings.Count(t, "*"))
		}
	}
	return n
}

func mulTerms(t, u string) string {
	switch {
	case t == "":
		return u
	case u == "":
		return t
	}
	atoms := append(strings.Split(t, "*"), strings.Split(u, "*")...)
	sort.Strings(atoms)
	return strings.Join(atoms, "*")
}

// replace returns p with q in place of an atom.
func (p poly) replace(atom string, q poly) poly {
	r := poly{}
	for t, c := range p {
		part := poly{"": c}
		for a := range strings.SplitSeq(t, "*") {
			switch a {
			case "":
			case atom:
				part = part.mul(q)
			default:
				part = part.mul(atomPoly(a))
			}
		}
		r = r.add(part, 1)
	}
	return r
}

// split returns p as coeff*atom + rest; ok is false when the atom occurs
// squared.
func (p poly) split(atom string) (coeff, rest poly, ok bool) {
	coeff, rest = poly{}, poly{}
	for t, c := range p {
		atoms := strings.Split(t, "*")
		var others []string
		for _, a := range atoms {
			if a != atom {
				others = append(others, a)
			}
		}
		switch len(atoms) - len(others) {
		case 0:
			rest.plus(t, c)
		case 1:
			coeff.plus(strings.Join(others, "*"), c)
		default:
			return nil, nil, false
		}
	}
	return coeff, rest, true
}

// atoms returns the atoms of p with the given prefix, sorted.
func (p poly) atoms(prefix string) []string {
	seen := map[string]bool{}
	for t := range p {
		for a := range strings.SplitSeq(t, "*") {
			if a != "" && strings.HasPrefix(a, prefix) {
				seen[a] = true
			}
		}
	}
	var list []string
	for a := range seen {
		list = append(list, a)
	}
	sort.Strings(list)
	return list
}
