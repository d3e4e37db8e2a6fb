package parity_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// TestWrongElementType: a handle that was given another type.
func TestWrongElementType(t *testing.T) {
	for _, d := range both(t) {
		x := of(t, d, 3)
		refused{"f32 as f16", func(b *runtime.Batch) { ops.GELUDeferred(b, runtime.As[f16](x.Untyped())) },
			runtime.ErrType, []string{"gelu: ", "x holds f32, not f16"}}.check(t, d)
		refused{"i32 as u8", func(b *runtime.Batch) {
			ops.MaskedMeanDeferred(b, of(t, d, 1, 2, 3), runtime.As[uint8](ints(t, d, 1, 2).Untyped()))
		}, runtime.ErrType, []string{"masked_mean: ", "mask holds i32, not u8"}}.check(t, d)
		_, err := ops.GELU(runtime.As[bf16](x.Untyped()))
		if msg := mentions(err, runtime.ErrType, "gelu: x holds f32, not bf16"); msg != "" {
			t.Errorf("immediate on %s: %s", d.name, msg)
		}
	}
}

// TestTensorsOfTwoDevices in one call, and in a batch of the other device.
func TestTensorsOfTwoDevices(t *testing.T) {
	list := both(t)
	for i, d := range list {
		here, there := of(t, d, 3), of(t, list[1-i], 3)
		_, err := ops.Add(here, there)
		if msg := mentions(err, runtime.ErrDevice, "add: ", "b is on another device"); msg != "" {
			t.Errorf("immediate on %s: %s", d.name, msg)
		}
		refused{"other batch", func(b *runtime.Batch) { ops.AddDeferred(b, there, here) },
			runtime.ErrDevice, []string{"add: ", "a is on another device"}}.check(t, d)
	}
}

// TestTensorsThatAreGone: closed, never made, replaced, or not kept.
func TestTensorsThatAreGone(t *testing.T) {
	for _, d := range both(t) {
		closed := of(t, d, 3)
		closeHandle(t, closed.Untyped())
		var never runtime.Tensor[f32]
		w, v, g := of(t, d, 3), of(t, d, 3), of(t, d, 3)
		one, no := of(t, d), must(runtime.Zeros[int32](d.Device))(t)
		if _, _, err := ops.SGD(g, one, one, no, w, v, 1, 0, 0, false); err != nil {
			t.Fatal(err)
		}
		b := d.Batch("forgets")
		lost := ops.NegDeferred(b, g)
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			x    runtime.Tensor[f32]
			says string
		}{
			{"closed", closed, "x is stale"}, {"never made", never, "was never made"},
			{"replaced", w, "x is stale"}, {"not kept", lost, "x is stale"},
		} {
			refused{c.name, func(b *runtime.Batch) { ops.NegDeferred(b, c.x) }, runtime.ErrStale, []string{"neg: ", "x ", c.says}}.check(t, d)
			_, err := ops.Neg(c.x)
			if msg := mentions(err, runtime.ErrStale, c.says[2:]); msg != "" {
				t.Errorf("%s, immediate on %s: %s", c.name, d.name, msg)
			}
			if _, err := c.x.Read(); mentions(err, runtime.ErrStale) != "" {
				t.Errorf("%s, read on %s: %s", c.name, d.name, mentions(err, runtime.ErrStale))
			}
			if err := c.x.Close(); mentions(err, runtime.ErrStale) != "" {
				t.Errorf("%s, close on %s: %s", c.name, d.name, mentions(err, runtime.ErrStale))
			}
		}
		// Within the batch that replaced it the error names the operation.
		w = of(t, d, 3)
		v = of(t, d, 3)
		refused{"old version", func(b *runtime.Batch) {
			ops.SGDDeferred(b, g, one, one, no, w, v, 1, 0, 0, false)
			ops.NegDeferred(b, w)
		}, runtime.ErrStale, []string{"neg: ", "x was replaced by sgd"}}.check(t, d)
		expect(t, d, "w after the refused batch", w, vector(1, 1, 1))
	}
}

// TestClosedDevice: everything fails at once, nothing hangs.
func TestClosedDevice(t *testing.T) {
	for _, opts := range [][]runtime.Option{nil, {runtime.Reference()}} {
		closed := must(runtime.Open(opts...))(t)
		d := device{closed.Name(), closed}
		x := of(t, d, 3)
		recorded, fresh := d.Batch("recorded"), d.Batch("fresh")
		y := ops.NegDeferred(recorded, x)
		recorded.Keep(y)
		back := runtime.Read(recorded, y)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		calls := map[string]func() error{
			"second close": d.Close,
			"sync":         func() error { return recorded.Sync(context.Background()) },
			"value":        func() error { _, err := back.Value(); return err },
			"read":         func() error { _, err := x.Read(); return err },
			"immediate":    func() error { _, err := ops.Neg(x); return err },
			"fill":         func() error { _, err := ops.Fill[f32](closed, 1, 3); return err },
			"zeros":        func() error { _, err := runtime.Zeros[f32](closed, 3); return err },
			"deferred": func() error {
				ops.NegDeferred(fresh, x)
				return fresh.Sync(context.Background())
			},
			"close of a tensor": x.Close,
		}
		for _, name := range []string{"second close", "sync", "value", "read", "immediate", "fill", "zeros", "deferred", "close of a tensor"} {
			if msg := mentions(calls[name](), runtime.ErrClosed); msg != "" {
				t.Errorf("%s on %s: %s", name, d.name, msg)
			}
		}
	}
}

