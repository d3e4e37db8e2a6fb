package gen

import (
	"context"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/simrun"
)

// Traffic is what the launches of one variant of an op moved on one call.
type Traffic struct {
	Op       string // name, and static choices if there are any
	DType    string
	Extents  string // of the axes, as in "R=16 D=4096"
	Launches []simrun.Bytes
	Least    int64 // that a single perfect kernel would move; 0 where no plan tells
}

// Moved is the sum over all launches.
func (t *Traffic) Moved() int64 {
	n := int64(0)
	for _, l := range t.Launches {
		n += l.Loaded + l.Stored
	}
	return n
}

// Traffic runs a variant of op, whose kernels are in a program that is built with
// sim.Traffic, with the given extents in turn for its axes. It reports false where no
// arguments with those extents meet the conditions of the op.
func (op *Op) Traffic(ctx context.Context, program *sim.Program, variant int, extents []int) (*Traffic, bool, error) {
	p := op.Programs[variant]
	call, sizes, ok := simrun.Arguments(p, extents, 0)
	if !ok {
		return nil, false, nil
	}
	launches, err := simrun.Measure(ctx, program, op.Bound.Op, variant, call)
	if err != nil {
		return nil, false, err
	}
	t := &Traffic{Op: strings.TrimSpace(op.Name + " " + StaticName(op.Choices)), DType: DTypeName(p), Launches: launches}
	var parts []string
	for _, a := range p.Axes {
		parts = append(parts, fmt.Sprintf("%s=%d", a.Name, sizes.Of(a)))
	}
	t.Extents = strings.Join(parts, " ")
	if len(op.Bound.Plans) > variant {
		t.Least = least(op.Bound.Plans[variant], sizes)
	}
	return t, true, nil
}

// least is what a perfect kernel moves, with the outputs that callers may leave out,
// which are wanted here.
func least(p *plan.Plan, sizes *oracle.Sizes) int64 {
	read, written := p.Least()
	n := read.Eval(sizes.Of) + written.Eval(sizes.Of)
	for _, t := range p.Program.Outs {
		if t.Lazy {
			n += elementsOf(sizes, t.Axes) * int64(t.Type.Bytes())
		}
	}
	return n
}

func elementsOf(sizes *oracle.Sizes, axes []*expr.Axis) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= sizes.Of(a)
	}
	return n
}

// Measure counts the bytes that the Metal kernels of the spec, or of the derived
// gradient, of the given name move, and hands what each variant moved to report. The
// programs are kept in dir.
func (r *Result) Measure(ctx context.Context, name, dir string, report func(*Traffic)) error {
	_, shader, ops, err := r.metalOps(name)
	if err != nil {
		return err
	}
	program, err := sim.Build(ctx, dir, shader.Path, shader.Data, sim.Traffic)
	if err != nil {
		return err
	}
	for _, op := range ops {
		for v, p := range op.Programs {
			t, ok, err := op.Traffic(ctx, program, v, measuredExtents(p))
			if err != nil {
				return err
			}
			if ok {
				report(t)
			}
		}
	}
	return nil
}

// measuredExtents are large enough that what a launch costs beside its elements does not
// count.
func measuredExtents(p *expr.Program) []int {
	switch n := len(p.Axes); {
	case n <= 1:
		return []int{65536}
	case n == 2:
		return []int{16, 4096}
	case n == 3:
		return []int{4, 64, 256}
	}
	return []int{1, 64, 128, 64}
}
