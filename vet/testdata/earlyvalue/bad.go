// Package earlyvalue takes read-backs.
package earlyvalue

import (
	"context"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type tensor = runtime.Tensor[float32]

func straight(ctx context.Context, b *runtime.Batch, x tensor) ([]float32, error) {
	r := runtime.Read(b, ops.GELUDeferred(b, x))
	v, err := r.Value() // want `the read-back is taken before its batch is synced: call Sync or Submit first`
	if err != nil {
		return nil, err
	}
	return v, b.Sync(ctx)
}

func scalar(b *runtime.Batch, x tensor) (float32, error) {
	return runtime.Read(b, ops.SumDeferred(b, x)).Scalar() // want `taken before its batch is synced`
}

func branch(ctx context.Context, b *runtime.Batch, x tensor, last bool) ([]float32, error) {
	r := runtime.Read(b, x)
	if last {
		if err := b.Sync(ctx); err != nil {
			return nil, err
		}
	}
	return r.Value() // want `taken before its batch is synced`
}

func earlyReturn(ctx context.Context, b *runtime.Batch, x tensor, verbose bool) []float32 {
	r := runtime.Read(b, x)
	if verbose {
		v, _ := r.Value() // want `taken before its batch is synced`
		return v
	}
	if b.Sync(ctx) != nil {
		return nil
	}
	v, _ := r.Value()
	return v
}

func loop(ctx context.Context, b *runtime.Batch, list []tensor) (sum float32, err error) {
	for _, x := range list {
		r := runtime.Read(b, ops.SumDeferred(b, x))
		v, err := r.Scalar() // want `taken before its batch is synced`
		if err != nil {
			return 0, err
		}
		sum += v
		if err := b.Sync(ctx); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

func byHelper(b *runtime.Batch, x tensor) []float32 {
	r := helper.ReadOf(b, helper.Layer(b, x))
	return helper.Values(r) // want `taken before its batch is synced`
}

func deferredSync(ctx context.Context, b *runtime.Batch, x tensor) ([]float32, error) {
	defer b.Sync(ctx)
	r := runtime.Read(b, x)
	return r.Value() // want `taken before its batch is synced`
}

func oneOfThem(d *runtime.Device, x tensor, second bool) ([]float32, error) {
	a, b := d.Batch("a"), d.Batch("b")
	r := runtime.Read(a, x)
	if second {
		r = runtime.Read(b, x)
		a.Submit()
	} else {
		a.Submit()
	}
	return r.Value() // want `taken before its batch is synced`
}

func closure(ctx context.Context, b *runtime.Batch, x tensor) (v []float32, err error) {
	r := runtime.Read(b, x)
	func() {
		v, err = r.Value() // want `taken before its batch is synced`
	}()
	return v, b.Sync(ctx)
}

func insideClosure(d *runtime.Device, x tensor) func() ([]float32, error) {
	return func() ([]float32, error) {
		b := d.Batch("inside")
		defer b.Discard()
		r := runtime.Read(b, x)
		return r.Value() // want `taken before its batch is synced`
	}
}

func otherBatch(ctx context.Context, d *runtime.Device, x tensor) ([]float32, error) {
	a, b := d.Batch("a"), d.Batch("b")
	r := runtime.Read(a, x)
	s := runtime.Read(b, x)
	if err := b.Sync(ctx); err != nil {
		return nil, err
	}
	if _, err := s.Value(); err != nil {
		return nil, err
	}
	v, err := r.Value() // want `taken before its batch is synced`
	a.Discard()
	return v, err
}
