package deadcall

import (
	"context"
	"errors"

	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

func used(b *runtime.Batch, x tensor) *runtime.Readback[float32] {
	return runtime.Read(b, ops.GELUDeferred(b, x))
}

func oneOfThree(b *runtime.Batch, x, g, beta tensor) tensor {
	y, _, _ := ops.LayerNormDeferred(b, x, g, beta, ops.LayerNormEps)
	return y
}

func inPlace(b *runtime.Batch, r helper.Rate, g, w, v tensor) {
	ops.SGDDeferred(b, g, r.One, r.One, r.Skip, w, v, 0.1, 0.9, 0, false)
}

func inPlaceByHelper(b *runtime.Batch, r helper.Rate, g, w, v tensor) {
	helper.Update(b, r, g, w, v)
}

func meant(ctx context.Context, b *runtime.Batch, x, short tensor) bool {
	_ = ops.AddDeferred(b, x, short)
	return errors.Is(b.Sync(ctx), runtime.ErrShape)
}

func meantByVariable(ctx context.Context, b *runtime.Batch, x, short tensor) bool {
	y := ops.AddDeferred(b, x, short)
	_ = y
	return errors.Is(b.Sync(ctx), runtime.ErrShape)
}

func usedInNextRound(b *runtime.Batch, x tensor) {
	h := x
	for range 3 {
		h = ops.GELUDeferred(b, h)
	}
	b.Keep(h)
}

func usedByClosure(b *runtime.Batch, x tensor) func() {
	h := ops.GELUDeferred(b, x)
	return func() { b.Keep(h) }
}

func usedInDefer(b *runtime.Batch, x tensor) {
	h := ops.GELUDeferred(b, x)
	defer b.Keep(h)
}

func usedOnOneWay(b *runtime.Batch, x tensor, skip bool) tensor {
	h := ops.GELUDeferred(b, x)
	if skip {
		return x
	}
	return h
}

// keeper does more than to record.
func keeper(b *runtime.Batch, x tensor) tensor {
	y := ops.GELUDeferred(b, x)
	b.Keep(y)
	return y
}

func callsKeeper(b *runtime.Batch, x tensor) { keeper(b, x) }

// stored gives its result in two ways.
func stored(b *runtime.Batch, x tensor, to *tensor) tensor {
	*to = ops.GELUDeferred(b, x)
	return *to
}

func callsStored(b *runtime.Batch, x tensor) (y tensor) {
	stored(b, x, &y)
	return y
}

func immediate(x tensor) error {
	_, err := ops.GELU(x)
	return err
}

func throughVariable(b *runtime.Batch, x tensor, call func(*runtime.Batch, tensor) tensor) {
	call(b, x)
}
