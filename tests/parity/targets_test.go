package parity_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// C012: a step of training on a batch in which every target is ignored leaves
// the weights as they are, and the next batch moves them.
func TestC012EveryTargetIgnoredTrains(t *testing.T) {
	for _, d := range everywhere(t) {
		one, no := from[f32](t, d, number(1)), must(runtime.FromSlice(d.Device, []int32{0}))(t)
		x, w := from[f32](t, d, matrix(row(1, 2), row(3, 4))), from[f32](t, d, constant(0, 2, 4))
		v := from[f32](t, d, constant(0, 2, 4))
		step := func(want float64, count int32, targets ...int32) {
			t.Helper()
			b := d.Batch("step")
			loss, counted := ops.CrossEntropyMeanDeferred(b, ops.MatMulNNDeferred(b, x, w), ints(t, d, targets...), -100, 0)
			g := runtime.As[f32](b.Grad(loss, w)[0])
			w, v = ops.SGDDeferred(b, g, one, one, no, w, v, 1, 0, 0, false)
			value, n := runtime.Read(b, loss), runtime.Read(b, counted)
			b.Keep(w, v)
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			got, err := value.Scalar()
			if !near(float64(got), want, 1e-5) || err != nil {
				t.Errorf("the loss on %s is %v (%v), want %v", d.name, got, err, want)
			}
			if c, err := n.Scalar(); c != count || err != nil {
				t.Errorf("the count on %s is %d (%v), want %d", d.name, c, err, count)
			}
		}
		step(0, 0, -100, -100)
		expect(t, d, "weights after a batch of ignored targets", w, constant(0, 2, 4))
		step(math.Log(4), 1, -100, 2)
		expect(t, d, "weights after a batch with one target", w, matrix(row(-0.75, -0.75, 2.25, -0.75), row(-1, -1, 3, -1)))
	}
}

// C013: a target outside the classes that is not the ignored one is an error
// that names row and value: from the call, and from Sync.
func TestC013TargetsOutsideTheClasses(t *testing.T) {
	for _, d := range everywhere(t) {
		for _, spec := range []string{"cross_entropy", "cross_entropy_mean", "accuracy", "perplexity"} {
			for _, bad := range []struct{ ignore, target float64 }{{-1, -4}, {-100, 3}, {-100, math.MaxInt32}, {-100, math.MinInt32}} {
				for _, dt := range []runtime.DType{runtime.F32, runtime.F16, runtime.BF16} {
					c := golden.Case{Params: map[string]any{"ignore_index": bad.ignore},
						Ins: tensors{"logits": constant(0, 4, 3), "target": vector(0, 1, bad.target, 2)}}
					want := runtime.FaultError{Op: spec, Tensor: "target", Index: []int64{2}, Value: int64(bad.target), Bound: 3}
					g := newGoldenCase(t, programOf(t, spec, "", dt), c)
					_, _, err := g.call.run(t, d.Device, nil, nil)
					checkFault(t, d, spec, err, want)
					_, err = g.call.immediate(t, d.Device)
					checkFault(t, d, spec+", immediate", err, want)
				}
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
