//go:build cgo

package runtime_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/backend"
	"github.com/kernelgen/kgen/runtime/internal/cpu"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// A program is handed over, run and awaited in one crossing of cgo; without a
// wait, in one to submit it and one to wait.
func TestOneCallForAProgram(t *testing.T) {
	d := open(t)
	c := runtime.BackendOf(d).(*cpu.Device)
	x := from(t, d, sequence(8), 8)
	b := d.Batch("program")
	record := func() {
		y := x
		for range 100 {
			y = testops.ScaleDeferred(b, y, 1)
		}
		runtime.Read(b, y)
	}
	record()
	mustSync(t, b)
	before := c.Calls()
	record()
	mustSync(t, b)
	if n := c.Calls() - before; n != 1 {
		t.Errorf("Sync entered C %d times, want once", n)
	}
	record()
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if n := c.Calls() - before; n != 3 {
		t.Errorf("Sync that can be cancelled entered C %d times, want twice", n-1)
	}
}

func TestInstructionSets(t *testing.T) {
	found := 0
	for want, name := range []string{"baseline", "avx2", "avx512"} {
		d, err := runtime.Open(runtime.WithISA(name))
		if err != nil {
			if name == "baseline" {
				t.Error(err)
			}
			continue // this machine lacks it
		}
		found++
		b := d.Batch("isa")
		r := runtime.Read(b, testops.ISADeferred(b))
		mustSync(t, b)
		wantEqual(t, name, value(t, r), []int32{int32(want)})
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	d := open(t)
	b := d.Batch("isa")
	r := runtime.Read(b, testops.ISADeferred(b))
	mustSync(t, b)
	wantEqual(t, "the default", value(t, r), []int32{int32(found - 1)})
}

// Small kernels run on the calling thread; only a large one starts workers.
func TestWorkersStartForLargeKernels(t *testing.T) {
	d := open(t, runtime.WithWorkers(3))
	c := runtime.BackendOf(d).(*cpu.Device)
	b := d.Batch("work")
	for _, s := range []struct{ n, threads int }{{64, 0}, {4096, 0}, {1 << 20, 2}} {
		runtime.Read(b, testops.FillDeferred(b, 1, s.n))
		mustSync(t, b)
		if got := c.Threads(); got != s.threads {
			t.Errorf("%d elements: %d threads beside the caller, want %d", s.n, got, s.threads)
		}
	}
}

// Only the kernels for what was asked are in the program.
func TestGradientsThatNobodyAsksFor(t *testing.T) {
	d := open(t, runtime.WithWorkers(1))
	x, w := from(t, d, sequence(1<<16), 1<<16), from(t, d, sequence(1<<16), 1<<16)
	peak := func(params ...runtime.Operand) int64 {
		b := d.Batch("some")
		g := b.Grad(testops.SumDeferred(b, testops.MulDeferred(b, x, w)), params...)
		for _, h := range g {
			b.Keep(h)
		}
		before := d.Stats().Pool.Live
		mustSync(t, b)
		return d.Stats().Pool.Live - before
	}
	if one, two := peak(x), peak(x, w); one != 1<<18 || two != 1<<19 {
		t.Errorf("gradients take %d and %d bytes", one, two)
	}
}

// launches counts the commands of the programs that are built on it.
type launches struct {
	backend.Backend
	n int
}

func (l *launches) Build(p *backend.Program) (backend.Code, error) {
	l.n += len(p.Commands)
	return l.Backend.Build(p)
}

// C023: what has no elements is launched nowhere; the sum over nothing is.
func TestC023NothingIsLaunched(t *testing.T) {
	var l *launches
	d, err := runtime.OpenCPUOn(func(b backend.Backend) backend.Backend { l = &launches{Backend: b}; return l })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := from[float32](t, d, nil, 0, 5)
	b := d.Batch("empty")
	y := testops.MulDeferred(b, testops.ScaleDeferred(b, x, 2), x)
	filled := testops.FillDeferred(b, 1, 3, 0)
	b.Keep(y, filled)
	mustSync(t, b)
	if l.n != 0 {
		t.Errorf("%d commands for tensors without elements", l.n)
	}
	total := testops.SumDeferred(b, y)
	b.Keep(total)
	mustSync(t, b)
	wantEqual(t, "the sum over nothing", contents(t, total), []float32{0})
	if l.n == 0 {
		t.Error("no command for the sum over nothing")
	}
}
