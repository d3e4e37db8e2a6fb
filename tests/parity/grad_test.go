package parity_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// TestGradientOfAProgram: values used twice, broadcast, and looked at through
// sub-views add up, in every type.
func TestGradientOfAProgram(t *testing.T) {
	for _, d := range both(t) {
		gradientOfAProgram[f32](t, d)
		gradientOfAProgram[f16](t, d)
		gradientOfAProgram[bf16](t, d)
	}
}

func gradientOfAProgram[T f32 | f16 | bf16](t *testing.T, d device) {
	made := func(v golden.Tensor) runtime.Tensor[T] {
		return runtime.As[T](array{dtype: runtime.TypeOf[T](), shape: v.Shape, data: v.Data}.upload(t, d.Device))
	}
	// The loss is the sum of x² + x + b, and twice that of the first row of x.
	x, bias := made(matrix(row(1, 2, 3), row(4, 5, 6))), made(vector(1, 1, 1))
	b := d.Batch("program")
	first := must(x.View(0, 3))(t)
	y := ops.AddDeferred(b, ops.AddDeferred(b, ops.MulDeferred(b, x, x), x), bias)
	loss := ops.AddDeferred(b, ops.SumDeferred(b, y), ops.SumDeferred(b, ops.ScaleDeferred(b, first, 2)))
	grads := b.Grad(loss, x, bias)
	value := runtime.Read(b, loss)
	b.Keep(grads[0], grads[1])
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	expect(t, d, "dx", grads[0], matrix(row(5, 7, 9), row(9, 11, 13)))
	expect(t, d, "dbias", grads[1], vector(2, 2, 2))
	if v, err := value.Scalar(); err != nil || v != 91+21+6+12 {
		t.Errorf("the loss on %s is %v (%v), want 130", d.name, v, err)
	}
}

// TestMixedPrecision: parameters in f32, a product in a narrow type, the loss
// in f32. The gradient of a cast has the type of what was cast.
func TestMixedPrecision(t *testing.T) {
	for _, d := range both(t) {
		mixedPrecision[f16](t, d)
		mixedPrecision[bf16](t, d)
	}
}

func mixedPrecision[T f16 | bf16](t *testing.T, d device) {
	w, x := from[f32](t, d, constant(0, 3, 4)), from[f32](t, d, constant(1, 2, 3))
	b := d.Batch("mixed")
	narrow := ops.CastDeferred[T](b, w)
	logits := ops.CastDeferred[f32](b, ops.MatMulNNDeferred(b, ops.CastDeferred[T](b, x), narrow))
	loss, _ := ops.CrossEntropyDeferred(b, logits, ints(t, d, 0, 1), -100, 0)
	grads := b.Grad(loss, w, narrow)
	if got := grads[1].DType(); got != runtime.TypeOf[T]() {
		t.Errorf("on %s: the gradient of a %s tensor is %s", d.name, runtime.TypeOf[T](), got)
	}
	b.Keep(grads[0], grads[1])
	if err := b.Sync(context.Background()); err != nil {
		t.Errorf("%s on %s: %v", runtime.TypeOf[T](), d.name, err)
		return
	}
	want := row(-0.5, -0.5, 0.5, 0.5) // a quarter of each of two rows, less one at the target
	expect(t, d, "dw", grads[0], matrix(want, want, want))
	expect(t, d, "dw before the cast", grads[1], matrix(want, want, want))
}
