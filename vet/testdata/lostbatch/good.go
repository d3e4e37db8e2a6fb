package lostbatch

import (
	"context"
	"fmt"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

func synced(ctx context.Context, d *runtime.Device, x tensor) error {
	b := d.Batch("synced")
	b.Keep(ops.GELUDeferred(b, x))
	return b.Sync(ctx)
}

func submitted(d *runtime.Device, x tensor) *runtime.Fence {
	b := d.Batch("submitted")
	b.Keep(ops.GELUDeferred(b, x))
	return b.Submit()
}

func errorReturns(ctx context.Context, d *runtime.Device, x tensor, load func() ([]float32, error)) error {
	b := d.Batch("error returns")
	b.Keep(ops.GELUDeferred(b, x))
	data, err := load()
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return fmt.Errorf("lostbatch: no data")
	}
	return b.Sync(ctx)
}

func cancelled(ctx context.Context, d *runtime.Device, list []tensor) error {
	b := d.Batch("cancelled")
	for _, x := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.Keep(ops.GELUDeferred(b, x))
		select {
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
	}
	return b.Sync(ctx)
}

func discardedInDefer(ctx context.Context, d *runtime.Device, x tensor, dry bool) error {
	b := d.Batch("defer")
	defer b.Discard()
	b.Keep(ops.GELUDeferred(b, x))
	if dry {
		return nil
	}
	return b.Sync(ctx)
}

func syncedInDeferredClosure(ctx context.Context, d *runtime.Device, x tensor) (err error) {
	b := d.Batch("deferred closure")
	defer func() { err = b.Sync(ctx) }()
	b.Keep(ops.GELUDeferred(b, x))
	return nil
}

func syncedInClosure(ctx context.Context, d *runtime.Device, x tensor, run func(func() error) error) error {
	b := d.Batch("closure")
	b.Keep(ops.GELUDeferred(b, x))
	return run(func() error { return b.Sync(ctx) })
}

func syncedAtSomeTime(ctx context.Context, d *runtime.Device, x tensor, cleanup func(func() error)) {
	b := d.Batch("some time")
	cleanup(func() error { return b.Sync(ctx) })
	b.Keep(ops.GELUDeferred(b, x))
}

func syncedInGoroutine(d *runtime.Device, x tensor) {
	b := d.Batch("goroutine")
	b.Keep(ops.GELUDeferred(b, x))
	go helper.Run(b)
}

func syncedByHelper(d *runtime.Device, x tensor) error {
	b := helper.Batch(d)
	b.Keep(helper.Layer(b, x))
	return helper.Run(b)
}

func givenAway(d *runtime.Device, x tensor) *runtime.Batch {
	b := d.Batch("given away")
	b.Keep(ops.GELUDeferred(b, x))
	return b
}

func stored(d *runtime.Device, x tensor) *helper.Model {
	b := d.Batch("stored")
	b.Keep(ops.GELUDeferred(b, x))
	return helper.NewModel(d, b)
}

func syncedInLoop(ctx context.Context, d *runtime.Device, list []tensor) error {
	b := d.Batch("loop")
	for _, x := range list {
		b.Keep(ops.GELUDeferred(b, x))
		if err := b.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

func recordedInLoop(ctx context.Context, d *runtime.Device, list []tensor) error {
	b := d.Batch("recorded in a loop")
	for _, x := range list {
		b.Keep(ops.GELUDeferred(b, x))
	}
	return b.Sync(ctx)
}

func nothingRecorded(d *runtime.Device, dry bool) string {
	b := d.Batch("nothing")
	return b.Name()
}

func panics(d *runtime.Device, x tensor) {
	b := d.Batch("panic")
	b.Keep(ops.GELUDeferred(b, x))
	panic("lostbatch: not reached")
}
