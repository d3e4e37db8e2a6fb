package optim_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/kernelgen/kgen/checkpoint"
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

const (
	vocab  = 11
	texts  = 3
	length = 12
)

// run is a decoder that is trained on made-up texts.
type run[T nn.Float] struct {
	d       *runtime.Device
	decoder *models.TextDecoder[T]
	o       *optim.Optimizer
	batch   *runtime.Batch
}

func newRun[T nn.Float](t *testing.T, d *runtime.Device, m optim.Method, seed uint64) *run[T] {
	t.Helper()
	shape := models.StackConfig{Width: 8, Hidden: 12, Kernel: 3, Dilations: []int{1, 2}}
	decoder := must[*models.TextDecoder[T]](t)(models.NewTextDecoder[T](d, models.DecoderConfig{Vocab: vocab, StackConfig: shape}, seed))
	o := newOptimizer(t, decoder.Params(), optim.Config{Method: m, MaxNorm: 0.5, Scaling: &optim.Scaling{Initial: 1 << 10, Interval: 2},
		Groups: []optim.Group{{Names: []string{"*.bias"}, Rate: 1}, {Names: []string{"*"}, Rate: 1, WeightDecay: 0.1}}})
	return &run[T]{d, decoder, o, d.Batch("step")}
}

// record records the n-th step, on two micro-batches. The loss of the first one at step 2,
// and again at step 5, is so large that the gradients overflow.
func (r *run[T]) record(t *testing.T, n, badID int) *optim.Report {
	t.Helper()
	for micro := range 2 {
		ids, targets := make([]int32, texts*length), make([]int32, texts*length)
		for i := range ids {
			ids[i] = int32((n + micro + i*i) % vocab)
			targets[i] = int32((n + micro + (i+1)*(i+1)) % vocab)
		}
		ids[5] += int32(badID)
		idsT := must[runtime.Tensor[int32]](t)(runtime.FromSlice(r.d, ids, texts, length))
		targetsT := must[runtime.Tensor[int32]](t)(runtime.FromSlice(r.d, targets, texts, length))
		logits := r.decoder.ForwardDeferred(r.batch, idsT, runtime.Tensor[T]{}, runtime.Tensor[uint8]{})
		loss, _ := ops.CrossEntropyMeanDeferred(r.batch, logits, targetsT, ops.CrossEntropyMeanIgnoreIndex, 0)
		if micro == 1 {
			return must[*optim.Report](t)(r.o.Step(r.batch, ops.ScaleDeferred(r.batch, loss, 0.5), 0.01))
		}
		if n%3 == 2 {
			loss = ops.ScaleDeferred(r.batch, loss, 3e38)
		}
		if err := r.o.Accumulate(r.batch, ops.ScaleDeferred(r.batch, loss, 0.5)); err != nil {
			t.Fatal(err)
		}
	}
	return nil
}

func (r *run[T]) steps(t *testing.T, from, to int) (skipped int) {
	t.Helper()
	for n := from; n < to; n++ {
		report := r.record(t, n, 0)
		if err := r.batch.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		skipped += int(must[int32](t)(report.Skipped.Scalar()))
	}
	return skipped
}

// state returns what a checkpoint of the run holds.
func (r *run[T]) state(t *testing.T) checkpoint.State {
	t.Helper()
	state := checkpoint.State(must[map[string]runtime.Handle](t)(r.o.State("optim.")))
	for _, p := range r.decoder.Params() {
		v := must[runtime.Tensor[float32]](t)(p.View())
		t.Cleanup(func() { v.Close() })
		state["model."+p.Name] = v.Untyped()
	}
	return state
}

// A run that is continued from a file gives the same bits as one that never stopped:
// weights, moments, step count and loss scale.
func TestResume(t *testing.T) {
	for name, m := range methods {
		t.Run(name+"/f32", func(t *testing.T) { resume[float32](t, m) })
		t.Run(name+"/f16", func(t *testing.T) { resume[runtime.Float16](t, m) })
		t.Run(name+"/bf16", func(t *testing.T) { resume[runtime.BFloat16](t, m) })
	}
}

