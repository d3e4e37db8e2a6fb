package simrun

import (
	"context"
	"fmt"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/sim"
)

// Bytes are what one launch moved between its tensors and threads, as sim.Moved counts.
type Bytes struct {
	Function       string // symbol of the form that ran
	Loaded, Stored int64
}

func bytesOf(symbol string, k *bind.Kernel, moved []sim.Moved) Bytes {
	b := Bytes{Function: symbol}
	for _, m := range moved[:min(len(moved), len(k.Buffers))] {
		b.Loaded += m.Loaded
		b.Stored += m.Stored
	}
	return b
}

// Measure runs a variant of op, as a host does, in a program that is built with
// sim.Traffic, and returns what each launch moved.
func Measure(ctx context.Context, program *sim.Program, op *bind.Op, variant int, call oracle.Call) ([]Bytes, error) {
	l, _, err := launched(ctx, program, op, variant, call)
	if err != nil {
		return nil, err
	}
	if len(l.reports) > 0 {
		return nil, fmt.Errorf("%s: %s", op.Name, l.reports[0])
	}
	return l.moved, nil
}
