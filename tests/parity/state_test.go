package parity_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// adamState is a weight with the state of its optimiser, and the number of steps.
type adamState struct {
	w, m, v runtime.Tensor[f32]
	step    runtime.Tensor[int32]
}

type adamForm func(b *runtime.Batch, g, invScale, clip runtime.Tensor[f32], skip, step runtime.Tensor[int32], w, m, v runtime.Tensor[f32],
	lr, beta1, beta2, eps, weightDecay float32) (newW, newM, newV runtime.Tensor[f32])

// take takes a step with a gradient.
func (s *adamState) take(t *testing.T, d device, form adamForm, gradient float64) {
	t.Helper()
	one, no := of(t, d), must(runtime.Zeros[int32](d.Device))(t)
	b := d.Batch("step")
	s.step = ops.StepCountDeferred(b, no, s.step)
	s.w, s.m, s.v = form(b, from[f32](t, d, vector(gradient)), one, one, no, s.step, s.w, s.m, s.v, 0.1, 0.9, 0.999, 1e-8, 0)
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// reopened is the state, by way of the host, on a device that is opened for it.
func (s *adamState) reopened(t *testing.T, d device) (device, *adamState) {
	t.Helper()
	var opts []runtime.Option
	if d.Device.Reference() {
		opts = append(opts, runtime.Reference())
	}
	other := device{d.name + ", opened again", open(t, opts...)}
	move := func(x runtime.Tensor[f32]) runtime.Tensor[f32] {
		return must(runtime.FromSlice(other.Device, must(x.Read())(t), x.Shape()...))(t)
	}
	return other, &adamState{move(s.w), move(s.m), move(s.v), must(runtime.FromSlice(other.Device, must(s.step.Read())(t)))(t)}
}

// C017 (c), (d): three steps, and the third from a state that was saved after two.
func TestC017StateIsSaved(t *testing.T) {
	for name, form := range map[string]adamForm{"adam": ops.AdamDeferred[f32], "adamw": ops.AdamWDeferred[f32]} {
		for _, d := range both(t) {
			zero := func() runtime.Tensor[f32] { return must(runtime.Zeros[f32](d.Device, 1))(t) }
			s := &adamState{zero(), zero(), zero(), must(runtime.Zeros[int32](d.Device))(t)}
			wants := row(-0.09999999900, -0.06338964653, -0.04972058033)
			var other device
			var saved *adamState
			for i, g := range row(1, -2, 0.5) {
				if i == 2 {
					other, saved = s.reopened(t, d)
					saved.take(t, other, form, g)
				}
				s.take(t, d, form, g)
				if msg := within(download(t, s.w.Untyped()), array{runtime.F32, []int{1}, row(wants[i])}, 1e-6); msg != "" {
					t.Errorf("%s, step %d on %s: %s", name, i+1, d.name, msg)
				}
			}
			if msg := identical(download(t, saved.w.Untyped()), download(t, s.w.Untyped())); msg != "" {
				t.Errorf("%s, the third step on %s: %s", name, other.name, msg)
			}
			if n := must(saved.step.Read())(t)[0]; n != 3 {
				t.Errorf("%s: the number of the third step on %s is %d", name, other.name, n)
			}
		}
	}
}
