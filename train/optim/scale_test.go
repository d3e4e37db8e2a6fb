package optim_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

// methods are those that a skipped step must leave alone.
var methods = map[string]optim.Method{"adamw": optim.DefaultAdamW(), "sgd": optim.SGD{Momentum: 0.9, Nesterov: true}}

// A gradient that is not finite, in one element of one parameter, changes no weight, no
// moment and no step count, to the bit; with loss scaling it halves the scale.
func TestOverflowChangesNothing(t *testing.T) {
	for name, m := range methods {
		t.Run(name+"/f32", func(t *testing.T) { overflow[float32](t, m) })
		t.Run(name+"/f16", func(t *testing.T) { overflow[runtime.Float16](t, m) })
		t.Run(name+"/bf16", func(t *testing.T) { overflow[runtime.BFloat16](t, m) })
	}
}

func overflow[T nn.Float](t *testing.T, m optim.Method) {
	d := open(t)
	groups := []optim.Group{{Names: []string{"*"}, Rate: 1, WeightDecay: 0.1}} // which would change weights
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, scaling := range []*optim.Scaling{nil, {Initial: 1024, Interval: 100}} {
			params := linear[T](t, d, 1, 40, 3).Params()
			o := newOptimizer(t, params, optim.Config{Method: m, Groups: groups, MaxNorm: 1, Scaling: scaling})
			grads := map[string][]float32{"weight": repeat(0.5, 120), "bias": repeat(-1, 3)}
			for range 2 {
				step[T](t, o, params, grads, 0.125)
			}
			before := snapshot(t, o, params)
			grads["weight"][77] = float32(bad)
			r := step[T](t, o, params, grads, 0.125)
			if got := must[int32](t)(r.Skipped.Scalar()); got != 1 {
				t.Errorf("%v: skipped is %d, want 1", bad, got)
			}
			after := snapshot(t, o, params)
			want := 0
			if scaling != nil {
				want = 2
				if got := scalar[float32](t, o, "scale"); got != 512 {
					t.Errorf("%v: the scale is %v, want 512", bad, got)
				}
				if got := scalar[float32](t, o, "good_steps"); got != 0 {
					t.Errorf("%v: %v good steps, want 0", bad, got)
				}
			}
			if names := differences(before, after); len(names) != want {
				t.Errorf("%v: the skipped step has changed %v", bad, names)
			}
			if err := r.Err(); (scaling == nil) != errors.Is(err, optim.ErrNotFinite) {
				t.Errorf("%v: the error is %v", bad, err)
			}
			grads["weight"][77] = 0.5
			step[T](t, o, params, grads, 0.125)
			if names := differences(after, snapshot(t, o, params)); len(names) < 5 {
				t.Errorf("%v: the next step has changed %v alone", bad, names)
			}
		}
	}
}

// An overflow in one micro-batch skips the step of all of them.
func TestOverflowInMicroBatch(t *testing.T) {
	d := open(t)
	params := linear[runtime.Float16](t, d, 1, 2, 2).Params()
	o := newOptimizer(t, params, optim.Config{Method: optim.DefaultAdamW(), Scaling: &optim.Scaling{Initial: 1 << 15, Interval: 9}})
	b := d.Batch("micro-batch")
	good := map[string][]float32{"weight": repeat(0.5, 4), "bias": repeat(0.5, 2)}
	bad := map[string][]float32{"weight": repeat(0.5, 4), "bias": {0.5, 4}} // 4·2¹⁵ is no float16
	before := snapshot(t, o, params)
	for _, grads := range []map[string][]float32{good, bad} {
		if err := o.Accumulate(b, pull[runtime.Float16](t, b, params, grads)); err != nil {
			t.Fatal(err)
		}
		b.Submit()
	}
	r := must[*optim.Report](t)(o.Step(b, pull[runtime.Float16](t, b, params, good), 0.125))
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if names := differences(before, snapshot(t, o, params)); len(names) != 1 || names[0] != "optim.scale" {
		t.Errorf("the step has changed %v, want the scale alone", names)
	}
}

// The scale is halved at each overflow, doubled after each run of good steps, and stays
// within its limits. Where real float16 overflows is what decides.
func TestScaleFollowsOverflow(t *testing.T) {
	d := open(t)
	params := linear[runtime.Float16](t, d, 1, 2, 1).Params()
	grads := map[string][]float32{"weight": {1, 1}, "bias": {16}} // 16·2¹² overflows: 65536 > 65504
	o := newOptimizer(t, params, optim.Config{Method: optim.SGD{}, Scaling: &optim.Scaling{Initial: 1 << 14, Interval: 3}})
	steps := int32(0)
	for i, want := range []float32{1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 11, 1 << 11, 1 << 12, 1 << 11, 1 << 11} {
		r := step[runtime.Float16](t, o, params, grads, 0.125)
		if got := must[float32](t)(r.Scale.Scalar()); got != want {
			t.Errorf("step %d has scale %v, want %v", i, got, want)
		}
		skipped := must[int32](t)(r.Skipped.Scalar())
		if (skipped != 0) != (want > 1<<11) {
			t.Errorf("step %d with scale %v: skipped is %d", i, want, skipped)
		}
		steps += 1 - skipped
	}
	if got := scalar[int32](t, o, "step"); got != steps || steps != 5 {
		t.Errorf("%d steps are counted, %d were taken, want 5", got, steps)
	}
	grads["bias"][0] = float32(math.NaN())
	for {
		r := step[runtime.Float16](t, o, params, grads, 0.125)
		if must[float32](t)(r.Scale.Scalar()) > optim.MinScale {
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		wantError(t, r.Err(), "the norm of the gradients is NaN", "has changed nothing", "lower rate")
		break
	}
	if got := scalar[float32](t, o, "scale"); got != optim.MinScale {
		t.Errorf("the scale is %v, want %v", got, optim.MinScale)
	}
	grads["bias"][0] = 1
	o = newOptimizer(t, params, optim.Config{Method: optim.SGD{}, Scaling: &optim.Scaling{Initial: optim.MaxScale / 2, Interval: 1}})
	for range 3 {
		r := step[runtime.Float16](t, o, params, map[string][]float32{"weight": {0, 0}, "bias": {0}}, 0.125)
		if err := r.Err(); err != nil {
			t.Error(err)
		}
	}
	if got := scalar[float32](t, o, "scale"); got != optim.MaxScale {
		t.Errorf("the scale is %v, want %v", got, optim.MaxScale)
	}
}

// Loss scaling keeps gradients that float16 would round to zero.
func TestScalingKeepsSmallGradients(t *testing.T) {
	d := open(t)
	const g = 1.0 / (1 << 26) // below the smallest number of float16
	for _, scaling := range []*optim.Scaling{nil, {Initial: 1 << 16, Interval: 100}} {
		params := linear[runtime.Float16](t, d, 1, 1, 1).Params()
		o := newOptimizer(t, params, optim.Config{Method: optim.SGD{}, Scaling: scaling})
		b := d.Batch("step")
		loss := ops.ScaleDeferred(b, pull[runtime.Float16](t, b, params, map[string][]float32{"weight": {1}, "bias": {1}}), g)
		r := must[*optim.Report](t)(o.Step(b, loss, 1))
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if scaling != nil {
			want = math.Sqrt2 * g
		}
		if norm := must[float32](t)(r.Norm.Scalar()); math.Abs(float64(norm)-want) > 1e-6*want {
			t.Errorf("the norm is %v, want %v", norm, want)
		}
	}
}
