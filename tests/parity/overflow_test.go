package parity_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// scaledTrainer fits weights in f16 with a loss scale; nothing of a step is read
// back.
type scaledTrainer struct {
	shadow              runtime.Tensor[f16] // the weights that the model computes with
	w, m, v             runtime.Tensor[f32]
	step, skip          runtime.Tensor[int32]
	scale, inverseScale runtime.Tensor[f32]
}

func newScaledTrainer(t *testing.T, d device) *scaledTrainer {
	w := vector(spaced(-2, 2, 0.125)...)
	zeros := constant(0, w.Len())
	return &scaledTrainer{
		shadow: from[f16](t, d, w), w: from[f32](t, d, w), m: from[f32](t, d, zeros), v: from[f32](t, d, zeros),
		step: must(runtime.Zeros[int32](d.Device))(t), scale: from[f32](t, d, number(1024)), inverseScale: from[f32](t, d, number(1.0/1024)),
	}
}

// train records and runs a step on the loss mean((w*x)²).
func (tr *scaledTrainer) train(t *testing.T, d device, x runtime.Tensor[f16]) {
	t.Helper()
	b := d.Batch("step")
	loss := ops.MeanDeferred(b, ops.SquareDeferred(b, ops.MulDeferred(b, tr.shadow, x)))
	scaled := ops.MulDeferred(b, loss, tr.scale)
	g := runtime.As[f16](b.Grad(scaled, tr.shadow)[0])
	var clip runtime.Tensor[f32]
	clip, tr.skip = ops.ClipFactorDeferred(b, ops.GlobalNormSqDeferred(b, g), tr.inverseScale, 1)
	tr.step = ops.StepCountDeferred(b, tr.skip, tr.step)
	tr.shadow, tr.w, tr.m, tr.v = ops.AdamWWithShadowDeferred(b, g, tr.inverseScale, clip, tr.skip, tr.step, tr.w, tr.m, tr.v,
		0.1, ops.AdamWBeta1, ops.AdamWBeta2, ops.AdamWEps, 0.01)
	b.Keep(tr.shadow, tr.skip)
	if err := b.Sync(context.Background()); err != nil {
		t.Fatalf("on %s: %v", d.name, err)
	}
}

// state returns what the steps have made.
func (tr *scaledTrainer) state(t *testing.T) []array {
	t.Helper()
	var list []array
	for _, x := range []runtime.Operand{tr.w, tr.m, tr.v, tr.shadow, tr.step} {
		list = append(list, download(t, x.Untyped()))
	}
	return list
}

// TestOverflowIsNoStep: a step whose gradients overflow f16 changes neither the
// weights nor their moments nor the count of the steps, and those after it go on
// as if it had not been.
func TestOverflowIsNoStep(t *testing.T) {
	for _, d := range both(t) {
		x, far := from[f16](t, d, constant(0.5, 33)), from[f16](t, d, constant(60000, 33))
		with, without := newScaledTrainer(t, d), newScaledTrainer(t, d)
		for n, batch := range []runtime.Tensor[f16]{far, x, x, far, far, x} {
			overflows := batch == far
			before := with.state(t)
			with.train(t, d, batch)
			skip := map[bool]float64{true: 1, false: 0}[overflows]
			expect(t, d, "the skip flag", with.skip, number(skip))
			if !overflows {
				without.train(t, d, batch)
			}
			for i, after := range with.state(t) {
				if overflows && identical(after, before[i]) != "" {
					t.Errorf("step %d on %s overflows and changes state %d from %v to %v", n, d.name, i, before[i].data, after.data)
				}
			}
		}
		expect(t, d, "the count of six steps, three of which overflow", with.step, number(3))
		want := without.state(t)
		for i, got := range with.state(t) {
			if msg := identical(got, want[i]); msg != "" {
				t.Errorf("on %s: state %d after steps that overflow: %s", d.name, i, msg)
			}
		}
		if got := download(t, with.w.Untyped()); got.data[0] <= -2 || got.data[0] > -1.5 {
			t.Errorf("after three steps on %s w[0] is %v, want it nearer to 0 than -2", d.name, got.data[0])
		}
	}
}
