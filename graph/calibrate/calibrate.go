// Package calibrate measures the cost model of a machine, with the operations of
// kgen's own catalogue, and stores it: a graph.Model for graph.WithModel.
package calibrate

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	goruntime "runtime"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/runtime"
)

// Model returns the cost model of the device that open opens, beside the CPU. It is
// read from the user's cache folder where it was stored before, and else measured,
// which takes some seconds, and stored.
func Model(open func() (*runtime.Device, error)) (*graph.Model, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	return ModelIn(filepath.Join(cache, "kgen", "models"), open)
}

// ModelIn is Model with another folder.
func ModelIn(folder string, open func() (*runtime.Device, error)) (*graph.Model, error) {
	d, err := open()
	if err != nil {
		return nil, fmt.Errorf("calibrate: the device cannot be opened: %w", err)
	}
	defer d.Close()
	cpu, err := runtime.Open()
	if err != nil {
		return nil, fmt.Errorf("calibrate: the CPU cannot be opened: %w", err)
	}
	defer cpu.Close()
	machine := machine(d, cpu)
	hash := fnv.New64a()
	hash.Write([]byte(machine))
	path := filepath.Join(folder, fmt.Sprintf("%016x.json", hash.Sum64()))
	if m, err := graph.LoadModel(path); err == nil && m.Machine == machine {
		return m, nil
	}
	m, err := Measure(d, cpu)
	if err != nil {
		return nil, err
	}
	return m, m.Save(path)
}

// machine names what a model depends on.
func machine(d, cpu *runtime.Device) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s, %s/%s with %d CPUs; %s with %d workers beside %s with %d", host, goruntime.GOOS, goruntime.GOARCH,
		goruntime.NumCPU(), d.Name(), d.Workers(), cpu.Name(), cpu.Workers())
}

// Measure returns the cost model of a device beside the CPU.
func Measure(d, cpu *runtime.Device) (*graph.Model, error) {
	m := &graph.Model{Machine: machine(d, cpu)}
	var err error
	if m.Device, err = rates(d); err != nil {
		return nil, err
	}
	if m.CPU, err = rates(cpu); err != nil {
		return nil, err
	}
	if d.Name() != cpu.Name() {
		m.Transfer, err = link(d)
	}
	return m, err
}

// enough is how long the call should take that a rate is measured with.
const enough = 10 * time.Millisecond

// rates measures what a device does in a given time.
func rates(d *runtime.Device) (graph.Rates, error) {
	p := probe{d: d}
	const calls = 256
	one, many := p.sums(64, 1), p.sums(64, calls)
	r := graph.Rates{Call: max(many-one, 0) / (calls - 1)}
	r.Program = max(one-r.Call, 0)
	small := r.Program + r.Call
	for n := 1 << 16; n <= 1<<24; n *= 4 {
		t := p.sums(n, 1)
		r.Bytes = rate(12*float64(n), t-small) // two operands and the result, float32
		if t > enough {
			break
		}
	}
	for n := 1 << 16; n <= 1<<24; n *= 4 {
		t, flops := p.maps(n)
		r.Map = rate(flops, t-small)
		if t > enough {
			break
		}
	}
	for n := 64; n <= 4096; n *= 2 {
		t := p.product(n)
		r.Flops = rate(2*float64(n)*float64(n)*float64(n), t-small)
		if t > enough {
			break
		}
	}
	return r, p.err
}

// rate is how many per second amount is in t.
func rate(amount float64, t time.Duration) float64 {
	return amount / max(t.Seconds(), 1e-9)
}

// probe times programs; after an error it does nothing.
type probe struct {
	d   *runtime.Device
	err error
}

// sums times a program of dependent sums of n elements.
func (p *probe) sums(n, calls int) time.Duration {
	x, w := p.tensor(n), p.tensor(n)
	defer x.Close()
	defer w.Close()
	return p.time(func(b *runtime.Batch) runtime.Tensor[float32] {
		y := x
		for range calls {
			y = ops.AddDeferred(b, y, w)
		}
		return y
	})
}

// maps times GELU of n elements, and counts its operations.
func (p *probe) maps(n int) (took time.Duration, flops float64) {
	x := p.tensor(n)
	defer x.Close()
	took = p.time(func(b *runtime.Batch) runtime.Tensor[float32] { return ops.GELUDeferred(b, x) })
	s := runtime.NewSketch("calibrate", nil)
	defer s.Close()
	y := ops.GELUDeferred(s.Batch(), x)
	part, err := s.Part([]runtime.Handle{y.Untyped()}, func(runtime.Handle) bool { return false })
	if err != nil {
		if p.err == nil {
			p.err = err
		}
		return took, 0
	}
	for _, c := range part.Costs() {
		flops += float64(c.Flops)
	}
	return took, flops
}

// product times the product of two matrices of n×n.
func (p *probe) product(n int) time.Duration {
	x := p.tensor(n, n)
	defer x.Close()
	return p.time(func(b *runtime.Batch) runtime.Tensor[float32] { return ops.MatMulNNDeferred(b, x, x) })
}

func (p *probe) tensor(shape ...int) runtime.Tensor[float32] {
	if p.err != nil {
		return runtime.Tensor[float32]{}
	}
	x, err := runtime.Zeros[float32](p.d, shape...)
	p.err = err
	return x
}

// time returns the shortest of some runs of a program, after those that plan it and
// that start threads.
func (p *probe) time(record func(*runtime.Batch) runtime.Tensor[float32]) time.Duration {
	const warm, runs = 2, 5
	best := time.Duration(1<<63 - 1)
	for i := 0; i < warm+runs && p.err == nil; i++ {
		b := p.d.Batch("calibrate")
		y := record(b)
		b.Keep(y)
		start := time.Now()
		p.err = b.Sync(context.Background())
		if t := time.Since(start); i >= warm {
			best = min(best, t)
		}
		y.Close()
	}
	return best
}

// link measures the way between the host and a device.
func link(d *runtime.Device) (graph.Link, error) {
	small, err := roundTrip(d, 16)
	if err != nil {
		return graph.Link{}, err
	}
	const n = 4 << 20
	large, err := roundTrip(d, n)
	if err != nil {
		return graph.Link{}, err
	}
	return graph.Link{Latency: small / 2, Bytes: rate(2*4*n, large-small)}, nil
}

// roundTrip is the shortest time to move n elements of four bytes there and back.
func roundTrip(d *runtime.Device, n int) (time.Duration, error) {
	data := make([]float32, n)
	best := time.Duration(1<<63 - 1)
	for range 5 {
		start := time.Now()
		x, err := runtime.FromSlice(d, data, n)
		if err != nil {
			return 0, err
		}
		if err := x.ReadInto(data); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
		if err := x.Close(); err != nil {
			return 0, err
		}
	}
	return best, nil
}
