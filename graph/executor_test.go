package graph_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/runtime"
)

var errNoDevice = errors.New("no such device")

// journal collects log lines.
func journal() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})), &text
}

func wantLines(t *testing.T, log *bytes.Buffer, want ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if log.Len() == 0 {
		lines = nil
	}
	if len(lines) != len(want) {
		t.Errorf("%d log lines, want %d:\n%s", len(lines), len(want), log)
		return
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) {
			t.Errorf("log line %q does not say %q", lines[i], w)
		}
	}
}

// executor opens an executor that the test closes.
func executor(t *testing.T, open func() (*runtime.Device, error), opts ...graph.Option) *graph.Executor {
	t.Helper()
	e := must[*graph.Executor](t)(graph.Open(open, opts...))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestUnavailableDevice(t *testing.T) {
	gone := func() (*runtime.Device, error) { return nil, errNoDevice }
	_, err := graph.Open(gone)
	wantError(t, err, errNoDevice, "cannot be opened")
	log, lines := journal()
	e := executor(t, gone, graph.WithFallback(graph.OnUnavailable), graph.WithLog(log))
	g := graph.New(e, "away")
	defer g.Close()
	y := must[tensor](t)(ops.Exp(from(t, g, []float32{0, 0}, 2)))
	if c := must[graph.Decision](t)(e.ShouldUse(y)); c.Device || c.Reason != "the device is not available" {
		t.Errorf("%+v", c)
	}
	if got := must[[]float32](t)(graph.Eval(background, y)); !slices.Equal(got, []float32{1, 1}) {
		t.Errorf("%v", got)
	}
	if s := e.Stats(); s.Unavailable != 1 || s.OnCPU != 1 || s.OnDevice != 0 || s.Moved != 8 {
		t.Errorf("%+v", s)
	}
	wantLines(t, lines, "no such device")
}

// hang is a product that no device finishes within the deadline of openHasty.
func hang(t *testing.T, g *graph.Graph) tensor {
	t.Helper()
	n := 2048
	if d := openDevice(t); d.Reference() { // without cgo
		n = 640
	}
	x := from(t, g, wave(n*n), n, n)
	return must[tensor](t)(ops.MatMulNN(x, x))
}

func openHasty() (*runtime.Device, error) {
	return runtime.Open(runtime.WithDeadline(60*time.Millisecond), runtime.WithWorkers(1))
}

// A device that is lost is opened again, and what it held is computed again.
func TestLostDeviceIsOpenedAgain(t *testing.T) {
	opened := 0
	log, lines := journal()
	e := executor(t, func() (*runtime.Device, error) {
		if opened++; opened == 1 {
			return openHasty()
		}
		return runtime.Open(standard()...)
	}, graph.WithFallback(graph.OnError), graph.WithLog(log))
	g := graph.New(e, "lost")
	defer g.Close()
	s := must[tensor](t)(ops.Exp(from(t, g, []float32{0, 0}, 2)))
	must[[]float32](t)(graph.Eval(background, s))
	big := hang(t, g)
	got := must[[]float32](t)(graph.Eval(background, big))
	quiet, _ := newGraph(t)
	if want := must[[]float32](t)(graph.Eval(background, hang(t, quiet))); !slices.Equal(got, want) {
		t.Error("on the device that was opened again the product is another one")
	}
	y := must[tensor](t)(ops.Add(s, s))
	if got := must[[]float32](t)(graph.Eval(background, y)); !slices.Equal(got, []float32{2, 2}) {
		t.Errorf("of what was lost with the device: %v", got)
	}
	_, err := graph.Value(s)
	wantError(t, err, runtime.ErrLazy, "was lost with its device")
	if got := must[[]float32](t)(graph.Eval(background, s)); !slices.Equal(got, []float32{1, 1}) {
		t.Errorf("what was lost with the device, evaluated again: %v", got)
	}
	if st := e.Stats(); st.Lost != 1 || st.Reopened != 1 || st.Retried != 1 || st.Fallbacks != 0 || st.OnDevice != 4 || st.OnCPU != 0 {
		t.Errorf("%+v", st)
	}
	wantLines(t, lines, "did not finish within 60ms")
}

// A device that is lost again, or cannot be opened again, leaves the work to the CPU.
func TestFallBackToTheCPU(t *testing.T) {
	for name, open := range map[string]func(n int) (*runtime.Device, error){
		"lost again": func(int) (*runtime.Device, error) { return openHasty() },
		"gone": func(n int) (*runtime.Device, error) {
			if n > 1 {
				return nil, errNoDevice
			}
			return openHasty()
		},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			log, lines := journal()
			e := executor(t, func() (*runtime.Device, error) { opened++; return open(opened) },
				graph.WithFallback(graph.OnError), graph.WithLog(log))
			g := graph.New(e, "hung")
			defer g.Close()
			if got := must[[]float32](t)(graph.Eval(background, hang(t, g))); len(got) < 320*320 {
				t.Errorf("%d elements", len(got))
			}
			want := []string{"is opened again", "is done on the CPU"}
			s := e.Stats()
			if name == "gone" {
				want = slices.Insert(want, 1, "no such device")
				if s.Unavailable != 1 || s.Reopened != 0 {
					t.Errorf("%+v", s)
				}
			}
			if s.Lost != 1 || s.Fallbacks != 1 || s.OnCPU != 1 || s.OnDevice != 0 {
				t.Errorf("%+v", s)
			}
			wantLines(t, lines, want...)
		})
	}
}

