package plan

import (
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

func (b *builder) hasFamily(f string) bool {
	return slices.ContainsFunc(b.plan.Kernels, func(k *Kernel) bool { return familyOf(k) == f })
}

// familyOf is the name by which specs and listings call k's shape: a map that
// reads elsewhere is a gather, or a window if the places are affine.
func familyOf(k *Kernel) string {
	if k.Shape != Map {
		return k.Shape.String()
	}
	family := "map"
	for _, e := range k.Exprs() {
		expr.Walk(e, func(e expr.Expr) bool {
			r, ok := e.(*expr.Read)
			if !ok || r.Idx == nil {
				return true
			}
			if family == "map" {
				family = "window"
			}
			for _, x := range r.Idx {
				if len(expr.Reads(x)) > 0 {
					family = "gather"
				}
			}
			return true
		})
	}
	return family
}

// Family is the family of the plan: that of its last kernel but maps, or of its
// first part where a reduction takes two.
func (p *Plan) Family() string {
	family := ""
	for _, k := range p.Kernels {
		if k.Shape == Partial { // what follows joins its chunks
			return familyOf(k)
		}
		if f := familyOf(k); family == "" || f != "map" {
			family = f
		}
	}
	return family
}

func (b *builder) shapes() string {
	var names []string
	for _, k := range b.plan.Kernels {
		names = append(names, familyOf(k))
	}
	return strings.Join(names, ", ")
}
