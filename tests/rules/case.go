package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

// Rule is a rule with the calls that show it.
type Rule struct {
	Name  string // of the test: "C002ConstantRows"
	Cases []Case
}

// Case is a call with the results and gradients that it must have. Where it has
// gradients and no cotangents, those of its results are ones.
type Case struct {
	golden.Case
	Spec  string
	Types []expr.DType // of the first type variable; nil: all
	Exact bool         // the values have no rounding error
	// Tol is the tolerance, relative to a wanted value and at least to 1; 0: what
	// the storage type allows.
	Tol   float64
	Whole bool // Tol is relative to the largest wanted value of a tensor
	OrNaN bool // NaN in all elements is right, too
	// Second has the types of the second type variable; nil: all.
	Second []expr.DType
}

// All returns every rule.
func All() []Rule {
	return slices.Concat(numerics(), losses(), steps(), shapes(), catalogue())
}

// Find returns the cases of a rule.
func Find(name string) []Case {
	for _, r := range All() {
		if r.Name == name {
			return r.Cases
		}
	}
	panic(fmt.Sprintf("rules: no rule %s", name))
}

// rule names the cases that have no name by their spec and number, and gives
// cotangents.
func rule(name string, cases ...Case) Rule {
	for i := range cases {
		c := &cases[i]
		if c.Name == "" {
			c.Name = fmt.Sprintf("%s %d", c.Spec, i+1)
		}
		if c.Grads != nil && c.Cotangents == nil {
			c.Cotangents = tensors{}
			for out, v := range c.Outs {
				c.Cotangents[out] = constant(1, v.Shape...)
			}
		}
	}
	return Rule{name, cases}
}

// Programs returns the programs of a spec that the case is for.
func (c *Case) Programs(s *expr.Spec) []*expr.Program {
	return slices.DeleteFunc(exact.Served(s, c.Case), func(p *expr.Program) bool {
		return c.Types != nil && len(p.Types) > 0 && !slices.Contains(c.Types, p.Types[0]) ||
			c.Second != nil && !slices.Contains(c.Second, p.Types[1])
	})
}

// Differ says where values of a storage type are not those that the case wants,
// "" if nowhere.
func (c *Case) Differ(t expr.DType, got, want []float64) string {
	if c.OrNaN && !slices.ContainsFunc(got, func(v float64) bool { return !math.IsNaN(v) }) {
		return ""
	}
	if !c.Exact && c.Tol == 0 {
		return exact.Differ(t, got, want, nil)
	}
	if len(got) != len(want) {
		return fmt.Sprintf("there are %d elements, want %d", len(got), len(want))
	}
	largest := 1.0
	for _, w := range want {
		if c.Whole && !math.IsInf(w, 0) && !math.IsNaN(w) {
			largest = max(largest, math.Abs(w))
		}
	}
	for i, w := range want {
		if !exact.Near(got[i], w, c.Tol*max(largest, math.Abs(w))) {
			return fmt.Sprintf("element %d is %.9g, want %.9g", i, got[i], w)
		}
	}
	return ""
}

type (
	tensors = map[string]golden.Tensor
	scalars = map[string]any
	choice  = map[string]string
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func vector(v ...float64) golden.Tensor              { return golden.Vector(v...) }
func number(v float64) golden.Tensor                 { return golden.Number(v) }
func constant(v float64, shape ...int) golden.Tensor { return golden.Constant(v, shape...) }
func matrix(rows ...[]float64) golden.Tensor         { return golden.Matrix(rows...) }
func row(v ...float64) []float64                     { return v }
func spaced(first, last, step float64) []float64     { return golden.Spaced(first, last, step) }
func shaped(v []float64, shape ...int) golden.Tensor { return golden.Tensor{Shape: shape, Data: v} }
func repeated(v float64, n int) []float64            { return constant(v, n).Data }
func one(spec string, ins, outs, grads tensors) Case { return with(spec, nil, ins, outs, grads) }
func exactly(spec string, ins, outs, grads tensors) Case {
	c := one(spec, ins, outs, grads)
	c.Exact = true
	return c
}

// with is a call with parameters.
func with(spec string, params scalars, ins, outs, grads tensors) Case {
	return Case{Spec: spec, Case: golden.Case{Params: params, Ins: ins, Outs: outs, Grads: grads}}
}

func (c Case) named(name string) Case           { c.Name = name; return c }
func (c Case) of(t ...expr.DType) Case          { c.Types = t; return c }
func (c Case) within(tol float64) Case          { c.Tol = tol; return c }
func (c Case) exactly() Case                    { c.Exact = true; return c }
func (c Case) choosing(ch choice) Case          { c.Static = ch; return c }
func (c Case) free(f map[string][]int) Case     { c.Free = f; return c }
func (c Case) carrying(cotangents tensors) Case { c.Cotangents = cotangents; return c }
