package parity_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// trainer is a table of embeddings with the state of its optimiser.
type trainer struct {
	w, m, v runtime.Tensor[f32]
	one     runtime.Tensor[f32]
	no      runtime.Tensor[int32]
	step    runtime.Tensor[int32]
}

func newTrainer(t *testing.T, d device) *trainer {
	return &trainer{
		w: from[f32](t, d, weights()), m: from[f32](t, d, constant(0.5, 4, 2)), v: from[f32](t, d, constant(0.25, 4, 2)),
		one: of(t, d), no: must(runtime.Zeros[int32](d.Device))(t), step: must(runtime.FromSlice(d.Device, []int32{3}))(t),
	}
}

func weights() golden.Tensor { return golden.Tensor{Shape: []int{4, 2}, Data: spaced(0, 7, 1)} }

// loss records a lookup and a mean.
func (tr *trainer) loss(b *runtime.Batch, ids runtime.Tensor[int32]) runtime.Tensor[f32] {
	return ops.MeanDeferred(b, ops.SquareDeferred(b, ops.EmbeddingDeferred(b, ids, tr.w)))
}

// update records a step of AdamW and returns the new versions.
func (tr *trainer) update(b *runtime.Batch, g runtime.Tensor[f32]) (w, m, v runtime.Tensor[f32]) {
	return ops.AdamWDeferred(b, g, tr.one, tr.one, tr.no, tr.step, tr.w, tr.m, tr.v, 0.1, 0.9, 0.999, 1e-8, 0.01)
}

func (tr *trainer) unchanged(t *testing.T, d device, what string) {
	t.Helper()
	expect(t, d, what+": w", tr.w, weights())
	expect(t, d, what+": m", tr.m, constant(0.5, 4, 2))
	expect(t, d, what+": v", tr.v, constant(0.25, 4, 2))
}

// TestBadIDChangesNoParameter: an id out of range anywhere in a training step,
// before the optimiser or after it, leaves the parameters and their state as
// they were, and the next step goes through.
func TestBadIDChangesNoParameter(t *testing.T) {
	for _, d := range both(t) {
		good, bad := ints(t, d, 0, 3, 3), ints(t, d, 0, 4, 3)
		fault := runtime.FaultError{Op: "embedding", Tensor: "ids", Index: []int64{1}, Value: 4, Bound: 4}
		for _, at := range []string{"before the optimiser", "after the optimiser"} {
			tr := newTrainer(t, d)
			ids, later := bad, good
			if at == "after the optimiser" {
				ids, later = good, bad
			}
			b := d.Batch("step")
			loss := tr.loss(b, ids)
			w, m, v := tr.update(b, runtime.As[f32](b.Grad(loss, tr.w)[0]))
			after := ops.EmbeddingDeferred(b, later, w)
			b.Keep(w, m, v, after)
			back := runtime.Read(b, loss)
			checkFault(t, d, at, b.Sync(context.Background()), fault)
			if v, err := back.Value(); err == nil {
				t.Errorf("%s on %s: the loss of a step that failed is %v", at, d.name, v)
			}
			tr.unchanged(t, d, at)

			w, m, v = tr.update(b, runtime.As[f32](b.Grad(tr.loss(b, good), tr.w)[0]))
			b.Keep(w, m, v)
			if err := b.Sync(context.Background()); err != nil {
				t.Fatalf("the step after one with a fault %s on %s: %v", at, d.name, err)
			}
			if got := download(t, w.Untyped()); got.data[7] >= 7 || got.data[7] < 6 {
				t.Errorf("the step after one with a fault %s on %s makes w[3,1] %v", at, d.name, got.data[7])
			}
		}
		if n := d.Stats().Faults; n != 2 {
			t.Errorf("%d faults counted on %s, want 2", n, d.name)
		}
	}
}

// TestBatchThatUsesAFailedOne fails as well, whether the first is still running
// when the second is recorded or not.
func TestBatchThatUsesAFailedOne(t *testing.T) {
	for _, d := range both(t) {
		for _, wait := range []bool{false, true} {
			first, second := d.Batch("first"), d.Batch("second")
			y := ops.EmbeddingDeferred(first, ints(t, d, -1), of(t, d, 4, 2))
			first.Keep(y)
			done := first.Submit()
			if wait {
				<-done.Done()
			}
			sum := runtime.Read(second, ops.SumDeferred(second, y))
			err := second.Sync(context.Background())
			stale, depends := mentions(err, runtime.ErrStale, "sum: x "), mentions(err, runtime.ErrDepends, "ids[0] is -1, must be in [0, 4)")
			if stale != "" && (wait || depends != "") {
				t.Errorf("on %s: %s", d.name, stale)
			}
			if v, err := sum.Value(); err == nil {
				t.Errorf("a sum over nothing that exists on %s: %v", d.name, v)
			}
			checkFault(t, d, "the first batch", done.Wait(context.Background()),
				runtime.FaultError{Op: "embedding", Tensor: "ids", Index: []int64{0}, Value: -1, Bound: 4})
		}
	}
}

// TestFirstFaultWins: of several bad values the first in program order and in
// the tensor is reported, for any number of workers.
func TestFirstFaultWins(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		for _, d := range both(t, runtime.WithWorkers(workers)) {
			ids := make([]int32, 5000)
			ids[4000], ids[777], ids[4999] = 99, -3, 8
			b := d.Batch("many")
			ops.SumDeferred(b, ops.EmbeddingDeferred(b, ints(t, d, ids...), of(t, d, 4, 2)))
			y := ops.EmbeddingDeferred(b, ints(t, d, 5), of(t, d, 4, 2))
			z := ops.EmbeddingDeferred(b, ints(t, d, ids...), of(t, d, 4, 2))
			b.Keep(y, z)
			checkFault(t, d, "two lookups", b.Sync(context.Background()),
				runtime.FaultError{Op: "embedding", Tensor: "ids", Index: []int64{0}, Value: 5, Bound: 4})
			z = ops.EmbeddingDeferred(b, ints(t, d, ids...), of(t, d, 4, 2))
			b.Keep(z)
			checkFault(t, d, "one lookup", b.Sync(context.Background()),
				runtime.FaultError{Op: "embedding", Tensor: "ids", Index: []int64{777}, Value: -3, Bound: 4})
		}
	}
}