func resume[T nn.Float](t *testing.T, m optim.Method) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	whole := newRun[T](t, open(t), m, 1)
	if got := whole.steps(t, 0, 8); got < 2 || got > 5 {
		t.Fatalf("%d steps were skipped, want some and not all", got)
	}
	want := snapshot(t, whole.o, whole.decoder.Params())

	first := newRun[T](t, open(t), m, 1)
	first.steps(t, 0, 4)
	if err := checkpoint.Save(path, first.state(t), nil); err != nil {
		t.Fatal(err)
	}
	second := newRun[T](t, open(t), m, 99)
	if _, err := checkpoint.Load(path, second.state(t)); err != nil {
		t.Fatal(err)
	}
	for _, p := range second.decoder.Params() {
		p.Invalidate()
	}
	second.steps(t, 4, 8)
	if names := differences(want, snapshot(t, second.o, second.decoder.Params())); len(names) > 0 {
		t.Errorf("the continued run differs in %v", names)
	}
}

// A file of another method, or without loss scaling, does not fit.
func TestStateOfAnotherMethod(t *testing.T) {
	d := open(t)
	params := linear[float32](t, d, 1, 2, 1).Params()
	path := filepath.Join(t.TempDir(), "run.safetensors")
	o := newOptimizer(t, params, optim.Config{Method: optim.DefaultAdamW(), Scaling: optim.DefaultScaling()})
	if err := checkpoint.Save(path, must[map[string]runtime.Handle](t)(o.State("optim.")), nil); err != nil {
		t.Fatal(err)
	}
	other := newOptimizer(t, params, optim.Config{Method: optim.SGD{}})
	_, err := checkpoint.LoadPart(path, "optim.", must[map[string]runtime.Handle](t)(other.State("optim.")))
	wantError(t, err, "missing: optim.velocity.weight", "unexpected: optim.moment1.weight", "unexpected: optim.scale")
}

// Steps that fail, of which the second was recorded before the first one's fault came
// out, leave nothing: the next step gives the bits that it gives without them.
func TestFailedStepsAreUndone(t *testing.T) {
	t.Run("f32", failed[float32])
	t.Run("f16", failed[runtime.Float16])
}

func failed[T nn.Float](t *testing.T) {
	r, same := newRun[T](t, open(t), optim.DefaultAdamW(), 1), newRun[T](t, open(t), optim.DefaultAdamW(), 1)
	r.steps(t, 0, 3)
	before := snapshot(t, r.o, r.decoder.Params())
	r.record(t, 3, vocab) // an id that is no row of the table
	fence := r.batch.Submit()
	report := r.record(t, 4, 0)
	if err := r.batch.Sync(context.Background()); !errors.Is(err, runtime.ErrDepends) {
		var fault *runtime.FaultError
		if !errors.As(fence.Wait(context.Background()), &fault) {
			t.Fatalf("the error of the second step is %v, and the first has no fault", err)
		}
	}
	if err := report.Err(); err == nil {
		t.Error("the report of a failed step has no error")
	}
	if names := differences(before, snapshot(t, r.o, r.decoder.Params())); len(names) > 0 {
		t.Errorf("the failed steps have changed %v", names)
	}
	r.record(t, 3, 0)
	r.batch.Discard()
	if names := differences(before, snapshot(t, r.o, r.decoder.Params())); len(names) > 0 {
		t.Errorf("the discarded step has changed %v", names)
	}
	r.steps(t, 3, 6)
	same.steps(t, 0, 6)
	if names := differences(snapshot(t, same.o, same.decoder.Params()), snapshot(t, r.o, r.decoder.Params())); len(names) > 0 {
		t.Errorf("after failed steps the next ones differ in %v", names)
	}
}
