package simrun

import (
	"context"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// Output is what one call gave.
type Output struct {
	*oracle.Result              // nil when a kernel did not come to its end
	Faulted        bool         // a kernel found a value outside its bounds
	Reports        []sim.Report // of the sanitizer and the runtime
}

// Run runs a variant of op, whose kernels are in program, on arguments of the
// caller's. The values are those that the device stores: the arguments are
// rounded to their storage types. The error says that it could not be run.
func Run(ctx context.Context, program *sim.Program, op *bind.Op, variant int, call oracle.Call) (*Output, error) {
	l, sizes, err := launched(ctx, program, op, variant, call)
	if err != nil {
		return nil, err
	}
	o := &Output{Faulted: l.faulted(), Reports: l.reports}
	if !l.stopped {
		list, outs := l.results(sizes), len(op.Variants[variant].Program.Outs)
		o.Result = &oracle.Result{Outs: list[:outs], InOuts: list[outs:]}
	}
	return o, nil
}

// launched checks a call and runs all launches of a variant, as a host does.
func launched(ctx context.Context, program *sim.Program, op *bind.Op, variant int, call oracle.Call) (*launcher, *oracle.Sizes, error) {
	v := &op.Variants[variant]
	sizes, err := oracle.Check(v.Program, call)
	if err != nil {
		return nil, nil, err
	}
	l := newLauncher(program, op, v, call, sizes)
	return l, sizes, l.run(ctx)
}
