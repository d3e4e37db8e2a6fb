package programs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// sequence records calls on square matrices of side n.
type sequence func(b *runtime.Batch, x, w, bias, gamma, beta tensor) tensor

// BenchmarkFusion runs what specs fuse as one kernel, and as the calls that it does
// the work of, in turn. It reports the median time of each, and unfused/fused: above
// 1, fusing pays.
func BenchmarkFusion(b *testing.B) {
	for _, c := range []struct {
		name            string
		fused, separate sequence
	}{
		{
			"matmul_bias_gelu",
			func(b *runtime.Batch, x, w, bias, _, _ tensor) tensor {
				return ops.MatMulBiasGELUNNDeferred(b, x, w, bias)
			},
			func(b *runtime.Batch, x, w, bias, _, _ tensor) tensor {
				return ops.GELUDeferred(b, ops.MatMulBiasNNDeferred(b, x, w, bias))
			},
		},
		{
			"gelu_matmul_bias",
			func(b *runtime.Batch, x, w, bias, _, _ tensor) tensor {
				return ops.GELUMatMulBiasNDeferred(b, x, w, bias)
			},
			func(b *runtime.Batch, x, w, bias, _, _ tensor) tensor {
				return ops.MatMulBiasNNDeferred(b, ops.GELUDeferred(b, x), w, bias)
			},
		},
		{
			"layernorm_gelu_matmul_bias",
			func(b *runtime.Batch, x, w, bias, gamma, beta tensor) tensor {
				y, _, _ := ops.LayerNormGELUMatMulBiasNDeferred(b, x, gamma, beta, w, bias, ops.LayerNormEps)
				return y
			},
			func(b *runtime.Batch, x, w, bias, gamma, beta tensor) tensor {
				y, _, _ := ops.LayerNormDeferred(b, x, gamma, beta, ops.LayerNormEps)
				return ops.MatMulBiasNNDeferred(b, ops.GELUDeferred(b, y), w, bias)
			},
		},
	} {
		for _, n := range []int{512, 1024, 2048} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) { fusion(b, n, c.fused, c.separate) })
		}
	}
}

func fusion(b *testing.B, n int, sequences ...sequence) {
	d := open(b, runtime.WithoutPasses("fuse"))
	some := func(i int) float32 { return float32(i%13)/13 - 0.5 }
	x, w := values(b, d, some, n, n), values(b, d, some, n, n)
	bias, gamma, beta := values(b, d, some, n), values(b, d, some, n), values(b, d, some, n)
	r := d.Batch("fusion")
	run := func(s sequence) time.Duration {
		y := s(r, x, w, bias, gamma, beta)
		r.Keep(y)
		start := time.Now()
		if err := r.Sync(context.Background()); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		if err := y.Close(); err != nil {
			b.Fatal(err)
		}
		return took
	}
	median := inTurn(b, func() time.Duration { return run(sequences[0]) }, func() time.Duration { return run(sequences[1]) })
	b.ReportMetric(float64(median[0].Microseconds())/1e3, "fused-ms")
	b.ReportMetric(float64(median[1].Microseconds())/1e3, "unfused-ms")
	b.ReportMetric(float64(median[1])/float64(median[0]), "unfused/fused")
}

// inTurn runs two things in turn, once to warm up and then b.N times, and returns the
// median of the times that each gives.
func inTurn(b *testing.B, runs ...func() time.Duration) (median [2]time.Duration) {
	for _, run := range runs {
		run()
	}
	var times [2][]time.Duration
	b.ResetTimer()
	for range b.N {
		for i, run := range runs {
			times[i] = append(times[i], run())
		}
	}
	for i := range times {
		slices.Sort(times[i])
		median[i] = times[i][len(times[i])/2]
	}
	return median
}

// A product is fused with what follows it where that saves time: where it is short.
func TestFusesShortProducts(t *testing.T) {
	d := open(t)
	if d.Reference() {
		return
	}
	for depth, fused := range map[int]bool{64: true, 512: false} {
		some := func(i int) float32 { return float32(i%13)/13 - 0.5 }
		x, w, bias := values(t, d, some, 256, depth), values(t, d, some, depth, 256), values(t, d, some, 256)
		b := d.Batch("depth")
		b.Keep(ops.GELUDeferred(b, ops.MatMulBiasNNDeferred(b, x, w, bias)))
		text, err := b.Explain()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text, "matmul_bias_gelu"); got != fused {
			t.Errorf("depth %d: fused %v, want %v\n%s", depth, got, fused, text)
		}
		b.Discard()
	}
}