// Evaluations that were under way on a device that another one lost end well, too.
func TestManyOnALostDevice(t *testing.T) {
	log, _ := journal()
	e := executor(t, openHasty, graph.WithFallback(graph.OnError), graph.WithLog(log))
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() {
			for round := range 20 {
				g := graph.New(e, "beside")
				x, err := graph.From(g, []float32{float32(id)}, 1)
				if err != nil {
					t.Error(err)
					return
				}
				y, err := ops.Add(x, x)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := graph.Eval(background, y); err != nil || got[0] != float32(2*id) {
					t.Errorf("goroutine %d, round %d: %v, %v", id, round, got, err)
				}
				g.Close()
			}
		})
	}
	for range 2 {
		g := graph.New(e, "hung")
		must[[]float32](t)(graph.Eval(background, hang(t, g)))
		g.Close()
	}
	wg.Wait()
	if s := e.Stats(); s.Lost == 0 || s.OnDevice+s.OnCPU < 8*20+2 {
		t.Errorf("%+v", s)
	}
}

// Without a policy an error stays one, and so does one that no device would mend.
func TestErrorsThatStay(t *testing.T) {
	e := executor(t, openHasty, graph.WithFallback(graph.OnUnavailable))
	g := graph.New(e, "hung")
	defer g.Close()
	_, err := graph.Eval(background, hang(t, g))
	wantError(t, err, runtime.ErrDeadline, `batch "hung"`, "executor_test.go:")
	if s := e.Stats(); s != (graph.Stats{Moved: s.Moved}) {
		t.Errorf("%+v", s)
	}

	log, lines := journal()
	e = executor(t, func() (*runtime.Device, error) { return runtime.Open(standard()...) }, graph.WithFallback(graph.OnError), graph.WithLog(log))
	g = graph.New(e, "fault")
	defer g.Close()
	rows := must[tensor](t)(ops.Embedding(must[graph.Tensor[int32]](t)(graph.From(g, []int32{5}, 1)), from(t, g, wave(4), 2, 2)))
	var fault *runtime.FaultError
	if _, err := graph.Eval(background, rows); !errors.As(err, &fault) {
		t.Errorf("a bad id: %v", err)
	}
	wantLines(t, lines)
}

// near and far are models of a device that pays and of one that lies behind a slow
// transfer.
func model(link graph.Link) *graph.Model {
	return &graph.Model{
		Device:   graph.Rates{Bytes: 1e12, Flops: 1e13, Map: 1e13, Call: 5 * time.Microsecond, Program: 20 * time.Microsecond},
		CPU:      graph.Rates{Bytes: 1e10, Flops: 1e11, Map: 1e10, Call: 100 * time.Nanosecond, Program: time.Microsecond},
		Transfer: link,
	}
}

