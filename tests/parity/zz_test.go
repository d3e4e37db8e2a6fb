package parity_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

func TestZZ(t *testing.T) {
	for _, dd := range both(t) {
		d := dd.Device
		x := from[f16](t, dd, constant(1, 2, 3))
		w := from[f16](t, dd, constant(1, 3, 4))
		b := d.Batch("x")
		y := ops.MatMulNNDeferred(b, x, w)
		l := ops.CastDeferred[f32](b, y)
		loss, _ := ops.CrossEntropyDeferred(b, l, ints(t, dd, 0, 1), -100, 0)
		g := b.Grad(loss, w)[0]
		b.Keep(g)
		t.Log(b.Sync(context.Background()), g.DType())
		// direct
		z := ops.CastDeferred[f32](b, x)
		g = b.Grad(ops.SumDeferred(b, z), x)[0]
		b.Keep(g)
		t.Log(b.Sync(context.Background()), g.DType(), g.Shape())
		h, err := runtime.As[f16](g).Read()
		t.Log(h, err)
		// x used through a cast and directly
		z = ops.CastDeferred[f32](b, x)
		s := ops.AddDeferred(b, ops.SumDeferred(b, z), ops.SumDeferred(b, x))
		g = b.Grad(s, x)[0]
		b.Keep(g)
		t.Log(b.Sync(context.Background()), g.DType(), g.Shape())
	}
}
