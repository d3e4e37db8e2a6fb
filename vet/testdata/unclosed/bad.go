// Package unclosed opens devices and keeps tensors.
package unclosed

import (
	"context"
	"errors"
	"fmt"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type tensor = runtime.Tensor[float32]

func never() error {
	d, err := runtime.Open() // want `the device is not closed before the return at line 22`
	if err != nil {
		return err
	}
	return show(d)
}

func show(d *runtime.Device) error {
	fmt.Println(d.Name(), d.Workers())
	return nil
}

func earlyReturn(quiet bool) error {
	d, err := runtime.Open() // want `the device is not closed before the return at line 36`
	if err != nil {
		return err
	}
	if quiet {
		return nil
	}
	fmt.Println(helper.Name(d))
	return d.Close()
}

func loop() {
	for _, n := range []int{1, 2, 4} {
		d, err := runtime.Open(runtime.WithWorkers(n)) // want `the device is not closed before the next one is made here`
		if err != nil {
			continue
		}
		fmt.Println(d.Workers())
	}
}

func byHelper() string {
	d, err := helper.Open() // want `the device is not closed before the return`
	if err != nil {
		return err.Error()
	}
	return d.Name()
}

func closure() func() string {
	return func() string {
		d, err := runtime.Open() // want `the device is not closed before the return`
		if err != nil {
			return ""
		}
		return d.Name()
	}
}

func deferTooLate(quiet bool) error {
	d, err := runtime.Open() // want `the device is not closed before the return at line 76`
	if err != nil {
		return err
	}
	if quiet {
		return nil
	}
	defer d.Close()
	return show(d)
}

func kept(ctx context.Context, d *runtime.Device, x tensor) ([]float32, error) {
	b := d.Batch("kept")
	y := ops.GELUDeferred(b, x)
	b.Keep(y) // want `the tensor that is kept is not closed before the return`
	if err := b.Sync(ctx); err != nil {
		return nil, err
	}
	return y.Read()
}

func keptInLoop(ctx context.Context, b *runtime.Batch, x tensor) error {
	for range 10 {
		y := helper.Layer(b, x)
		b.Keep(y) // want `the tensor that is kept is not closed before the next one is made here`
		if err := b.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

func keptByClosure(ctx context.Context, b *runtime.Batch, x tensor, quiet bool) (err error) {
	y := ops.GELUDeferred(b, x)
	b.Keep(y) // want `the tensor that is kept is not closed before the return at line 110`
	if err := b.Sync(ctx); err != nil {
		return err
	}
	if quiet {
		return nil
	}
	defer func() { err = errors.Join(err, y.Close()) }()
	return show(b.Device())
}

func uploaded(ctx context.Context, d *runtime.Device, data []float32) (float32, error) {
	x, err := runtime.FromSlice(d, data, len(data)) // want `the tensor is not closed before the return`
	if err != nil {
		return 0, err
	}
	b := d.Batch("sum")
	r := runtime.Read(b, ops.SumDeferred(b, x))
	if err := b.Sync(ctx); err != nil {
		return 0, err
	}
	return r.Scalar()
}
