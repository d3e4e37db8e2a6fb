package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/plan"
)

// Case is one variant of an op at one size.
type Case struct {
	Op      string // name
	Static  string // its choices, "" when it has none
	DType   string // storage types of its type variables
	Var     string // descriptor in the generated package
	Extents []Extent
	Bytes   int64 // least possible traffic: every argument read or written once
	Flops   int64
	Product bool // a matrix product: its measure is the peak of multiply-adds

	call call
}

// Extent is the size of an axis.
type Extent struct {
	Axis string `json:"axis"`
	Size int64  `json:"size"`
}

// Size writes the extents as in "R=256 D=1024".
func (c *Case) Size() string {
	var parts []string
	for _, e := range c.Extents {
		parts = append(parts, fmt.Sprintf("%s=%d", e.Axis, e.Size))
	}
	return strings.Join(parts, " ")
}

// Variant is what a Case is made of.
type Variant struct {
	Op     string // name
	Plan   *plan.Plan
	DType  string
	Static string
	Var    string
}

// Cases returns the variant at its sizes: one that stays in the cache and one
// that does not. It is an error if no arguments meet the conditions of the spec.
func Cases(v Variant) ([]Case, error) {
	var list []Case
	for _, s := range scales {
		c, err := newCase(v, s)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func newCase(v Variant, s scale) (Case, error) {
	p := v.Plan.Program
	a, err := chooseArguments(v.Plan, s)
	if err != nil {
		return Case{}, err
	}
	c := Case{Op: v.Op, Static: v.Static, DType: v.DType, Var: v.Var, Product: isProduct(v.Plan)}
	for i, axis := range p.Axes {
		c.Extents = append(c.Extents, Extent{axis.Name, a.sizes.Extent[i]})
	}
	size := func(axis *expr.Axis) int64 { return extentOf(v.Plan, a.sizes, axis) }
	read, written := v.Plan.Least()
	c.Bytes = min(read.Plus(written).Eval(size), a.traffic(v.Plan))
	for _, k := range v.Plan.Kernels {
		c.Flops += k.Flops().Eval(size)
	}
	c.call, err = a.encode()
	return c, err
}

// traffic is the bytes of every argument that is read or written. An operand that
// is read by index counts whole here, so a plan may know of less; and of one that
// several places read by index a plan may count more.
func (a *arguments) traffic(pl *plan.Plan) int64 {
	n := int64(0)
	for _, t := range pl.Program.Ins {
		if slices.ContainsFunc(pl.Kernels, func(k *plan.Kernel) bool { return slices.Contains(k.Reads(), t) }) {
			n += a.elements(t) * int64(t.Type.Bytes())
		}
		if t.Role == expr.InOut {
			n += a.elements(t) * int64(t.Type.Bytes())
		}
	}
	for _, t := range pl.Program.Outs {
		if t.Lazy {
			continue
		}
		n += a.elements(t) * int64(t.Type.Bytes())
	}
	return n
}

// extentOf is the extent of an axis of the program or of one that the plan adds.
func extentOf(pl *plan.Plan, sizes *oracle.Sizes, axis *expr.Axis) int64 {
	for _, c := range pl.Chunks {
		if c.Axis == axis {
			n := int64(1)
			for _, of := range c.Of {
				n *= sizes.Of(of)
			}
			return (n + c.Size - 1) / c.Size
		}
	}
	return sizes.Of(axis)
}

// isProduct reports whether a plan has a matrix product.
func isProduct(pl *plan.Plan) bool {
	for _, k := range pl.Kernels {
		if k.Shape == plan.Contract {
			return true
		}
	}
	return false
}
