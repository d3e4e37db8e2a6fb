// Package lostbatch makes batches.
package lostbatch

import (
	"context"
	"fmt"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type tensor = runtime.Tensor[float32]

func never(d *runtime.Device, x tensor) tensor {
	b := d.Batch("never") // want `the batch is neither synced, submitted nor discarded before the return at line 20`
	y := ops.GELUDeferred(b, x)
	b.Keep(y)
	return y
}

func earlyReturn(ctx context.Context, d *runtime.Device, x tensor, dry bool) error {
	b := d.Batch("early") // want `neither synced, submitted nor discarded before the return at line 27`
	b.Keep(ops.GELUDeferred(b, x))
	if dry {
		return nil
	}
	return b.Sync(ctx)
}

func loop(ctx context.Context, d *runtime.Device, list []tensor) error {
	var b *runtime.Batch
	for _, x := range list {
		b = d.Batch("round") // want `neither synced, submitted nor discarded before the next one is made here`
		b.Keep(ops.GELUDeferred(b, x))
	}
	return b.Sync(ctx)
}

func byHelper(d *runtime.Device, x tensor) tensor {
	b := helper.Batch(d) // want `neither synced, submitted nor discarded`
	y := helper.Layer(b, x)
	b.Keep(y)
	return y
}

func closure(d *runtime.Device, list []tensor) {
	b := d.Batch("closure") // want `neither synced, submitted nor discarded before the return`
	keep := func(x tensor) { b.Keep(ops.GELUDeferred(b, x)) }
	for _, x := range list {
		keep(x)
	}
	return
}

func insideClosure(d *runtime.Device, x tensor) func() {
	return func() {
		b := d.Batch("inside") // want `neither synced, submitted nor discarded before the function ends`
		b.Keep(x)
	}
}

func deferTooLate(d *runtime.Device, x tensor, dry bool) error {
	b := d.Batch("late") // want `neither synced, submitted nor discarded before the return at line 68`
	b.Keep(ops.GELUDeferred(b, x))
	if dry {
		return nil
	}
	defer b.Discard()
	return b.Err()
}

func onlyItsError(d *runtime.Device, x tensor) error {
	b := d.Batch("err") // want `neither synced, submitted nor discarded before the return`
	b.Keep(ops.GELUDeferred(b, x))
	return b.Err()
}

func recordedAgain(ctx context.Context, d *runtime.Device, x tensor) (*runtime.Readback[float32], error) {
	b := d.Batch("again") // want `neither synced, submitted nor discarded before the return at line 86`
	b.Keep(ops.GELUDeferred(b, x))
	if err := b.Sync(ctx); err != nil {
		return nil, fmt.Errorf("lostbatch: %w", err)
	}
	return runtime.Read(b, x), nil
}
