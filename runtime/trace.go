package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"time"
)

// ErrTracing is the error of StartTrace on a device that is traced already.
var ErrTracing = errors.New("a trace is running")

// Trace is a record of what a device did between StartTrace and Stop. Its times
// count from StartTrace.
type Trace struct {
	d        *Device
	started  time.Time
	origin   int64 // StartTrace on the backend's clock
	stopped  bool
	programs []ProgramTime
	ops      []OpTime
}

// ProgramTime is one program of a batch: what the host did for it. Device times
// are those of its OpTimes.
type ProgramTime struct {
	Batch    string
	Recorded time.Duration // its first call was recorded
	Planned  time.Duration // it was handed over to be planned and launched
	Launched time.Duration // the device has it
	Done     time.Duration // it is complete, and the host knows
	Hit      bool          // its plan was found in the cache
}

// OpTime is one command on the device: a kernel, a copy or a fill.
type OpTime struct {
	Program int    // position in Programs
	Op      string // operation, as recorded; of a fused call the last it stands for
	Command string // kernel symbol, or what the device does
	Site    Site   // where the call was made

	Record time.Duration // time that recording the call took, 0 for calls without a kernel
	Queue  time.Duration // from the launch of its program to its start
	Start  time.Duration
	Device time.Duration // time that the device worked on it
}

// callTime is how long it took to record a call.
type callTime struct {
	rec        int32
	start, end time.Time
}

// StartTrace starts to record times, until Stop. It is meant for looking at a few
// steps: each command costs a reading of the clock and the memory of an OpTime. While
// it runs, samples of a CPU profile that are taken in Sync carry the label "batch".
// One trace runs at a time.
//
// In an execution trace of Go (package runtime/trace), Sync and the recording of
// calls are regions, with and without StartTrace.
func (d *Device) StartTrace() (*Trace, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, opError("trace", ErrClosed, "the device is closed")
	case d.trace.Load() != nil:
		return nil, opError("trace", ErrTracing, "the device is traced already: stop that trace first")
	}
	t := &Trace{d: d, started: time.Now(), origin: d.backend.Now()}
	d.trace.Store(t)
	return t, nil
}

// Stop ends the trace. Programs that are not complete are not in it.
func (t *Trace) Stop() {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.stopped {
		t.stopped = true
		t.d.trace.Store(nil)
	}
}

// Programs returns the programs that completed, in the order of their completion.
func (t *Trace) Programs() []ProgramTime {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return slices.Clone(t.programs)
}

// Ops returns what the device did, in the order in which it did it.
func (t *Trace) Ops() []OpTime {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return slices.Clone(t.ops)
}

func (t *Trace) since(at time.Time) time.Duration { return max(at.Sub(t.started), 0) }

// traceTime is now while the device is traced, and zero otherwise.
func (d *Device) traceTime() time.Time {
	if d.trace.Load() == nil {
		return time.Time{}
	}
	return time.Now()
}

// noteCall notes how long it took to record the call at position rec.
func (r *run) noteCall(rec int32, start time.Time) {
	r.calls = append(r.calls, callTime{rec, start, time.Now()})
}

// note adds a complete program. The caller holds d.mu.
func (t *Trace) note(r *run) {
	p := ProgramTime{
		Batch: r.batch, Planned: t.since(r.planned), Launched: t.since(r.launched), Done: t.since(time.Now()), Hit: r.hit,
	}
	p.Recorded = p.Planned
	record := map[int32]time.Duration{}
	for _, c := range r.calls {
		if c.rec >= r.from && c.rec < r.end {
			p.Recorded = min(p.Recorded, t.since(c.start))
			record[c.rec] = c.end.Sub(c.start)
		}
	}
	n := len(t.programs)
	t.programs = append(t.programs, p)
	if r.result.Err != nil || r.result.Skipped {
		return // the device did nothing that counts
	}
	times := r.inst.Times()
	for i := range r.plan.cmds {
		cmd := &r.plan.cmds[i]
		start, end := time.Duration(times[i]-t.origin), time.Duration(times[i+1]-t.origin)
		if start == end {
			continue // it did not run
		}
		op := OpTime{Program: n, Op: cmd.Name, Command: cmd.Name, Start: start, Device: end - start, Queue: max(start-p.Launched, 0)}
		if at := r.from + cmd.Op; at < r.end {
			rec := &r.recs[at]
			op.Op, op.Site, op.Record = rec.name(), rec.where(), record[at]
		}
		t.ops = append(t.ops, op)
	}
}

// traceEvent is an event of the trace event format that Chrome and Perfetto read.
// Times are in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Time  float64        `json:"ts"`
	Dur   float64        `json:"dur,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// The rows of a trace file.
const (
	hostRow = 1 + iota
	deviceRow
)

// WriteTo writes the trace as a file for chrome://tracing or ui.perfetto.dev, with
// a row for the host and one for the device.
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	text, err := json.Marshal(struct {
		Events []traceEvent `json:"traceEvents"`
	}{t.events()})
	if err != nil {
		return 0, fmt.Errorf("trace: %w", err)
	}
	n, err := w.Write(text)
	return int64(n), err
}

func (t *Trace) events() []traceEvent {
	ops := t.Ops()
	programs := t.Programs() // after the ops: if the trace still runs, none lacks its program
	events := []traceEvent{rowName(hostRow, "host"), rowName(deviceRow, t.d.Name())}
	for _, p := range programs {
		for _, part := range []struct {
			name       string
			start, end time.Duration
		}{
			{"record", p.Recorded, p.Planned}, {"launch", p.Planned, p.Launched}, {"run", p.Launched, p.Done},
		} {
			events = append(events, bar(hostRow, part.name+" "+p.Batch, part.start, part.end, map[string]any{"cached": p.Hit}))
		}
	}
	for _, op := range ops {
		args := map[string]any{
			"batch": programs[op.Program].Batch, "command": op.Command,
			"record_us": micros(op.Record), "queue_us": micros(op.Queue),
		}
		if op.Site.File != "" {
			args["site"] = op.Site.String()
		}
		events = append(events, bar(deviceRow, op.Op, op.Start, op.Start+op.Device, args))
	}
	return events
}

func rowName(row int, name string) traceEvent {
	return traceEvent{Name: "thread_name", Phase: "M", PID: 1, TID: row, Args: map[string]any{"name": name}}
}

func bar(row int, name string, start, end time.Duration, args map[string]any) traceEvent {
	return traceEvent{Name: name, Phase: "X", PID: 1, TID: row, Time: micros(start), Dur: micros(end - start), Args: args}
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// traced runs f as a region of Go's execution trace where one is taken, and with
// the label "batch" while the device is traced.
func (b *Batch) traced(ctx context.Context, what string, f func(ctx context.Context) error) (err error) {
	if trace.IsEnabled() {
		defer trace.StartRegion(ctx, what+" "+b.name).End()
	}
	if b.d == nil || b.d.trace.Load() == nil {
		return f(ctx)
	}
	pprof.Do(ctx, pprof.Labels("batch", b.name), func(ctx context.Context) { err = f(ctx) })
	return err
}
