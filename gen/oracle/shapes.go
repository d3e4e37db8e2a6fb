package oracle

import "github.com/kernelgen/kgen/gen/expr"

// CheckShapes is Check for a call of which there are only the shapes of the
// inputs, the values of the parameters and, by axis name, the extents that the
// caller gives.
func CheckShapes(p *expr.Program, shapes [][]int, params []Value, free map[string][]int) (*Sizes, error) {
	sizes, err := Unify(p, shapes, params, free)
	if err != nil {
		return nil, err
	}
	return sizes, checkRequires(p, sizes, params)
}
