package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
)

// A run that was interrupted, and is continued by a trainer that began with other weights
// on another device, ends with the same bits as one that never stopped. A step has three
// micro-batches and an epoch five, so epochs end within steps.
func TestResume(t *testing.T) {
	each(t, func(t *testing.T, make func(t testing.TB, seed uint64, c train.Config) *trial) {
		const steps = 6
		whole := make(t, 1, config(steps, 3))
		begin, skipped := whole.weights(t), 0
		for range steps {
			before := whole.weights(t)
			if _, err := whole.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
			if len(changed(before, whole.weights(t))) == 0 {
				skipped++
			}
		}
		if whole.params[0].DType() == runtime.F16 && (skipped == 0 || skipped == steps) {
			t.Fatalf("%d of %d steps have overflowed, want some", skipped, steps)
		}
		if names := changed(begin, whole.weights(t)); len(names) != len(begin) {
			t.Fatalf("the run has changed %v alone", names)
		}
		t.Logf("%d of %d steps have overflowed", skipped, steps)
		want := whole.saved(t)
		const at = 4
		path := filepath.Join(t.TempDir(), "run.safetensors")
		first := make(t, 1, config(steps, 3))
		stopAt(t, first, at, path)
		second := make(t, 99, config(steps, 3))
		metadata, err := second.Resume(path)
		if err != nil {
			t.Fatal(err)
		}
		if second.Done() != at || metadata["kind"] != "a test" || len(metadata) != 1 {
			t.Errorf("the run stands at step %d with the metadata %v", second.Done(), metadata)
		}
		if err := second.Run(context.Background(), train.Session{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(second.saved(t), want) {
			t.Errorf("interrupted after step %d, the run ends otherwise", at)
		}
	})
}

// stopAt runs a trainer up to a step, at which its context ends.
func stopAt(t *testing.T, c *trial, step int, path string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := c.Run(ctx, train.Session{
		Checkpoint: path,
		Metadata:   map[string]string{"kind": "a test"},
		After: func(_ context.Context, n int) error {
			if n == step {
				cancel()
			}
			return nil
		},
	})
	var stopped *train.InterruptedError
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	if stopped.Step != step || stopped.Checkpoint != path {
		t.Errorf("the error is %+v, want step %d and %s", stopped, step, path)
	}
}

// A context that ends at any moment, as within a step, leaves a checkpoint of a whole
// number of steps, from which the run ends as ever. So does one that has ended before.
func TestInterruptedAnywhere(t *testing.T) {
	make := trials[float32]()["text"]
	const steps = 40
	whole := make(t, 1, config(steps, 2))
	begin := time.Now()
	if err := whole.Run(context.Background(), train.Session{}); err != nil {
		t.Fatal(err)
	}
	took, want := time.Since(begin), whole.saved(t)
	within := map[int]bool{}
	for i := range 8 {
		path := filepath.Join(t.TempDir(), "run.safetensors")
		ctx, cancel := context.WithTimeout(context.Background(), took*time.Duration(i)/8)
		err := make(t, 1, config(steps, 2)).Run(ctx, train.Session{Checkpoint: path})
		cancel()
		var stopped *train.InterruptedError
		if err == nil {
			continue // the machine was faster than before
		}
		if !errors.As(err, &stopped) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the error is %v", err)
		}
		within[stopped.Step] = true
		c := make(t, 2, config(steps, 2))
		if _, err := c.Resume(path); err != nil {
			t.Fatal(err)
		}
		if c.Done() != stopped.Step {
			t.Errorf("the checkpoint has step %d, the error says %d", c.Done(), stopped.Step)
		}
		if err := c.Run(context.Background(), train.Session{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.saved(t), want) {
			t.Errorf("interrupted after step %d, the run ends otherwise", stopped.Step)
		}
	}
	if !within[0] {
		t.Error("a context that has ended before let a step be taken")
	}
	t.Log("interrupted after steps ", fmt.Sprint(within))
}
