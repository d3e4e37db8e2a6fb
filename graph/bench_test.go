package graph_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
)

// What evaluating a graph takes with a call that waits and with a future, in turn: the
// medians, and by how much the future is more.
func BenchmarkEval(b *testing.B) {
	small := func(g *graph.Graph) tensor {
		x := from(b, g, wave(64), 64)
		for range 3 {
			x = must[tensor](b)(ops.Add(x, x))
		}
		return x
	}
	large := func(g *graph.Graph) tensor {
		x := from(b, g, wave(512*512), 512, 512)
		y := x
		for range 8 {
			y = must[tensor](b)(ops.MatMulNN(y, x))
		}
		return y
	}
	for _, c := range []struct {
		name  string
		build func(*graph.Graph) tensor
	}{{"three adds of 64", small}, {"eight products of 512", large}} {
		b.Run(c.name, func(b *testing.B) {
			exec := graph.On(openDevice(b))
			var times [2][]time.Duration
			for b.Loop() {
				for async := range times {
					g := graph.New(exec, "bench")
					y := c.build(g)
					start := time.Now()
					var err error
					if async == 1 {
						_, err = graph.EvalAsync(y).Value(background)
					} else {
						_, err = graph.Eval(background, y)
					}
					times[async] = append(times[async], time.Since(start))
					if err != nil {
						b.Fatal(err)
					}
					g.Close()
				}
			}
			sync, async := median(times[0]), median(times[1])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(sync.Nanoseconds()), "sync-ns")
			b.ReportMetric(float64(async.Nanoseconds()), "async-ns")
			b.ReportMetric(float64((async - sync).Nanoseconds()), "more-ns")
			b.ReportMetric(100*float64(async-sync)/float64(sync), "more-%")
		})
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
