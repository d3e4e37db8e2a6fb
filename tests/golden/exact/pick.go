package exact

import (
	"fmt"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/tests/golden"
)

// Nearest returns the case that serves a program and whose arguments have about
// the given number of elements.
func Nearest(cases []golden.Case, p *expr.Program, elements int) (golden.Case, error) {
	best, gap := -1, 0
	for i, c := range cases {
		d := argumentElements(c) - elements
		if d = max(d, -d); Serves(p, c) && (best < 0 || d < gap) {
			best, gap = i, d
		}
	}
	if best < 0 {
		return golden.Case{}, fmt.Errorf("%s %v %v has no golden values", p.Name, p.Static, p.Types)
	}
	return cases[best], nil
}

// argumentElements counts the elements of the inputs, and of the shapes that
// the caller gives.
func argumentElements(c golden.Case) int {
	n := 0
	for _, v := range c.Ins {
		n += v.Len()
	}
	for _, shape := range c.Free {
		n += golden.Tensor{Shape: shape}.Len()
	}
	return n
}
