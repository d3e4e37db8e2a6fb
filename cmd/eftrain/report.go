package main

import (
	"path/filepath"
	"slices"

	"github.com/kernelgen/kgen/internal/textrun"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/metrics"
	"github.com/kernelgen/kgen/train/report"
)

// watch times the operations of a few steps. The first step is not one of them: its
// programs are planned, and on a GPU compiled.
type watch struct {
	dev   *runtime.Device
	steps int            // to be timed yet
	trace *runtime.Trace // of the present step
	ops   []report.Op
}

// begin comes before a step, when nothing is under way.
func (w *watch) begin() (err error) {
	if w.steps > 0 {
		w.steps--
		w.trace, err = w.dev.StartTrace()
	}
	return err
}

// end comes after a step, and adds what was timed.
func (w *watch) end() {
	if w.trace == nil {
		return
	}
	w.trace.Stop()
	for _, t := range w.trace.Ops() {
		i := slices.IndexFunc(w.ops, func(o report.Op) bool { return o.Name == t.Op })
		if i < 0 {
			i = len(w.ops)
			w.ops = append(w.ops, report.Op{Name: t.Op})
		}
		w.ops[i].Seconds += t.Device.Seconds()
		w.ops[i].Calls++
	}
	w.trace = nil
}

// report writes the page of the run so far.
func (j *job[T]) report() error {
	records, err := metrics.Read(j.path(textrun.MetricsFile))
	if err != nil {
		return err
	}
	return report.WriteFile(j.path(textrun.ReportFile), report.Run{
		Name: filepath.Base(j.c.Out), Records: records, Config: j.c.Format(), Ops: j.watch.ops,
	})
}