func TestRouting(t *testing.T) {
	log, lines := journal()
	pci := graph.Link{Bytes: 1e10, Latency: 10 * time.Microsecond}
	e := executor(t, func() (*runtime.Device, error) { return runtime.Open(standard()...) }, graph.WithModel(model(pci)), graph.WithLog(log))
	g := graph.New(e, "routed")
	defer g.Close()
	declare := func(shape ...int) tensor { return must[tensor](t)(graph.Declare[float32](g, shape...)) }
	product := func(n int) tensor { return must[tensor](t)(ops.MatMulNN(declare(n, n), declare(n, n))) }
	for _, c := range []struct {
		what   string
		t      tensor
		device bool
	}{
		{"a small product", product(32), false},
		{"a large product", product(1024), true},
		{"a large sum", must[tensor](t)(ops.Add(declare(1<<24), declare(1<<24))), false}, // moving it takes longer
	} {
		d := must[graph.Decision](t)(e.ShouldUse(c.t))
		if d.Device != c.device || d.OnDevice <= 0 || d.OnCPU <= 0 || !strings.Contains(d.Reason, "on the CPU") {
			t.Errorf("%s: %+v", c.what, d)
		}
	}
	// 2·1024³ flops, 3 times 4 MiB; three transfers of 4 MiB in all
	d := must[graph.Decision](t)(e.ShouldUse(product(1024)))
	const moving = 30*time.Microsecond + 3*4<<20/10*time.Nanosecond
	const work = 2 << 30 / 10_000 * time.Nanosecond
	if want := 25*time.Microsecond + work + moving; absDiff(d.OnDevice, want) > 2*time.Microsecond || d.Moved != 12<<20 {
		t.Errorf("%+v, want %v on the device", d, want)
	}

	small := must[tensor](t)(ops.Exp(from(t, g, wave(8), 8)))
	must[[]float32](t)(graph.Eval(background, small))
	n := 512
	if openDevice(t).Reference() {
		n = 64
	}
	x := from(t, g, wave(n*n), n, n)
	y := must[tensor](t)(ops.MatMulNN(x, x))
	for range 6 {
		y = must[tensor](t)(ops.MatMulNN(y, x))
	}
	must[[]float32](t)(graph.Eval(background, y))
	if n == 64 {
		return // without cgo a product that is worth a transfer takes too long
	}
	if s := e.Stats(); s.Routed != 1 || s.OnCPU != 1 || s.OnDevice != 1 {
		t.Errorf("%+v", s)
	}
	// What is on the CPU is fetched when it is needed elsewhere, and counts.
	z := must[tensor](t)(ops.Add(y, y))
	before := must[graph.Decision](t)(e.ShouldUse(z))
	if before.Moved != 1<<20 { // the result alone
		t.Errorf("of what is on the device: %+v", before)
	}
	mixed := must[tensor](t)(ops.MatMulNN(must[tensor](t)(ops.Exp(y)), y))
	must[[]float32](t)(graph.Eval(background, mixed))
	wantLines(t, lines, "routed to the CPU")
}

func absDiff(a, b time.Duration) time.Duration { return max(a-b, b-a) }

// Without a link both sides read one memory.
func TestRoutingWithOneMemory(t *testing.T) {
	e := executor(t, func() (*runtime.Device, error) { return runtime.Open(standard()...) }, graph.WithModel(model(graph.Link{})))
	g := graph.New(e, "unified")
	defer g.Close()
	x := must[tensor](t)(graph.Declare[float32](g, 1<<24))
	if d := must[graph.Decision](t)(e.ShouldUse(must[tensor](t)(ops.Add(x, x)))); !d.Device {
		t.Errorf("%+v", d)
	}
}

func TestModelsAreStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "model.json")
	m := model(graph.Link{Bytes: 1e10, Latency: 3 * time.Microsecond})
	m.Machine = "here"
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if got := must[*graph.Model](t)(graph.LoadModel(path)); *got != *m {
		t.Errorf("%+v, want %+v", got, m)
	}
	m.CPU.Flops = 0
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := graph.LoadModel(path); err == nil || !strings.Contains(err.Error(), "must be positive") {
		t.Errorf("a model without a rate: %v", err)
	}
}

// An evaluation that has not begun can be taken back; one that has ends with its
// result.
func TestCancel(t *testing.T) {
	g, d := newGraph(t)
	cancelled := 0
	for i := range 500 {
		y := must[tensor](t)(ops.Exp(from(t, g, []float32{0}, 1)))
		runs := d.Stats().Runs
		f := graph.EvalAsync(y)
		if f.Cancel() {
			cancelled++
			_, err := f.Value(background)
			wantError(t, err, context.Canceled, "TestCancel")
			if n := d.Stats().Runs; n != runs {
				t.Fatalf("%d: it ran", i)
			}
			if _, err := graph.Value(y); err == nil {
				t.Fatalf("%d: it has a value", i)
			}
		} else if v := must[[]float32](t)(f.Value(background)); v[0] != 1 {
			t.Fatalf("%d: %v", i, v)
		}
		if f.Cancel() {
			t.Fatalf("%d: cancelled after its end", i)
		}
	}
	if cancelled == 0 {
		t.Error("none of 500 was cancelled before it began")
	}
}

// The end of a context ends the wait, and not the work.
func TestWaitEnds(t *testing.T) {
	g, _ := newGraph(t)
	y := hang(t, g)
	ctx, cancel := context.WithCancel(background)
	cancel()
	f := graph.EvalAsync(y)
	_, err := f.Value(ctx)
	wantError(t, err, context.Canceled, "the work goes on")
	if v := must[[]float32](t)(f.Value(background)); len(v) < 320*320 {
		t.Errorf("%d elements", len(v))
	}
	if _, err := graph.Eval(ctx, must[tensor](t)(ops.Exp(y))); !errors.Is(err, context.Canceled) {
		t.Errorf("Eval with a context that has ended: %v", err)
	}
}
