package metalsim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/sim"
)

// mostMoved is what a map, and a kernel of rows up to 4096 wide, may move, in either form,
// as a multiple of the least possible. Where rows sum up their columns, the sums of each
// block of 64 rows go through memory, too; of those kernels the ones of 16 bits are left
// out, which read again in each row, from a cache, what all rows have in common.
const mostMoved = 1.05

// TestBytesMoved counts what maps and rows load and store, forward and gradient, in
// every type.
func TestBytesMoved(t *testing.T) {
	m := compile(t)
	for _, s := range m.Specs {
		if movedSpecs != nil && !slices.Contains(movedSpecs, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, op := range opsOf(s) {
				for v, p := range op.Programs {
					if len(op.Bound.Plans) == 0 {
						continue
					}
					extents := measured(p)
					switch plan := op.Bound.Plans[v]; {
					case mapsOrRows(plan):
					case sumsColumns(plan) && p.Outs[0].Type == expr.F32:
						extents = [][]int{{256, 1024}, {200, 333}}
					default:
						continue
					}
					for _, extents := range extents {
						checkMoved(t, op, m.programBuilt(t, op, sim.Traffic), v, extents)
					}
				}
			}
		})
	}
}

func checkMoved(t *testing.T, op *gen.Op, program *sim.Program, variant int, extents []int) {
	t.Helper()
	x, ok, err := op.Traffic(context.Background(), program, variant, extents)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return
	}
	if float64(x.Moved()) <= mostMoved*float64(x.Least) {
		return
	}
	var parts []string
	for _, l := range x.Launches {
		parts = append(parts, fmt.Sprintf("%s %d + %d", l.Function, l.Loaded, l.Stored))
	}
	t.Errorf("%s %s, %s: %d bytes, %.2f of the least possible: %s", x.Op, x.DType, x.Extents, x.Moved(), float64(x.Moved())/float64(x.Least), strings.Join(parts, ", "))
}

// opsOf are the ops of a spec and those of its derived gradient.
func opsOf(s *gen.Spec) []*gen.Op {
	list := slices.Clone(s.Ops)
	for _, op := range s.Ops {
		if op.Grad != nil && op.Grad.Op.Bound != nil {
			list = append(list, op.Grad.Op)
		}
	}
	return list
}

func mapsOrRows(p *plan.Plan) bool {
	return len(p.Kernels) > 0 && !slices.ContainsFunc(p.Kernels, func(k *plan.Kernel) bool { return k.Shape != plan.Map && k.Shape != plan.Rows })
}

// sumsColumns reports whether p has rows that sum up their columns, and no more than the
// sum of those sums beside.
func sumsColumns(p *plan.Plan) bool {
	return len(p.Kernels) == 2 && len(p.Kernels[0].Sums) > 0
}

// measured are extents for the axes of p, in turn.
func measured(p *expr.Program) [][]int {
	switch len(p.Axes) {
	case 0, 1:
		return [][]int{{65536}, {50003}}
	case 2:
		return [][]int{{16, 4096}, {12, 1000}, {40, 333}}
	}
	return [][]int{{4, 64, 256}, {3, 17, 101}}
}
