package expr

import "slices"

// Prover decides conditions over positions, sizes and parameters by what the
// host guarantees: extents are not negative, positions lie inside their axes,
// the program's requirements hold. It remembers what it has decided, and is for one
// goroutine.
type Prover struct {
	f       *facts
	decided map[string]verdict
	given   map[string]*Prover
}

type verdict struct{ holds, known bool }

// NewProver returns a Prover for expressions of p.
func NewProver(p *Program) *Prover { return prover(newFacts(p)) }

func prover(f *facts) *Prover {
	return &Prover{f, map[string]verdict{}, map[string]*Prover{}}
}

// Given returns a Prover for the positions at which c, a Bool, holds or does not.
func (v *Prover) Given(c Expr, holds bool) *Prover {
	if b, ok := c.(*Binary); ok && !holds {
		op, known := denied[b.Op]
		if !known {
			return v
		}
		c = &Binary{Node: b.Node, Op: op, X: b.X, Y: b.Y}
	}
	key := Key(c)
	if v.given[key] == nil {
		f := *v.f
		f.given = append(slices.Clone(f.given), f.claims(c)...)
		v.given[key] = prover(&f)
	}
	return v.given[key]
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
	key := Key(c)
	d, there := v.decided[key]
	if !there {
		d = v.verdict(c)
		v.decided[key] = d
	}
	return d.holds, d.known
}

func (v *Prover) verdict(c *Binary) verdict {
	used := UsedAxes(c)
	y := v.f.poly(c.Y)
	atLeast := func(limit poly, sign int64) bool {
		v.f.work = maxWork
		return v.f.atLeast(c.X, limit, used, sign)
	}
	ge := func() bool { return atLeast(y, 1) }
	gt := func() bool { return atLeast(y.add(constPoly(1), 1), 1) }
	le := func() bool { return atLeast(y, -1) }
	lt := func() bool { return atLeast(y.add(constPoly(1), -1), -1) }
	either := func(yes, no func() bool) verdict {
		holds := yes()
		return verdict{holds, holds || no()}
	}
	apart := func() bool { return gt() || lt() }
	equal := func() bool { return ge() && le() }
	switch c.Op {
	case Ge:
		return either(ge, lt)
	case Gt:
		return either(gt, le)
	case Le:
		return either(le, gt)
	case Lt:
		return either(lt, ge)
	case Eq:
		return either(equal, apart)
	case Ne:
		return either(apart, equal)
	}
	return verdict{}
}
