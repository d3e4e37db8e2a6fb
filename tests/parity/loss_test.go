package parity_test

import (
	"errors"
	"math"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// C012: a batch in which every target is ignored, and the next one.
func TestC012EveryTargetIgnored(t *testing.T) {
	devices := everywhere(t)
	logits := golden.Tensor{Shape: []int{5, 10}}
	for i := range 50 {
		logits.Data = append(logits.Data, float64(i*7%11)/4-1)
	}
	ins := tensors{"logits": logits, "target": constant(-100, 5)}
	none := tensors{"logits": constant(0, 5, 10)}
	for _, k := range []known{
		{Case: golden.Case{Ins: ins, Outs: tensors{"loss": number(0), "count": number(0)},
			Cotangents: tensors{"loss": number(1)}, Grads: none}, spec: "cross_entropy_mean"},
		{Case: golden.Case{Ins: ins, Outs: tensors{"loss": constant(0, 5)}, Grads: none}, spec: "cross_entropy"},
		{Case: golden.Case{Ins: ins, Outs: tensors{"accuracy": number(0), "count": number(0)}}, spec: "accuracy"},
		{Case: golden.Case{Ins: ins, Outs: tensors{"perplexity": number(1), "count": number(0)}}, spec: "perplexity"},
		{Case: golden.Case{Name: "sgd with a gradient of zeros", Params: map[string]any{"lr": 0.1}, Ins: tensors{"g": constant(0, 3),
			"inv_scale": number(1), "clip": number(1), "skip": number(0), "w": vector(1, -2, 3), "v": constant(0, 3)},
			Outs: tensors{"w": vector(1, -2, 3)}}, spec: "sgd", choice: "shadow=without"},
		{Case: golden.Case{Name: "the next batch", Ins: tensors{"logits": constant(0.5, 2, 4), "target": vector(-100, 3)},
			Outs: tensors{"count": number(1)}}, spec: "cross_entropy_mean"},
	} {
		k.exact = true
		k.verify(t, devices)
	}
	known{Case: golden.Case{Ins: tensors{"logits": constant(0.5, 2, 4), "target": vector(-100, 3)},
		Outs: tensors{"loss": number(math.Log(4)), "count": number(1)}}, spec: "cross_entropy_mean"}.verify(t, devices)
}

// C013: targets outside the classes.
func TestC013Targets(t *testing.T) {
	devices := everywhere(t)
	ln3 := 1.09861229
	ignoring := func(v float64) map[string]any { return map[string]any{"ignore_index": v} }
	zeros := tensors{"logits": constant(0, 6, 3), "target": vector(0, 1, 255, 0, 1, 2)}
	for _, k := range []known{
		{Case: golden.Case{Params: ignoring(255), Ins: zeros, Outs: tensors{"loss": vector(ln3, ln3, 0, ln3, ln3, ln3)}}, spec: "cross_entropy"},
		{Case: golden.Case{Params: ignoring(255), Ins: zeros, Outs: tensors{"loss": number(ln3), "count": number(5)}}, spec: "cross_entropy_mean"},
		{Case: golden.Case{Params: ignoring(0), Ins: tensors{"logits": vector(0, 1, 1), "target": number(1)},
			Outs: tensors{"loss": number(0.86199480)}}, spec: "cross_entropy"},
		{Case: golden.Case{Ins: tensors{"logits": matrix(row(1000, 0), row(1000, 0)), "target": vector(0, 1)}, Outs: tensors{"loss": vector(0, 1000)},
			Grads: tensors{"logits": matrix(row(0, 0), row(1, -1))}}, spec: "cross_entropy"},
	} {
		k.verify(t, devices)
	}
	for _, d := range devices {
		for _, spec := range []string{"cross_entropy", "cross_entropy_mean", "accuracy", "perplexity"} {
			for _, bad := range []struct{ ignore, target float64 }{{-1, -4}, {-100, 3}, {-100, math.MaxInt32}, {-100, math.MinInt32}} {
				c := golden.Case{Params: ignoring(bad.ignore), Ins: tensors{"logits": constant(0, 4, 3), "target": vector(0, 1, bad.target, 2)}}
				_, err := run1(t, d, spec, "", runtime.F32, c)
				checkFault(t, d, spec, err, runtime.FaultError{Op: spec, Tensor: "target", Index: []int64{2}, Value: int64(bad.target), Bound: 3})
			}
		}
	}
}

// checkFault wants a fault with everything that it says.
func checkFault(t *testing.T, d device, what string, err error, want runtime.FaultError) {
	t.Helper()
	var got *runtime.FaultError
	if !errors.As(err, &got) {
		t.Errorf("%s on %s: error %v, want a fault", what, d.name, err)
		return
	}
	if got.Error() != want.Error() || got.Op != want.Op {
		t.Errorf("%s on %s: fault of %s: %v, want one of %s: %v", what, d.name, got.Op, got, want.Op, &want)
	}
	if msg := mentions(err, nil, want.Op+": ", want.Error()); msg != "" {
		t.Errorf("%s on %s: %s", what, d.name, msg)
	}
}

// C014: what the mask leaves out never enters the mean.
func TestC014MaskedMean(t *testing.T) {
	devices := everywhere(t)
	mean := func(x, mask []float64, y float64, dx []float64) golden.Case {
		c := golden.Case{
			Ins:  tensors{"x": {Shape: []int{1, len(x), 1}, Data: x}, "mask": {Shape: []int{1, len(x)}, Data: mask}},
			Outs: tensors{"y": constant(y, 1, 1)},
		}
		if dx != nil {
			c.Grads = tensors{"x": {Shape: []int{1, len(x), 1}, Data: dx}}
		}
		return c
	}
	for _, k := range []known{
		{Case: mean(row(1, 2, 3), row(0, 0, 0), 0, row(0, 0, 0))},
		{Case: mean(row(1, nan, 3), row(1, 0, 1), 2, row(0.5, 0, 0.5))},
		{Case: mean(row(1, inf, 3), row(1, 0, 255), 2, row(0.5, 0, 0.5))},
		{Case: mean(row(60000, 60000, 60000, 60000), row(1, 1, 1, 1), 60000, nil), types: only(runtime.F16)},
	} {
		k.spec, k.exact = "masked_mean", true
		k.verify(t, devices)
	}
	known{Case: golden.Case{Ins: tensors{"y": {Shape: []int{1, 3, 1}, Data: row(1, nan, inf)}, "mask": {Shape: []int{1, 3}, Data: row(1, 0, 0)}},
		Outs: tensors{"z": {Shape: []int{1, 3, 1}, Data: row(1, 0, 0)}}}, spec: "mask_zero", exact: true}.verify(t, devices)
}

// C015: the compiler's flags leave the checks for NaN and infinities in; see
// also TestByHand for count_nonfinite and clip_factor.
func TestC015NonfiniteChecksSurvive(t *testing.T) {
	devices := everywhere(t)
	x := constant(1, 1025)
	x.Data[0], x.Data[700], x.Data[1024] = nan, inf, -inf
	known{Case: golden.Case{Ins: tensors{"x": x}, Outs: tensors{"y": number(3)}}, spec: "count_nonfinite", exact: true}.verify(t, devices)
	known{Case: golden.Case{Ins: tensors{"norm_sq": number(nan), "inv_scale": number(1)}, Params: map[string]any{"max_norm": 0.0},
		Outs: tensors{"skip": number(1)}}, spec: "clip_factor", types: only(runtime.F32), exact: true}.verify(t, devices)
}

// C017: bias correction, and eps outside of it.
func TestC017Adam(t *testing.T) {
	devices := everywhere(t)
	for _, spec := range []string{"adam", "adamw"} {
		for _, d := range devices {
			for _, dt := range only(runtime.F32, runtime.F16, runtime.BF16) {
				checkAdam(t, d, spec, dt)
			}
		}
	}
}

func checkAdam(t *testing.T, d device, spec string, dt runtime.DType) {
	t.Helper()
	// step returns w, m and v after one step.
	step := func(n, g float64, state [3]float64) [3]float64 {
		outs, err := run1(t, d, spec, "shadow=without", dt, golden.Case{
			Params: map[string]any{"lr": 0.1, "weight_decay": 0.0},
			Ins: tensors{"g": vector(g), "inv_scale": number(1), "clip": number(1), "skip": number(0), "step": number(n),
				"w": vector(state[0]), "m": vector(state[1]), "v": vector(state[2])},
		})
		if err != nil {
			t.Fatal(err)
		}
		return [3]float64{outs[0].data[0], outs[1].data[0], outs[2].data[0]}
	}
	want := func(what string, got [3]float64, w float64) {
		if !near(got[0], w, tolerance(runtime.F32, w)) || math.IsNaN(got[1]) || math.IsNaN(got[2]) {
			t.Errorf("%s %s %s on %s: %s: w is %v, want %v (m %v, v %v)", "C017", spec, dt, d.name, what, got[0], w, got[1], got[2])
		}
	}
	want("one step", step(1, 1, [3]float64{}), -0.099999999)
	if dt != runtime.F16 { // 1e-8 is half of the smallest f16
		want("a small gradient", step(1, 1e-8, [3]float64{}), map[runtime.DType]float64{runtime.F32: -0.05, runtime.BF16: smallBF16()}[dt])
	}
	var state [3]float64
	for i, s := range []struct{ g, w float64 }{{1, -0.09999999900}, {-2, -0.06338964653}, {0.5, -0.04972058033}} {
		state = step(float64(i+1), s.g, state) // read back and uploaded again: saved and loaded
		want("a later step", state, s.w)
	}
	// Long after the start the corrections are 1: w falls by lr*m/sqrt(v).
	m, v := 0.9*0.5+0.1*1, 0.999*0.25+0.001
	want("step 100000", step(100000, 1, [3]float64{0, 0.5, 0.25}), -0.1*m/(math.Sqrt(v)+1e-8))
}

// smallBF16 is the step for the bf16 nearest to 1e-8.
func smallBF16() float64 {
	g := float64(runtime.ToBFloat16(1e-8).Float32())
	return -0.1 * g / (g + 1e-8)
}
