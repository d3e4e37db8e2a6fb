package programs

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// forward records the loss of the stack and reads it.
func (m *tcn) forward(t testing.TB, b *runtime.Batch, x tensor) *runtime.Readback[float32] {
	return runtime.Read(b, m.loss(b, x))
}

// gated records the mean of x + (silu(x·w)·(x·w))·wᵀ for each weight in turn, the
// gated layers of a transformer, and reads it.
func (m *tcn) gated(t testing.TB, b *runtime.Batch, x tensor) *runtime.Readback[float32] {
	for i := range m.blocks {
		w := m.params[6*i+4] // hidden, width
		up, gate := ops.MatMulNTDeferred(b, x, w), ops.MatMulNTDeferred(b, ops.TanhDeferred(b, x), w)
		x = ops.ResidualAddDeferred(b, ops.MatMulNNDeferred(b, ops.SwiGLUDeferred(b, gate, up), w), x)
	}
	return runtime.Read(b, ops.MeanDeferred(b, x))
}

// Computing results in the memory of operands takes less memory than computing them
// apart where they are what takes most, elsewhere no more (but for what a layout loses,
// less than a thousandth), and gives the same bits.
func TestMemoryInPlace(t *testing.T) {
	small := sizes{blocks: 3, batch: 2, length: 16, width: 24, hidden: 40}
	large := sizes{blocks: 12, batch: 32, length: 128, width: 256, hidden: 512}
	for _, c := range []struct {
		name   string
		record func(*tcn, testing.TB, *runtime.Batch, tensor) *runtime.Readback[float32]
		less   bool
	}{{"gated layers", (*tcn).gated, true}, {"forward", (*tcn).forward, false}, {"step", (*tcn).step, false}} {
		var total [2]int64
		var losses [2]float32
		for i, without := range [][]string{{"fuse"}, {"fuse", "inplace"}} {
			d := open(t, runtime.WithoutPasses(without...))
			m, b := newTCN(t, d, large), d.Batch(c.name)
			c.record(m, t, b, m.input(t, d))
			total[i], _ = plan(t, b)
			b.Discard()

			m, b = newTCN(t, d, small), d.Batch(c.name)
			loss := c.record(m, t, b, m.input(t, d))
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			losses[i], _ = loss.Scalar()
		}
		t.Logf("%s: %.1f MiB in place, %.1f MiB apart", c.name, float64(total[0])/(1<<20), float64(total[1])/(1<<20))
		if total[0] > total[1]+total[1]/1000 || c.less && total[0] == total[1] {
			t.Errorf("%s: %d bytes in place, %d apart", c.name, total[0], total[1])
		}
		if losses[0] != losses[1] || math.IsNaN(float64(losses[0])) {
			t.Errorf("%s: the loss is %v in place, %v apart", c.name, losses[0], losses[1])
		}
	}
}

var inPlace = regexp.MustCompile(`(\d+) results? in the memory of an operand`)

// resultsInPlace returns how many results lie in the memory of an operand.
func resultsInPlace(t testing.TB, b *runtime.Batch) int {
	t.Helper()
	text, err := b.Explain()
	if err != nil {
		t.Fatal(err)
	}
	found := inPlace.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// A result takes over an operand of its own type only, and of two results each takes
// over another one.
func TestInPlacePrograms(t *testing.T) {
	for _, c := range []struct {
		name    string
		results int
		record  func(b *runtime.Batch, x tensor) tensor
	}{
		{"f32 and bf16", 2, func(b *runtime.Batch, x tensor) tensor {
			narrow := ops.CastDeferred[runtime.BFloat16](b, x)
			wide := ops.CastDeferred[float32](b, ops.SiLUDeferred(b, narrow)) // silu in place
			return ops.SoftmaxDeferred(b, wide)                               // in place
		}},
		{"two results", 6, func(b *runtime.Batch, x tensor) tensor {
			p, q := ops.ScaleDeferred(b, x, 0.5), ops.ScaleDeferred(b, x, 2)
			y := ops.SwiGLUDeferred(b, p, q)
			return runtime.As[float32](b.Grad(ops.MeanDeferred(b, ops.SquareDeferred(b, y)), x)[0])
		}},
	} {
		var got [2][]float32
		for i, opts := range [][]runtime.Option{nil, {runtime.WithoutPasses("inplace")}} {
			d := open(t, opts...)
			x := values(t, d, func(i int) float32 { return float32(i%23)/8 - 1 }, 37, 129)
			b := d.Batch(c.name)
			r := runtime.Read(b, c.record(b, x))
			if n := resultsInPlace(t, b); n != c.results && i == 0 || n != 0 && i == 1 {
				text, _ := b.Explain()
				t.Errorf("%s: %d results in place\n%s", c.name, n, text)
			}
			if err := b.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			got[i], _ = r.Value()
		}
		for i, v := range got[0] {
			if v != got[1][i] {
				t.Fatalf("%s: element %d is %v in place, %v apart", c.name, i, v, got[1][i])
			}
		}
	}
}

// BenchmarkInPlace runs programs with results in the memory of operands and with all
// results apart, in turn. It reports the median time of each, and apart/inplace: above
// 1, computing in place pays.
func BenchmarkInPlace(b *testing.B) {
	chain := func(n int) func(*runtime.Batch, tensor) {
		return func(b *runtime.Batch, x tensor) {
			y := x
			for range n {
				y = ops.ResidualAddDeferred(b, y, x)
			}
			runtime.Read(b, ops.SumDeferred(b, y))
		}
	}
	softmax := func(b *runtime.Batch, x tensor) {
		y := x
		for range 4 {
			y = ops.SoftmaxDeferred(b, ops.ScaleDeferred(b, y, 2))
		}
		runtime.Read(b, ops.SumDeferred(b, y))
	}
	gradient := func(b *runtime.Batch, x tensor) {
		y := ops.GELUDeferred(b, ops.ResidualAddDeferred(b, ops.ScaleDeferred(b, x, 2), x))
		runtime.Read(b, ops.SumDeferred(b, runtime.As[float32](b.Grad(ops.MeanDeferred(b, y), x)[0])))
	}
	for _, c := range []struct {
		name   string
		record func(*runtime.Batch, tensor)
	}{{"adds", chain(20)}, {"softmax", softmax}, {"gradient", gradient}} {
		for _, n := range []int{64, 1024, 4096} {
			b.Run(fmt.Sprintf("%s/%dx%d", c.name, n, n), func(b *testing.B) {
				var runs []func() time.Duration
				for _, without := range [][]string{{"fuse"}, {"fuse", "inplace"}} {
					d := open(b, runtime.WithoutPasses(without...))
					x := values(b, d, func(i int) float32 { return float32(i%23)/8 - 1 }, n, n)
					batch := d.Batch(c.name)
					runs = append(runs, func() time.Duration {
						c.record(batch, x)
						start := time.Now()
						if err := batch.Sync(context.Background()); err != nil {
							b.Fatal(err)
						}
						return time.Since(start)
					})
				}
				median := inTurn(b, runs...)
				b.ReportMetric(float64(median[0].Nanoseconds())/1e6, "inplace-ms")
				b.ReportMetric(float64(median[1].Nanoseconds())/1e6, "apart-ms")
				b.ReportMetric(float64(median[1])/float64(median[0]), "apart/inplace")
			})
		}
	}
}
