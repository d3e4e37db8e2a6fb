package calibrate

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/runtime"
)

// Products, sums and activations of the sizes that decide where work should run:
// what they take on the CPU device, what the model of this machine says that they
// take, and what it says of a device behind a transfer, for operands on the host and a
// result that goes back there. That device is on paper: 3.3 TB/s, 50 TFLOP/s, 10 of them where each element is alone, and
// 2.5 µs a call, behind 25 GB/s and 10 µs.
func BenchmarkRouting(b *testing.B) {
	d, err := runtime.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	r, err := rates(d)
	if err != nil {
		b.Fatal(err)
	}
	m := &graph.Model{
		CPU:      r,
		Device:   graph.Rates{Bytes: 3.3e12, Flops: 50e12, Map: 10e12, Call: 2500 * time.Nanosecond, Program: 10 * time.Microsecond},
		Transfer: graph.Link{Bytes: 25e9, Latency: 10 * time.Microsecond},
	}
	exec := graph.On(d, graph.WithModel(m))
	type tensor = runtime.Tensor[float32]
	binary := func(op func(x, y tensor) (tensor, error)) func(...tensor) (tensor, error) {
		return func(in ...tensor) (tensor, error) { return op(in[0], in[1]) }
	}
	product := func(in ...tensor) (tensor, error) { return ops.MatMulNN(in[0], in[1]) }
	fused := func(in ...tensor) (tensor, error) { return ops.FusedMatMulAddGELUNN(in[0], in[1], in[2]) }
	for _, c := range []struct {
		name   string
		call   func(...tensor) (tensor, error)
		shapes [][]int
	}{
		{"matmul 1024", product, [][]int{{1024, 1024}, {1024, 1024}}},
		{"matmul 2048", product, [][]int{{2048, 2048}, {2048, 2048}}},
		{"matmul 4096", product, [][]int{{4096, 4096}, {4096, 4096}}},
		{"add 1M", binary(ops.Add[float32]), [][]int{{1e6}, {1e6}}},
		{"add 10M", binary(ops.Add[float32]), [][]int{{1e7}, {1e7}}},
		{"add 100M", binary(ops.Add[float32]), [][]int{{1e8}, {1e8}}},
		{"gelu 1M", func(in ...tensor) (tensor, error) { return ops.GELU(in[0]) }, [][]int{{1e6}}},
		{"matmul+add+gelu 1024", fused, [][]int{{1024, 1024}, {1024, 1024}, {1024}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := graph.New(exec, c.name)
			defer g.Close()
			var there, lazy []tensor
			for _, s := range c.shapes {
				x, err := runtime.Zeros[float32](d, s...)
				if err != nil {
					b.Fatal(err)
				}
				defer x.Close()
				declared, err := graph.Declare[float32](g, s...)
				if err != nil {
					b.Fatal(err)
				}
				there, lazy = append(there, x), append(lazy, declared)
			}
			y, err := c.call(lazy...)
			if err != nil {
				b.Fatal(err)
			}
			decision, err := exec.ShouldUse(y)
			if err != nil {
				b.Fatal(err)
			}
			best := time.Duration(1<<63 - 1)
			for b.Loop() {
				start := time.Now()
				y, err := c.call(there...)
				best = min(best, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
				y.Close()
			}
			b.ReportMetric(0, "ns/op")
			ms := func(t time.Duration, name string) { b.ReportMetric(t.Seconds()*1e3, name) }
			ms(best, "cpu-ms")
			ms(decision.OnCPU, "predicted-cpu-ms")
			ms(decision.OnDevice, "predicted-device-ms")
			b.ReportMetric(float64(decision.Moved)/1e6, "moved-MB")
		})
	}
}
