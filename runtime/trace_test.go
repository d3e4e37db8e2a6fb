package runtime_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// tracedProgram runs a batch of a known program while d is traced.
func tracedProgram(t *testing.T, d *runtime.Device, name string, x tensor) {
	t.Helper()
	b := d.Batch(name)
	y := testops.ScaleDeferred(b, x, 2)
	y = testops.MulDeferred(b, y, x)
	back := runtime.Read(b, y)
	mustSync(t, b)
	value(t, back)
}

// Each command of the programs between StartTrace and Stop is in the trace, once,
// with the call that it belongs to and with times that follow one another.
func TestTrace(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, repeat(1, 1<<16), 1<<16)
		tracedProgram(t, d, "before", x)
		started := time.Now()
		tr, err := d.StartTrace()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.StartTrace(); !errors.Is(err, runtime.ErrTracing) {
			t.Errorf("a second trace: %v", err)
		}
		tracedProgram(t, d, "first", x)
		tracedProgram(t, d, "second", x)
		tr.Stop()
		whole := time.Since(started)
		tracedProgram(t, d, "after", x)

		programs, ops := tr.Programs(), tr.Ops()
		if len(programs) != 2 || programs[0].Batch != "first" || programs[1].Batch != "second" || !programs[1].Hit {
			t.Fatalf("%s: programs %+v", d.Name(), programs)
		}
		now := time.Duration(0)
		for _, p := range programs {
			for _, at := range []time.Duration{p.Recorded, p.Planned, p.Launched, p.Done} {
				if at < now || at > whole {
					t.Errorf("%s: %+v is not in order", d.Name(), p)
				}
				now = at
			}
		}
		names, now := "", time.Duration(0)
		for _, op := range ops {
			names += op.Op + " "
			p := programs[op.Program]
			if op.Start < now || op.Device <= 0 || op.Queue < 0 || op.Start+op.Device > p.Done {
				t.Errorf("%s: %+v, program %+v", d.Name(), op, p)
			}
			now = op.Start + op.Device
			if kernel := op.Op == "scale" || op.Op == "mul"; kernel && (!strings.HasSuffix(op.Site.File, "trace_test.go") || op.Record <= 0) {
				t.Errorf("%s: %+v", d.Name(), op)
			}
		}
		if want := strings.Repeat("scale mul read ", 2); names != want {
			t.Errorf("%s: %s, want %s", d.Name(), names, want)
		}
	})
}

// The file is what Chrome's trace viewer reads: complete events with microseconds,
// one row for the host and one for the device.
func TestTraceFile(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, repeat(1, 64), 64)
		tr, err := d.StartTrace()
		if err != nil {
			t.Fatal(err)
		}
		tracedProgram(t, d, "step", x)
		tr.Stop()
		var file bytes.Buffer
		n, err := tr.WriteTo(&file)
		if err != nil || n != int64(file.Len()) {
			t.Fatal(n, file.Len(), err)
		}
		var got struct {
			TraceEvents []struct {
				Name, Ph string
				Tid      int
				Ts, Dur  float64
				Args     map[string]any
			}
		}
		if err := json.Unmarshal(file.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		rows := map[int]string{}
		var host, device []string
		for _, e := range got.TraceEvents {
			switch {
			case e.Ph == "M":
				rows[e.Tid] = e.Args["name"].(string)
			case e.Ph != "X" || e.Ts < 0 || e.Dur < 0:
				t.Errorf("event %+v", e)
			case rows[e.Tid] == "host":
				host = append(host, e.Name)
			default:
				device = append(device, rows[e.Tid]+": "+e.Name+" "+e.Args["batch"].(string))
			}
		}
		if h := strings.Join(host, ", "); h != "record step, launch step, run step" {
			t.Errorf("host: %s", h)
		}
		name := d.Name()
		if s, want := strings.Join(device, ", "), name+": scale step, "+name+": mul step, "+name+": read step"; s != want {
			t.Errorf("device: %s, want %s", s, want)
		}
	})
}

// A program that failed on the device is in the trace without commands, and later
// ones are as before.
func TestTraceOfAFailedProgram(t *testing.T) {
	onDoubles(t, func(t *testing.T, open doubleOpener) {
		d, b := open(t, 0)
		x := from(t, d, repeat(1, 64), 64)
		tr, err := d.StartTrace()
		if err != nil {
			t.Fatal(err)
		}
		b.fail(1, errors.New("lost"))
		r := d.Batch("lost")
		runtime.Read(r, testops.ScaleDeferred(r, x, 2))
		if err := r.Sync(background); err == nil {
			t.Fatal("no error")
		}
		tr.Stop()
		tr.Stop()
		if p := tr.Programs(); len(p) != 1 || len(tr.Ops()) != 0 {
			t.Errorf("programs %+v, ops %+v", p, tr.Ops())
		}
	})
}

// An execution trace of Go has a region for each Sync and for each recorded call.
// Their names stand in the trace as strings.
func TestRegions(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, repeat(1, 64), 64)
		var out bytes.Buffer
		if err := trace.Start(&out); err != nil {
			t.Fatal(err)
		}
		tracedProgram(t, d, "regional", x)
		trace.Stop()
		for _, name := range []string{"sync regional", "record scale", "record mul"} {
			if !bytes.Contains(out.Bytes(), []byte(name)) {
				t.Errorf("no region %q", name)
			}
		}
	})
}

// Samples of a CPU profile that are taken in a traced Sync carry the batch's name. It
// is about the CPU device, where the samples are.
func TestProfileLabels(t *testing.T) {
	d := open(t, runtime.WithWorkers(1))
	x := from(t, d, repeat(1, 1<<20), 1<<20)
	tr, err := d.StartTrace()
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Stop()
	var out bytes.Buffer
	if err := pprof.StartCPUProfile(&out); err != nil {
		t.Fatalf("%v: run this test without -cpuprofile", err)
	}
	for start := time.Now(); time.Since(start) < 500*time.Millisecond; {
		tracedProgram(t, d, "labelled", x)
	}
	pprof.StopCPUProfile()
	if text := inflate(t, out.Bytes()); !bytes.Contains(text, []byte("labelled")) {
		t.Error("no sample has the label")
	}
}

// inflate returns the contents of a gzip file.
func inflate(t *testing.T, file []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
