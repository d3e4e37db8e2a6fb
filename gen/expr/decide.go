package expr

import "slices"

// Prover decides conditions over positions, sizes and parameters by what the
// host guarantees: extents are not negative, positions lie inside their axes,
// the program's requirements hold.
type Prover struct{ f *facts }

// NewProver returns a Prover for expressions of p.
func NewProver(p *Program) *Prover { return &Prover{newFacts(p)} }

// Given returns a Prover for the positions at which c, a Bool, holds or does not.
func (v *Prover) Given(c Expr, holds bool) *Prover {
	if b, ok := c.(*Binary); ok && !holds {
		op, known := denied[b.Op]
		if !known {
			return v
		}
		c = &Binary{Node: b.Node, Op: op, X: b.X, Y: b.Y}
	}
	f := *v.f
	f.given = append(slices.Clone(f.given), f.claims(c)...)
	return &Prover{&f}
}

// denied are the comparisons of ints that hold where others do not.
var denied = map[BinaryOp]BinaryOp{Lt: Ge, Le: Gt, Gt: Le, Ge: Lt, Eq: Ne, Ne: Eq}

// Simplify returns c, a Bool, with the comparisons of ints in it that are
// decided left out: a constant if all are. It holds wherever c is evaluated,
// that is, where no axis that c uses is empty.
func (v *Prover) Simplify(c Expr) Expr {
	b, ok := c.(*Binary)
	switch {
	case !ok:
		if n, ok := c.(*Unary); ok && n.Op == Not {
			return NotOf(n.At, v.Simplify(n.X))
		}
	case b.Op == LogicAnd:
		return AndOf(b.At, v.Simplify(b.X), v.Simplify(b.Y))
	case b.Op == LogicOr:
		return OrOf(b.At, v.Simplify(b.X), v.Simplify(b.Y))
	case b.X.Kind() == Int:
		if holds, known := v.decide(b); known {
			return Truth(b.At, holds)
		}
	}
	return c
}

// decide proves or refutes a comparison of ints.
func (v *Prover) decide(c *Binary) (holds, known bool) {
	used := UsedAxes(c)
	y := v.f.poly(c.Y)
	atLeast := func(limit poly, sign int64) bool {
		v.f.work = maxWork
		return v.f.atLeast(c.X, limit, used, sign)
	}
	ge, gt := atLeast(y, 1), atLeast(y.add(constPoly(1), 1), 1)
	le, lt := atLeast(y, -1), atLeast(y.add(constPoly(1), -1), -1)
	switch c.Op {
	case Ge:
		return ge, ge || lt
	case Gt:
		return gt, gt || le
	case Le:
		return le, le || gt
	case Lt:
		return lt, lt || ge
	case Eq:
		return ge && le, ge && le || gt || lt
	case Ne:
		return gt || lt, ge && le || gt || lt
	}
	return false, false
}
