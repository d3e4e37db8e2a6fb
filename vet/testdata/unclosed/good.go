package unclosed

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

func closed() error {
	d, err := runtime.Open()
	if err != nil {
		return err
	}
	defer d.Close()
	return show(d)
}

func closedInDeferredClosure() (err error) {
	d, err := runtime.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return show(d)
}

func closedByHelper() error {
	d, err := helper.Open()
	if err != nil {
		return err
	}
	fmt.Println(helper.Name(d))
	return helper.Close(d)
}

func closedInLoop() error {
	for _, n := range []int{1, 2, 4} {
		d, err := runtime.Open(runtime.WithWorkers(n))
		if err != nil {
			return err
		}
		fmt.Println(d.Workers())
		if err := d.Close(); err != nil {
			return err
		}
	}
	return nil
}

func closedLater(cleanup func(func() error)) *runtime.Batch {
	d, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	cleanup(d.Close)
	return d.Batch("later")
}

func closedByClosure(cleanup func(func())) *runtime.Batch {
	d, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	cleanup(func() { d.Close() })
	return d.Batch("later")
}

func givenAway() (*runtime.Device, error) {
	d, err := runtime.Open(runtime.WithWorkers(1))
	if err != nil {
		return nil, fmt.Errorf("unclosed: %w", err)
	}
	return d, nil
}

func stored() (*helper.Model, error) {
	d, err := runtime.Open()
	if err != nil {
		return nil, err
	}
	return helper.NewModel(d, d.Batch("model")), nil
}

var once sync.Once

func shared() (d *runtime.Device, err error) {
	once.Do(func() { d, err = runtime.Open() })
	return d, err
}

var global *runtime.Device

func setUp() (err error) {
	global, err = runtime.Open()
	return err
}

func closedIfItFails(check func(*runtime.Device) error) (d *runtime.Device, err error) {
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if d, err = runtime.Open(); err != nil {
		return nil, err
	}
	return d, check(d)
}

func maybeOpened(use bool) error {
	var d *runtime.Device
	var err error
	if use {
		if d, err = runtime.Open(); err != nil {
			return err
		}
	}
	if d != nil {
		return d.Close()
	}
	return nil
}

func notOpened() bool {
	_, err := runtime.Open(runtime.WithWorkers(0))
	return errors.Is(err, runtime.ErrOption)
}

func throughInterface(use func(any)) error {
	d, err := runtime.Open()
	if err != nil {
		return err
	}
	use(d)
	return nil
}

func generic() *runtime.Device { return must(runtime.Open()) }

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func keptAndClosed(ctx context.Context, d *runtime.Device, x tensor) ([]float32, error) {
	b := d.Batch("kept")
	y := ops.GELUDeferred(b, x)
	b.Keep(y)
	if err := b.Sync(ctx); err != nil {
		return nil, err
	}
	defer y.Close()
	return y.Read()
}

func keptAndReturned(ctx context.Context, b *runtime.Batch, x tensor) (tensor, error) {
	y := ops.GELUDeferred(b, x)
	b.Keep(y)
	return y, b.Sync(ctx)
}

func keptInList(ctx context.Context, b *runtime.Batch, x tensor) (list []tensor, err error) {
	for range 3 {
		y := helper.Layer(b, x)
		b.Keep(y)
		list = append(list, y)
	}
	return list, b.Sync(ctx)
}

func keptAndReplaced(ctx context.Context, b *runtime.Batch, r helper.Rate, x, g, v tensor) (tensor, error) {
	y := ops.GELUDeferred(b, x)
	b.Keep(y)
	z, _ := helper.Update(b, r, g, y, v)
	return z, b.Sync(ctx)
}

func keptOnAnOwnDevice(ctx context.Context, data []float32) ([]float32, error) {
	d, err := runtime.Open()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	x, err := runtime.FromSlice(d, data, len(data))
	if err != nil {
		return nil, err
	}
	b := d.Batch("own")
	y := ops.GELUDeferred(b, x)
	b.Keep(y)
	if err := b.Sync(ctx); err != nil {
		return nil, err
	}
	return y.Read()
}

func keptByHandle(ctx context.Context, b *runtime.Batch, x tensor) error {
	y := ops.GELUDeferred(b, x).Untyped()
	b.Keep(y)
	if err := b.Sync(ctx); err != nil {
		return err
	}
	return y.Close()
}

func keptInRounds(ctx context.Context, b *runtime.Batch, x tensor) error {
	for range 10 {
		y := helper.Layer(b, x)
		b.Keep(y)
		if err := b.Sync(ctx); err != nil {
			return err
		}
		if err := y.Close(); err != nil {
			return err
		}
	}
	return nil
}
