package earlyvalue

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

func synced(ctx context.Context, b *runtime.Batch, x tensor) ([]float32, error) {
	r := runtime.Read(b, x)
	if err := b.Sync(ctx); err != nil {
		return nil, err
	}
	return r.Value()
}

func submitted(b *runtime.Batch, x tensor) ([]float32, error) {
	r := runtime.Read(b, x)
	b.Submit()
	return r.Value()
}

func syncedByHelper(b *runtime.Batch, x tensor) []float32 {
	r := helper.ReadOf(b, x)
	if err := helper.Run(b); err != nil {
		return nil
	}
	return helper.Values(r)
}

func syncedByMethod(m *helper.Model, b *runtime.Batch, x tensor) ([]float32, error) {
	r := runtime.Read(b, x)
	if err := m.Step(); err != nil {
		return nil, err
	}
	return r.Value()
}

func syncedByImmediateCall(b *runtime.Batch, x tensor) ([]float32, error) {
	y := ops.GELUDeferred(b, x)
	r := runtime.Read(b, y)
	z, err := ops.SiLU(y)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return r.Value()
}

func syncedByClosure(ctx context.Context, b *runtime.Batch, x tensor) ([]float32, error) {
	run := func() error { return b.Sync(ctx) }
	r := runtime.Read(b, x)
	if err := run(); err != nil {
		return nil, err
	}
	return r.Value()
}

func syncedInEachBranch(ctx context.Context, b *runtime.Batch, x tensor, wait bool) ([]float32, error) {
	r := runtime.Read(b, x)
	if wait {
		if err := b.Sync(ctx); err != nil {
			return nil, err
		}
	} else {
		b.Submit()
	}
	return r.Value()
}

func syncedUnlessError(ctx context.Context, b *runtime.Batch, x tensor, prepare func() error) ([]float32, error) {
	r := runtime.Read(b, x)
	err := b.Err()
	if err == nil {
		err = b.Sync(ctx)
	}
	if err != nil {
		return nil, err
	}
	return r.Value()
}

func eachInItsRound(ctx context.Context, b *runtime.Batch, list []tensor) (sum float32, err error) {
	var last *runtime.Readback[float32]
	for _, x := range list {
		if last != nil {
			v, err := last.Scalar()
			if err != nil {
				return 0, err
			}
			sum += v
		}
		last = runtime.Read(b, ops.SumDeferred(b, x))
		if err := b.Sync(ctx); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

func manySyncs(ctx context.Context, b *runtime.Batch, x tensor) ([]float32, error) {
	r := runtime.Read(b, x)
	for range 3 {
		if err := b.Sync(ctx); err != nil {
			return nil, err
		}
	}
	return r.Value()
}

func syncsOfList(ctx context.Context, b *runtime.Batch, x tensor, list []string) ([]float32, error) {
	r := runtime.Read(b, x)
	for range list {
		if err := b.Sync(ctx); err != nil {
			return nil, err
		}
	}
	return r.Value()
}

func countedSyncs(ctx context.Context, b *runtime.Batch, x tensor, n int) ([]float32, error) {
	r := runtime.Read(b, x)
	for i := 0; i < n; i++ {
		if err := b.Sync(ctx); err != nil {
			return nil, err
		}
	}
	return r.Value()
}

func oneOfTwo(d *runtime.Device, x tensor, second bool) ([]float32, error) {
	a, b := d.Batch("a"), d.Batch("b")
	r := runtime.Read(a, x)
	if second {
		r = runtime.Read(b, x)
		b.Submit()
	} else {
		a.Submit()
	}
	return r.Value()
}

func deferredValue(ctx context.Context, b *runtime.Batch, x tensor) (err error) {
	r := runtime.Read(b, x)
	defer func() {
		v, e := r.Value()
		fmt.Println(v)
		err = errors.Join(err, e)
	}()
	return b.Sync(ctx)
}

func onlyTheError(b *runtime.Batch, x tensor) bool {
	r := runtime.Read(b, x)
	_, err := r.Value()
	b.Discard()
	return errors.Is(err, runtime.ErrNotSynced)
}

func methodValue(ctx context.Context, d *runtime.Device, x tensor) ([]float32, error) {
	b := d.Batch("method value")
	run := b.Sync
	r := runtime.Read(b, x)
	if err := run(ctx); err != nil {
		return nil, err
	}
	return r.Value()
}

func sent(b *runtime.Batch, x tensor, work chan *runtime.Batch) ([]float32, error) {
	r := runtime.Read(b, x)
	work <- b
	return r.Value()
}

func received(b *runtime.Batch, x tensor, done chan bool) ([]float32, error) {
	r := runtime.Read(b, x)
	<-done
	return r.Value()
}

func selected(ctx context.Context, b *runtime.Batch, x tensor, done chan bool) ([]float32, error) {
	r := runtime.Read(b, x)
	select {
	case <-done:
		return r.Value()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func newGoroutine(ctx context.Context, b *runtime.Batch, x tensor) ([]float32, error) {
	var wg sync.WaitGroup
	r := runtime.Read(b, x)
	wg.Go(func() { b.Sync(ctx) })
	wg.Wait()
	return r.Value()
}

func later(b *runtime.Batch, x tensor) func() ([]float32, error) {
	r := runtime.Read(b, x)
	return func() ([]float32, error) { return r.Value() }
}
