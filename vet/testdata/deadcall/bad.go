// Package deadcall records calls.
package deadcall

import (
	"example.com/vet/helper"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

type tensor = runtime.Tensor[float32]

func statement(b *runtime.Batch, x tensor) tensor {
	ops.GELUDeferred(b, x) // want `the result of GELUDeferred is not used: use it, or assign it to _ if the call is meant as it stands`
	return ops.SiLUDeferred(b, x)
}

func overwritten(b *runtime.Batch, x tensor) tensor {
	h := ops.GELUDeferred(b, x) // want `the result of GELUDeferred is not used`
	h = ops.SiLUDeferred(b, x)
	return h
}

func severalResults(b *runtime.Batch, x, g, beta tensor) tensor {
	y, _, _ := ops.LayerNormDeferred(b, x, g, beta, ops.LayerNormEps) // want `the result of LayerNormDeferred is not used`
	y = x
	return y
}

func byHelper(b *runtime.Batch, x tensor) tensor {
	helper.Layer(b, x) // want `the result of Layer is not used`
	return x
}

func chain(b *runtime.Batch, x tensor) {
	h := ops.GELUDeferred(b, x)
	h = ops.ScaleDeferred(b, h, 2)
	ops.SumDeferred(b, h) // want `the result of SumDeferred is not used`
}

func loop(b *runtime.Batch, x tensor) {
	h := x
	for range 3 {
		h = ops.GELUDeferred(b, h) // want `the result of GELUDeferred is not used`
	}
}

func closure(b *runtime.Batch, x tensor) func() {
	return func() {
		ops.GELUDeferred(b, x) // want `the result of GELUDeferred is not used`
	}
}

func earlyReturn(b *runtime.Batch, x tensor, skip bool) tensor {
	h := ops.GELUDeferred(b, x)
	if skip {
		h = ops.SiLUDeferred(b, x) // want `the result of SiLUDeferred is not used`
		return x
	}
	return h
}

func inDefer(b *runtime.Batch, x tensor) {
	defer func() {
		ops.GELUDeferred(b, x) // want `the result of GELUDeferred is not used`
		b.Submit()
	}()
}

func gradient(b *runtime.Batch, loss, w tensor) {
	b.Grad(loss, w)            // want `the result of Grad is not used`
	runtime.GradOf(b, loss, w) // want `the result of GradOf is not used`
}