// TestReadbackBeforeSync is an error that names the batch, the operation and the
// line, never data.
func TestReadbackBeforeSync(t *testing.T) {
	for _, d := range both(t) {
		b := d.Batch("train")
		y := ops.NegDeferred(b, of(t, d, 3))
		back := runtime.Read(b, y)
		v, err := back.Value()
		if msg := mentions(err, runtime.ErrNotSynced, "the result of neg", `batch "train"`, "badhandle_test.go:"); msg != "" || v != nil {
			t.Errorf("on %s: data is %t, %s", d.name, v != nil, msg)
		}
		if _, err := y.Read(); mentions(err, runtime.ErrPending, `batch "train"`) != "" {
			t.Errorf("read of a pending tensor on %s: %s", d.name, mentions(err, runtime.ErrPending, `batch "train"`))
		}
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if v, err := back.Value(); err != nil || len(v) != 3 || v[0] != -1 {
				t.Errorf("after sync on %s: %v, %v", d.name, v, err)
			}
		}
		lost := runtime.Read(b, ops.NegDeferred(b, of(t, d, 3)))
		b.Discard()
		if v, err := lost.Value(); mentions(err, runtime.ErrDiscarded, `batch "train"`) != "" || v != nil {
			t.Errorf("after discard on %s: %v, %s", d.name, v, mentions(err, runtime.ErrDiscarded, `batch "train"`))
		}
	}
}

// TestImmediateOnPendingOperand runs the operand's batch first.
func TestImmediateOnPendingOperand(t *testing.T) {
	for _, d := range both(t) {
		b := d.Batch("pending")
		y := ops.ScaleDeferred(b, of(t, d, 3), 2)
		z, err := ops.AddScalar(y, 1)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, d, "immediate", z, vector(3, 3, 3))
		w := ops.AddDeferred(b, y, z) // the batch goes on
		b.Keep(w)
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(t, d, "the rest of the batch", w, vector(5, 5, 5))

		bad := ops.EmbeddingDeferred(b, ints(t, d, 7), of(t, d, 2, 3))
		_, err = ops.Neg(bad)
		var fault *runtime.FaultError
		if !errors.As(err, &fault) || fault.Value != 7 {
			t.Errorf("on a pending operand that fails on %s: %v", d.name, err)
		}
		b.Discard()
	}
}

// TestPendingOperandOfAnotherBatch is refused: batches run in any order.
func TestPendingOperandOfAnotherBatch(t *testing.T) {
	for _, d := range both(t) {
		first := d.Batch("first")
		y := ops.NegDeferred(first, of(t, d, 3))
		refused{"other batch", func(b *runtime.Batch) { ops.NegDeferred(b, y) },
			runtime.ErrPending, []string{"neg: ", "x is a pending result of batch \"first\""}}.check(t, d)
		refused{"keep", func(b *runtime.Batch) { b.Keep(y) },
			runtime.ErrPending, []string{"keep: ", "batch \"first\""}}.check(t, d)
		first.Discard()
	}
}

// TestPoisonedResults: what depends on a refused call is refused quietly, and
// the error is that of the first.
func TestPoisonedResults(t *testing.T) {
	for _, d := range both(t) {
		b := d.Batch("poisoned")
		y := ops.AddDeferred(b, of(t, d, 2), of(t, d, 3))
		z := ops.MatMulNNDeferred(b, y, y)
		loss := ops.SumDeferred(b, z)
		grads := b.Grad(loss, z)
		back := runtime.Read(b, loss)
		first := b.Err()
		err := b.Sync(context.Background())
		if msg := mentions(err, runtime.ErrShape, "add: "); msg != "" || err != first {
			t.Errorf("on %s: %s (Err gave %v)", d.name, msg, first)
		}
		if _, err := back.Value(); mentions(err, runtime.ErrShape, "add: ") != "" {
			t.Errorf("read-back on %s: %s", d.name, mentions(err, runtime.ErrShape, "add: "))
		}
		for _, h := range []runtime.Handle{y.Untyped(), z.Untyped(), grads[0]} {
			if msg := mentions(h.Err(), runtime.ErrShape, "add: "); msg != "" {
				t.Errorf("handle on %s: %s", d.name, msg)
			}
			if h.Shape() != nil || h.Len() != -1 {
				t.Errorf("a poisoned handle on %s has shape %v", d.name, h.Shape())
			}
		}
		_, err = ops.Neg(y)
		if msg := mentions(err, runtime.ErrShape, "add: "); msg != "" {
			t.Errorf("immediate on %s: %s", d.name, msg)
		}
	}
}

// TestGradientsThatAreNone: no derivative, no float, no dependence.
func TestGradientsThatAreNone(t *testing.T) {
	for _, d := range both(t) {
		x, n := of(t, d, 3), ints(t, d, 1)
		for _, r := range []refused{
			{"an integer", func(b *runtime.Batch) { b.Grad(ops.SumDeferred(b, x), n) }, runtime.ErrNoGradient, []string{"grad: ", "parameter 0", "i32"}},
			{"an integer loss", func(b *runtime.Batch) { b.Grad(ops.ArgmaxDeferred(b, x), x) }, runtime.ErrNoGradient, []string{"grad: ", "loss", "i32"}},
			{"loss of no batch", func(b *runtime.Batch) { b.Grad(x, x) }, runtime.ErrNoGradient, []string{"grad: ", "loss is not a result of this batch"}},
			{"through an operation without", func(b *runtime.Batch) { b.Grad(ops.MaxDeferred(b, x), x) }, runtime.ErrNoGradient, []string{"max: ", "no gradient"}},
		} {
			r.check(t, d)
		}
		b := d.Batch("independent")
		grad := b.Grad(ops.SumDeferred(b, x), of(t, d, 2, 2))[0]
		b.Keep(grad)
		if err := b.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(t, d, "a parameter that the loss does not depend on", grad, constant(0, 2, 2))
	}
}
