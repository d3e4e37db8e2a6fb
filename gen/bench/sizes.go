package bench

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/plan"
)

// scale says how large a case is.
type scale struct {
	width   int64 // of rows
	largest int64 // elements of the largest tensor, about
	side    int64 // of matrix products
}

// The scales: tensors of 256 KiB in f32, and of 64 MiB.
var scales = []scale{
	{width: 256, largest: 1 << 16, side: 256},
	{width: 1024, largest: 1 << 24, side: 1024},
}

// window is the extent of an axis that another's extent is computed from and
// that the caller gives, such as the width of a convolution's window.
const window = 3

// extents chooses the extents of the axes that no formula gives. In products all
// are equal. Else rows have the width of the scale, and the other axes grow in
// turn until the largest tensor is as large as the scale says.
func extents(pl *plan.Plan, s scale, params []oracle.Value) map[*expr.Axis]int64 {
	p := pl.Program
	size := map[*expr.Axis]int64{}
	if isProduct(pl) {
		for _, a := range p.Axes {
			size[a] = s.side
		}
		for _, k := range pl.Kernels {
			if k.Prod != nil {
				for _, a := range k.Prod.Batch {
					size[a] = 1
				}
			}
		}
		return size
	}
	inner := innerAxes(p)
	var outer []*expr.Axis
	for _, a := range p.Axes {
		switch {
		case a.Free && !a.Group && inFormula(p, a):
			size[a] = window
		case slices.Contains(inner, a):
			size[a] = s.width
		case a.Extent == nil:
			size[a] = 1
			outer = append(outer, a)
		}
	}
	for i := 0; len(outer) > 0 && largest(p, size, params) < s.largest; i++ {
		size[outer[i%len(outer)]] *= 2
	}
	return size
}

// innerAxes are the last axes of the tensors that have several.
func innerAxes(p *expr.Program) []*expr.Axis {
	var list []*expr.Axis
	for _, t := range tensors(p) {
		if n := len(t.Axes); n > 1 {
			list = append(list, t.Axes[n-1])
		}
	}
	return list
}

func tensors(p *expr.Program) []*expr.Tensor { return slices.Concat(p.Ins, p.Outs) }

// largest is the number of elements of the largest tensor.
func largest(p *expr.Program, chosen map[*expr.Axis]int64, params []oracle.Value) int64 {
	size := maps.Clone(chosen)
	computed(p, params, size) // a negative extent makes a tensor small, as it should
	n := int64(0)
	for _, t := range tensors(p) {
		e := int64(1)
		for _, a := range t.Axes {
			e *= size[a]
		}
		n = max(n, e)
	}
	return n
}

// computed adds the extents that have a formula to those chosen. It reports false
// when one is negative.
func computed(p *expr.Program, params []oracle.Value, size map[*expr.Axis]int64) bool {
	of := func(axis *expr.Axis) int64 { return size[axis] }
	for _, a := range p.Axes {
		if a.Extent == nil {
			continue
		}
		n, err := oracle.Extent(p, a, params, of)
		if err != nil || n < 0 {
			return false
		}
		size[a] = n
	}
	return true
}

// inFormula reports whether the extent of an axis is computed from that of a.
func inFormula(p *expr.Program, a *expr.Axis) bool {
	for _, b := range p.Axes {
		found := false
		if b.Extent != nil {
			expr.Walk(b.Extent, func(e expr.Expr) bool {
				s, ok := e.(*expr.Size)
				found = found || ok && s.A == a
				return true
			})
		}
		if found {
			return true
		}
	}
	return false
}

// arguments are what a case calls its op with.
type arguments struct {
	program *expr.Program
	shapes  [][]int // of the inputs
	params  []oracle.Value
	free    map[string][]int
	sizes   *oracle.Sizes
}

// chooseArguments finds parameters that meet the conditions of the program and
// leave no tensor much smaller than the others, if there are such.
func chooseArguments(pl *plan.Plan, s scale) (*arguments, error) {
	p := pl.Program
	var first *arguments
	for attempt := range attempts(p) {
		a := &arguments{program: p, params: params(p, attempt), free: map[string][]int{}}
		if !a.shape(extents(pl, s, a.params)) {
			continue
		}
		var err error
		if a.sizes, err = oracle.CheckShapes(p, a.shapes, a.params, a.free); err != nil {
			continue
		}
		if a.even() {
			return a, nil
		}
		if first == nil {
			first = a
		}
	}
	if first == nil {
		return nil, fmt.Errorf("%s: found no arguments that meet its conditions", p.Name)
	}
	return first, nil
}

// integers are the values that are tried for an integer parameter without default.
var integers = [...]int64{1, 0, 8, 64, 512}

// attempts is the number of ways to choose those.
func attempts(p *expr.Program) int {
	n := 1
	for _, q := range p.Params {
		if q.Default == nil && q.Type == expr.ParamI32 {
			n *= len(integers)
		}
	}
	return n
}

// params gives every parameter its default, or else a value by its type.
func params(p *expr.Program, attempt int) []oracle.Value {
	values := oracle.Defaults(p)
	for i, q := range p.Params {
		if q.Default != nil {
			continue
		}
		switch q.Type {
		case expr.ParamF32:
			values[i] = oracle.Float(0.5)
		case expr.ParamI32:
			values[i] = oracle.Int(integers[attempt%len(integers)])
			attempt /= len(integers)
		case expr.ParamU32, expr.ParamU64:
			values[i] = oracle.Uint(1)
		}
	}
	return values
}

// shape gives the inputs their shapes. It reports false when the formula of an
// axis gives a negative extent.
func (a *arguments) shape(size map[*expr.Axis]int64) bool {
	if !computed(a.program, a.params, size) {
		return false
	}
	for _, axis := range a.program.Axes {
		if axis.Free {
			a.free[axis.Name] = []int{int(size[axis])}
		}
	}
	for _, t := range a.program.Ins {
		shape := []int{}
		for _, d := range t.Shape {
			n := int64(1)
			for _, axis := range d {
				n *= size[axis]
			}
			shape = append(shape, int(n))
		}
		a.shapes = append(a.shapes, shape)
	}
	return true
}

// even reports whether no tensor is much smaller than the inputs for the value of
// a parameter: none that has an axis with a formula has less than a quarter of
// the elements of the largest input.
func (a *arguments) even() bool {
	most := int64(0)
	for _, t := range a.program.Ins {
		most = max(most, a.elements(t))
	}
	for _, t := range a.program.Outs {
		if slices.ContainsFunc(t.Axes, func(axis *expr.Axis) bool { return axis.Extent != nil }) && a.elements(t) < most/4 {
			return false
		}
	}
	return true
}

func (a *arguments) elements(t *expr.Tensor) int64 {
	n := int64(1)
	for _, axis := range t.Axes {
		n *= a.sizes.Of(axis)
	}
	return n
}
