package lower

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/plan"
)

// Phase holds the expressions of a phase of a row program, and those of them that are
// computed for every element: a term under a condition may never be.
type Phase struct{ All, Always []expr.Expr }

// Phases returns the phases of a row program: its passes in their order, and then
// the stores.
func Phases(k *plan.Kernel) []Phase {
	var list []Phase
	for _, pass := range k.Passes() {
		var p Phase
		for _, s := range pass {
			p.All = append(p.All, s.Expr)
			if _, ok := Conditional(s); !ok {
				p.Always = append(p.Always, s.Expr)
			}
		}
		list = append(list, p)
	}
	var p Phase
	for _, s := range k.Sums {
		p.All = append(p.All, s.Expr)
	}
	for _, s := range k.Stores {
		p.All = append(p.All, s.Expr)
	}
	p.Always = p.All
	return append(list, p)
}

// Kept is a costly value of each element of a row that several phases need; First is
// the first of them.
type Kept struct {
	Expr  expr.Expr
	First int
}

// Keep finds the values that a row program had better keep than compute again.
func Keep(k *plan.Kernel) []Kept {
	var list []Kept
	first := map[string]int{}
	for n, p := range Phases(k) {
		for _, e := range p.Always {
			expr.Walk(e, func(e expr.Expr) bool {
				alongRow := slices.ContainsFunc(k.Red, func(a *expr.Axis) bool { return expr.Uses(e, a) })
				if !Transcendental(e) || !alongRow {
					return true
				}
				key := expr.Key(e)
				has := slices.ContainsFunc(list, func(k Kept) bool { return expr.Key(k.Expr) == key })
				if at, seen := first[key]; !seen {
					first[key] = n
				} else if at < n && !has {
					list = append(list, Kept{e, at})
				}
				return true
			})
		}
	}
	return list
}

// Transcendental reports whether e is a call that costs many operations.
func Transcendental(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	if !ok {
		return false
	}
	switch c.Fn {
	case expr.FnExp, expr.FnLog, expr.FnLog1p, expr.FnExpm1, expr.FnTanh, expr.FnErf, expr.FnSigmoid, expr.FnPow:
		return true
	}
	return false
}
