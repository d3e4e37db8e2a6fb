package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kernelgen/kgen/train/metrics"
)

// Session is what a run leaves. Any part may be left out.
type Session struct {
	// Metrics gets a record for each step. After Resume it is metrics.Resume(path,
	// t.Done()).
	Metrics *metrics.Writer
	// Progress gets a progress bar with the rate and the time left.
	Progress io.Writer
	// Checkpoint is the file that checkpoints are written to, each in the place of the
	// one before: every so many steps, 0 for never, at the end, and when the run is
	// interrupted.
	Checkpoint string
	Every      int
	// Metadata is written into checkpoints, for whoever opens them: the configuration of
	// the model, say.
	Metadata map[string]string
	// After is called after each step, before its checkpoint, when nothing is under way:
	// to validate, to let the model write, to begin or end a trace. What it writes to
	// Metrics is of this step. An error ends the run.
	After func(ctx context.Context, step int) error
}

// InterruptedError is the error of a run whose context has ended. The step that was under
// way was ended first, and a checkpoint written.
type InterruptedError struct {
	Step       int    // steps taken
	Checkpoint string // "" where the session has none
	Err        error  // of the context
}

// Error says where the run stands.
func (e *InterruptedError) Error() string {
	if e.Checkpoint == "" {
		return fmt.Sprintf("train: interrupted after step %d: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("train: interrupted after step %d, %s has it: %v", e.Step, e.Checkpoint, e.Err)
}

// Unwrap returns the context's error.
func (e *InterruptedError) Unwrap() error { return e.Err }

// Run takes the steps that are left of the schedule. If ctx ends, as it does at Ctrl-C
// with signal.NotifyContext, the step under way is ended, a checkpoint is written and the
// error is an *InterruptedError. Run may be called again then, or the checkpoint resumed
// elsewhere.
func (t *Trainer) Run(ctx context.Context, s Session) error {
	if err := s.check(); err != nil {
		return err
	}
	bar := t.progress(s.Progress)
	defer bar.finish()
	for t.done < t.config.Schedule.Steps {
		if ctx.Err() != nil {
			return t.interrupted(ctx, s)
		}
		r, err := t.step(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		bar.add(t, r)
		if err := s.after(ctx, r); err != nil {
			if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
				return t.interrupted(ctx, s)
			}
			return fmt.Errorf("train: after step %d: %w", t.done, err)
		}
		if s.Every > 0 && t.done%s.Every == 0 && t.done < t.config.Schedule.Steps {
			if err := s.save(t); err != nil {
				return err
			}
		}
	}
	return s.save(t)
}

func (s *Session) check() error {
	if s.Every < 0 {
		return fmt.Errorf("train: a checkpoint every %d steps: must not be negative", s.Every)
	}
	if s.Every > 0 && s.Checkpoint == "" {
		return errors.New("train: checkpoints have no file: set Session.Checkpoint")
	}
	return nil
}

// after records a step and calls After.
func (s *Session) after(ctx context.Context, r metrics.Record) error {
	if s.Metrics != nil {
		if err := s.Metrics.Write(r); err != nil {
			return err
		}
	}
	if s.After == nil {
		return nil
	}
	return s.After(ctx, r.Step)
}

// save writes the checkpoint of the session, if it has one.
func (s *Session) save(t *Trainer) error {
	if s.Checkpoint == "" {
		return nil
	}
	return t.Save(s.Checkpoint, s.Metadata)
}

func (t *Trainer) interrupted(ctx context.Context, s Session) error {
	err := &InterruptedError{t.done, s.Checkpoint, ctx.Err()}
	if failed := s.save(t); failed != nil {
		err.Checkpoint = ""
		return errors.Join(err, failed)
	}
	return err
}
