package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kernelgen/kgen/internal/atomicfile"
	"github.com/kernelgen/kgen/internal/textrun"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/config"
	"github.com/kernelgen/kgen/train/metrics"
)

// a job is a run under way, of models that compute in T.
type job[T nn.Float] struct {
	c       *config.Config
	data    *textrun.Data
	models  *textrun.Models[T]
	trainer *train.Trainer
	metrics *metrics.Writer
	watch   *watch
	stderr  io.Writer
}

// session trains: what is left of a run, or all of a new one.
func session[T nn.Float](ctx context.Context, c *config.Config, data *textrun.Data, dev *runtime.Device, resume bool, stdout, stderr io.Writer) (err error) {
	models, err := textrun.NewModels[T](dev, c, data.Sizes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, models.Close()) }()
	j := &job[T]{c: c, data: data, models: models, watch: &watch{dev: dev, steps: c.Log.Trace}, stderr: stderr}
	if j.trainer, err = j.newTrainer(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.trainer.Close()) }()
	if resume {
		err = j.goOn()
	} else {
		err = j.begin()
	}
	if err != nil {
		return err
	}
	err = j.trainer.Run(ctx, train.Session{
		Metrics: j.metrics, Progress: terminal(stderr),
		Checkpoint: j.path(textrun.CheckpointFile), Every: c.Log.Checkpoint,
		After: j.after,
	})
	j.watch.end()
	err = errors.Join(err, j.metrics.Close())
	if j.trainer.Done() > 0 {
		err = errors.Join(err, j.report())
	}
	if err != nil {
		return err
	}
	if dtype := c.Log.Export; dtype != "none" {
		if err := models.Export(j.path(textrun.WeightsFile), dtype); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%d steps are done: %s shows them, eftexteval %s measures the model\n", j.trainer.Done(), j.path(textrun.ReportFile), c.Out)
	return nil
}

func (j *job[T]) path(name string) string { return filepath.Join(j.c.Out, name) }

// begin makes the folder of a new run.
func (j *job[T]) begin() (err error) {
	if path := j.c.Model.Embeddings; path != "" {
		if err := j.models.LoadEmbeddings(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(j.c.Out, 0o777); err != nil {
		return err
	}
	if j.metrics, err = metrics.Create(j.path(textrun.MetricsFile)); err != nil {
		return err
	}
	if j.data.Tokenizer != nil {
		if err := j.data.Tokenizer.Save(j.path(textrun.TokenizerFile)); err != nil {
			return err
		}
	}
	return j.writeConfig()
}

// goOn puts a run where it was stopped.
func (j *job[T]) goOn() (err error) {
	if _, err := j.trainer.Resume(j.path(textrun.CheckpointFile)); err != nil {
		return err
	}
	if j.metrics, err = metrics.Resume(j.path(textrun.MetricsFile), j.trainer.Done()); err != nil {
		return err
	}
	return j.writeConfig()
}

// writeConfig writes every value that holds.
func (j *job[T]) writeConfig() error {
	f, err := atomicfile.Create(j.path(textrun.ConfigFile))
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := io.WriteString(f, j.c.Format()); err != nil {
		return err
	}
	return f.Commit()
}

// after validates when it is time to. A validation that has begun is ended: else a run that
// was interrupted in it would lack it when it is continued.
func (j *job[T]) after(ctx context.Context, step int) error {
	j.watch.end()
	every := j.c.Log.Validate
	if step == j.c.Schedule.Steps || every != 0 && step%every == 0 {
		r, err := j.validate(context.WithoutCancel(ctx), step)
		if err == nil {
			err = j.metrics.Write(r)
		}
		if err != nil {
			return err
		}
		j.show(r)
	}
	return j.watch.begin()
}

// show prints what a validation gave, on a terminal in the place of the progress bar, which
// comes again below it.
func (j *job[T]) show(r metrics.Record) {
	if terminal(j.stderr) != nil {
		fmt.Fprint(j.stderr, "\r\x1b[2K")
	}
	fmt.Fprintf(j.stderr, "step %d of %d:", r.Step, j.c.Schedule.Steps)
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		fmt.Fprintf(j.stderr, " %s %.4f", name, r.Values[name])
	}
	fmt.Fprintln(j.stderr)
}

// terminal returns w if it is a terminal, else nil: a progress bar in a file is noise.
func terminal(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return nil
}
