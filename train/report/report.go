package report

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/kernelgen/kgen/internal/atomicfile"
	"github.com/kernelgen/kgen/train/metrics"
)

// A Run is what a training run leaves. Texts may have any bytes; those that are not
// UTF-8 are shown as U+FFFD.
type Run struct {
	Name    string           // the heading
	Records []metrics.Record // by step, as metrics.Read returns them
	Config  string           // the configuration as it was written; may be empty
	Ops     []Op             // in any order; may be empty
}

// An Op is the time that all calls of an operation took.
type Op struct {
	Name    string
	Seconds float64
	Calls   int
}

// WriteFile writes the page to a file, as a whole or not at all.
func WriteFile(path string, run Run) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer f.Discard()
	if err := Write(f, run); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("report: %s: %w", path, err)
	}
	return nil
}

// Write writes the page. Nothing is written if the run has faults, of which the error
// has all.
func Write(w io.Writer, run Run) error {
	if err := run.check(); err != nil {
		return err
	}
	if err := page.Execute(w, run.view()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// check returns what is wrong with a run.
func (run Run) check() error {
	var errs []error
	if len(run.Records) == 0 {
		errs = append(errs, errors.New("report: there are no records: a run that made no step has nothing to show"))
	}
	for i, r := range run.Records {
		if i > 0 && r.Step < run.Records[i-1].Step {
			errs = append(errs, fmt.Errorf("report: record %d: step %d comes after step %d", i, r.Step, run.Records[i-1].Step))
			break
		}
	}
	for i, op := range run.Ops {
		if op.Name == "" {
			errs = append(errs, fmt.Errorf("report: op %d has no name", i))
		}
		if !(op.Seconds >= 0) || math.IsInf(op.Seconds, 0) {
			errs = append(errs, fmt.Errorf("report: op %q took %v seconds, must be finite and not negative", op.Name, op.Seconds))
		}
		if op.Calls < 0 {
			errs = append(errs, fmt.Errorf("report: op %q has %d calls", op.Name, op.Calls))
		}
	}
	return errors.Join(errs...)
}
