package train_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/metrics"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
)

// Each micro-batch is one program with one wait, whatever the model and the type; shapes
// that were seen before are not planned again, and no tensor is left behind.
func TestOneSyncForEachMicroBatch(t *testing.T) {
	each(t, func(t *testing.T, make func(t testing.TB, seed uint64, c train.Config) *trial) {
		const accumulate, steps = 3, 6
		c := make(t, 1, config(2*steps, accumulate))
		take := func(n int) (runs int64, before, after runtime.Stats) {
			before = c.d.Stats()
			for range n {
				c.take(t)
			}
			after = c.d.Stats()
			return after.Runs - before.Runs, before, after
		}
		if runs, _, _ := take(steps); runs != steps*accumulate {
			t.Errorf("%d steps of %d micro-batches waited for %d programs", steps, accumulate, runs)
		}
		runs, before, after := take(steps)
		if runs != steps*accumulate {
			t.Errorf("%d more steps waited for %d programs", steps, runs)
		}
		if after.Tensors > before.Tensors+3 {
			t.Errorf("%d tensors after %d steps, %d after as many more", before.Tensors, steps, after.Tensors)
		}
	})
}

// A phase changes the parameters that its loss depends on and no others, but those of the
// shared block, which both change.
func TestPhasesAlternate(t *testing.T) {
	c := trials[float32]()["combined"](t, 1, config(9, 1))
	const shared = ".stack.blocks.1."
	for step := 1; step <= 7; step++ {
		before := c.weights(t)
		r := c.take(t)
		phase, own := "A", "encoder."
		if step%3 == 0 { // two steps of A, then one of B
			phase, own = "B", "decoder."
		}
		if r.Texts["phase"] != phase {
			t.Errorf("step %d is of phase %s, want %s", step, r.Texts["phase"], phase)
		}
		if _, ok := r.Values["ce_loss"]; ok != (phase == "B") {
			t.Errorf("step %d of phase %s measures %v", step, phase, r.Values)
		}
		var want []string
		for name := range before {
			if strings.HasPrefix(name, own) || strings.Contains(name, shared) {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := changed(before, c.weights(t)); !slices.Equal(got, want) {
			t.Errorf("step %d of phase %s has changed %v, want %v", step, phase, got, want)
		}
	}
}

// A step of micro-batches is the step of one large batch, though their rows have
// different numbers of ids: each loss weighs as much as it has terms.
func TestAccumulationIsOneLargeBatch(t *testing.T) {
	weights := func(rows, accumulate int) map[string][]float32 {
		d := open(t)
		s := shape
		s.Dropout = 0
		m := must[*models.TextDecoder[float32]](t)(models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: tokens, StackConfig: s, Cond: vector}, 1))
		data := must[*dataset.Loader](t)(dataset.NewLoader(sentences(t, 8), dataset.Config{Batch: rows}))
		c := train.Config{Schedule: schedule.Cosine{Peak: 1, Steps: 1}, Accumulate: accumulate}
		tr := must[*train.DecoderTrainer[float32]](t)(train.NewDecoderTrainer(m, train.CE{Data: data, Optim: optim.Config{Method: optim.SGD{}}}, c))
		trial := newTrial(t, d, tr.Trainer, m.Params())
		if err := trial.Run(context.Background(), train.Session{}); err != nil {
			t.Fatal(err)
		}
		return trial.weights(t)
	}
	one, four := weights(8, 1), weights(2, 4)
	for name, want := range one {
		for i, w := range want {
			if math.Abs(float64(w-four[name][i])) > 2e-6*(1+math.Abs(float64(w))) {
				t.Errorf("%s[%d] is %v after four micro-batches, %v after one", name, i, four[name][i], w)
				break
			}
		}
	}
}

// An overflow changes no weight: with loss scaling the scale is halved and the run goes
// on, without it the run ends and says so.
func TestInjectedOverflow(t *testing.T) {
	each(t, func(t *testing.T, make func(t testing.TB, seed uint64, c train.Config) *trial) {
		for _, micro := range []int{0, 1} {
			c := make(t, 1, config(40, 2))
			for !finite(c.take(t)) { // the scale is too large at first
			}
			before := c.weights(t)
			train.InjectOverflow(c.Trainer, micro)
			r, err := c.Step(context.Background())
			if names := changed(before, c.weights(t)); len(names) > 0 {
				t.Errorf("an overflow in micro-batch %d has changed %v", micro, names)
			}
			scale, scaled := r.Values["loss_scale"]
			if err != nil {
				if !errors.Is(err, optim.ErrNotFinite) || !strings.Contains(err.Error(), "train: step ") {
					t.Errorf("the error is %v", err)
				}
				continue
			}
			next := c.take(t)
			for next.Texts["phase"] != r.Texts["phase"] {
				next = c.take(t)
			}
			if got := next.Values["loss_scale"]; !scaled || got != scale/2 {
				t.Errorf("the scale was %v in the overflow and %v after it", scale, got)
			}
			for !finite(next) {
				next = c.take(t)
			}
			if len(changed(before, c.weights(t))) == 0 {
				t.Error("steps after the overflow have changed nothing")
			}
		}
	})
}

// take takes a step that has no error.
func (c *trial) take(t *testing.T) metrics.Record {
	t.Helper()
	return must[metrics.Record](t)(c.Step(context.Background()))
}

// finite reports whether the gradients of a step were.
func finite(r metrics.Record) bool {
	norm := r.Values["gradient_norm"]
	return !math.IsInf(norm, 0) && !math.IsNaN(norm)
}

// A bad id ends the run with its position and value, and changes no weight.
func TestBadID(t *testing.T) {
	d := open(t)
	m := must[*models.TextDecoder[float32]](t)(models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: 100, StackConfig: shape}, 1))
	data := must[*dataset.RandomWindows](t)(dataset.NewRandomWindows(text(t, 5000), 24, 4, 3))
	tr := must[*train.DecoderTrainer[float32]](t)(train.NewDecoderTrainer(m, train.CE{Data: data, Optim: adamw[float32]()}, config(3, 1)))
	c := newTrial(t, d, tr.Trainer, m.Params())
	before := c.weights(t)
	err := c.Run(context.Background(), train.Session{})
	var fault *runtime.FaultError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "train: step 1: ") {
		t.Errorf("the error is %v", err)
	}
	if names := changed(before, c.weights(t)); len(names) > 0 {
		t.Errorf("the step has changed %v", names)
	}
}
