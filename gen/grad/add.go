package grad

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// add sums the values of terms. Equal products become a multiple, and factors
// that all of them have are taken out.
func add(terms []term) expr.Expr {
	at := terms[0].val.Pos()
	if len(terms) == 1 {
		return terms[0].val
	}
	ps, counts := distinct(terms)
	for i := range ps {
		ps[i].scale(at, counts[i])
	}
	if len(ps) == 1 {
		return ps[0].expr(at)
	}
	shared := common(ps)
	var sum expr.Expr
	for _, p := range ps {
		if sum == nil {
			sum = p.expr(at)
		} else {
			sum = expr.AddOf(at, sum, p.expr(at))
		}
	}
	return shared.times(at, sum)
}

// distinct returns the different values as products, and how often each occurs.
func distinct(terms []term) ([]product, []int) {
	var ps []product
	var keys []string
	var counts []int
	for _, t := range terms {
		p := factors(t.val)
		k := p.key()
		if i := slices.Index(keys, k); i >= 0 {
			counts[i]++
			continue
		}
		keys = append(keys, k)
		counts = append(counts, 1)
		ps = append(ps, p)
	}
	return ps, counts
}

// key is equal for products of the same factors in any order.
func (p product) key() string {
	return fmt.Sprint(p.neg, sortedKeys(p.num), sortedKeys(p.den))
}

func sortedKeys(es []expr.Expr) []string {
	keys := make([]string, len(es))
	for i, e := range es {
		keys[i] = expr.Key(e)
	}
	slices.Sort(keys)
	return keys
}

// scale multiplies p by n, within a constant factor if there is one.
func (p *product) scale(at diag.Pos, n int) {
	if n == 1 {
		return
	}
	count := expr.Num(at, float64(n))
	for i, f := range p.num {
		if _, ok := f.(*expr.Const); ok {
			p.num[i] = expr.MulOf(at, count, f)
			return
		}
	}
	p.num = slices.Insert(p.num, 0, count)
}

// common takes the factors that all of ps have out of them.
func common(ps []product) product {
	var shared product
	shared.num = take(ps, func(p *product) *[]expr.Expr { return &p.num })
	shared.den = take(ps, func(p *product) *[]expr.Expr { return &p.den })
	return shared
}

// take removes from a side of each product what is on that side of all.
func take(ps []product, side func(*product) *[]expr.Expr) []expr.Expr {
	var shared []expr.Expr
	for _, f := range slices.Clone(*side(&ps[0])) {
		k := expr.Key(f)
		has := func(g expr.Expr) bool { return expr.Key(g) == k }
		everywhere := true
		for i := range ps {
			everywhere = everywhere && slices.ContainsFunc(*side(&ps[i]), has)
		}
		if !everywhere {
			continue
		}
		shared = append(shared, f)
		for i := range ps {
			fs := side(&ps[i])
			at := slices.IndexFunc(*fs, has)
			*fs = slices.Delete(*fs, at, at+1)
		}
	}
	return shared
}
