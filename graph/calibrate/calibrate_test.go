package calibrate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/runtime"
)

// A model is measured once and read after that. What it predicts for products and
// sums is not far from what they take.
func TestModel(t *testing.T) {
	folder := t.TempDir()
	opened := 0
	open := func() (*runtime.Device, error) { opened++; return runtime.Open() }
	m, err := ModelIn(folder, open)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *m)
	for _, r := range []graph.Rates{m.Device, m.CPU} {
		if r.Bytes < 1e6 || r.Bytes > 1e13 || r.Flops < 1e6 || r.Flops > 1e15 || r.Map < 1e5 || r.Map > 1e14 || r.Call < 0 || r.Call > time.Millisecond || r.Program > time.Millisecond {
			t.Errorf("rates %+v", r)
		}
	}
	if m.Transfer != (graph.Link{}) {
		t.Errorf("a transfer between the CPU and itself: %+v", m.Transfer)
	}
	again, err := ModelIn(folder, open)
	if err != nil || *again != *m {
		t.Errorf("%+v, %v, want what was stored: %+v", again, err, m)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{}"), 0o666); err != nil { // it is measured again
		t.Fatal(err)
	}
	d, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Reference() {
		return
	}
	if m, err = ModelIn(folder, open); err != nil {
		t.Fatal(err)
	}
	g := graph.New(graph.On(d, graph.WithModel(m)), "predicted")
	defer g.Close()
	for _, n := range []int{256, 1024} {
		x, err := graph.Declare[float32](g, n, n)
		if err != nil {
			t.Fatal(err)
		}
		y, err := ops.MatMulNN(x, x)
		if err != nil {
			t.Fatal(err)
		}
		c, err := graph.On(d, graph.WithModel(m)).ShouldUse(y)
		if err != nil {
			t.Fatal(err)
		}
		p := probe{d: d}
		if took := p.product(n); p.err != nil || c.OnDevice > 10*took || took > 10*c.OnDevice {
			t.Errorf("a product of %d takes %v, predicted %v (%v)", n, took, c.OnDevice, p.err)
		}
	}
}

func TestLink(t *testing.T) {
	d, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err := link(d)
	if err != nil || l.Bytes < 1e7 || l.Latency <= 0 || l.Latency > 10*time.Millisecond {
		t.Errorf("%+v, %v", l, err)
	}
	if n := d.Stats().Tensors; n != 0 {
		t.Errorf("%d tensors are left", n)
	}
}
