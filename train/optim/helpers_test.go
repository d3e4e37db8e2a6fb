package optim_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

// must returns a function that ends the test on an error.
func must[V any](t testing.TB) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func open(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d := must[*runtime.Device](t)(runtime.Open(append(opts, runtime.WithWorkers(2))...))
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func linear[T nn.Float](t testing.TB, d *runtime.Device, seed uint64, in, out int) *nn.Linear[T] {
	t.Helper()
	return must[*nn.Linear[T]](t)(nn.NewLinear[T](d, nn.NewRand(seed), in, out))
}

func newOptimizer(t testing.TB, params []nn.Named, c optim.Config) *optim.Optimizer {
	t.Helper()
	return must[*optim.Optimizer](t)(optim.New(params, c))
}

// pull records a loss whose gradient is given: Σ w·g over parameters.
func pull[T nn.Float](t testing.TB, b *runtime.Batch, params []nn.Named, grads map[string][]float32) runtime.Tensor[float32] {
	t.Helper()
	var loss runtime.Tensor[float32]
	for _, p := range params {
		w := runtime.As[T](p.Operand())
		g := must[runtime.Tensor[T]](t)(runtime.FromSlice(b.Device(), nn.Round[T](grads[p.Name]), w.Shape()...))
		part := ops.DotDeferred(b, w, g)
		if loss.Untyped().IsZero() {
			loss = part
		} else {
			loss = ops.AddDeferred(b, loss, part)
		}
	}
	return loss
}

// step runs a step on given gradients.
func step[T nn.Float](t testing.TB, o *optim.Optimizer, params []nn.Named, grads map[string][]float32, rate float32) *optim.Report {
	t.Helper()
	b := params[0].Master().Device().Batch("step")
	r := must[*optim.Report](t)(o.Step(b, pull[T](t, b, params, grads), rate))
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// snapshot returns all that a step may change, by name, as bytes: masters, what layers
// read, and the state.
func snapshot(t testing.TB, o *optim.Optimizer, params []nn.Named) map[string][]byte {
	t.Helper()
	handles := must[map[string]runtime.Handle](t)(o.State("optim."))
	for _, p := range params {
		handles["master."+p.Name] = p.Master().Untyped()
		handles["operand."+p.Name] = p.Operand()
	}
	bytes := map[string][]byte{}
	for name, h := range handles {
		bytes[name] = make([]byte, int64(h.Len())*h.DType().Size())
		if err := h.ReadBytes(bytes[name]); err != nil {
			t.Fatal(err)
		}
	}
	return bytes
}

// differences returns the names under which two snapshots differ.
func differences(a, b map[string][]byte) []string {
	var names []string
	for name := range a {
		if !slices.Equal(a[name], b[name]) {
			names = append(names, name)
		}
	}
	for name := range b {
		if a[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// scalar returns one of the state's numbers.
func scalar[E runtime.Element](t testing.TB, o *optim.Optimizer, name string) E {
	t.Helper()
	state := must[map[string]runtime.Handle](t)(o.State(""))
	return must[[]E](t)(runtime.As[E](state[name]).Read())[0]
}

// away is the largest distance of got from want, over the largest of want.
func away(got []float32, want []float64) float64 {
	far, largest := 0.0, 0.0
	for i, w := range want {
		far = max(far, math.Abs(float64(got[i])-w))
		largest = max(largest, math.Abs(w))
	}
	return far / largest
}

func repeat(v float32, n int) []float32 { return slices.Repeat([]float32{v}, n) }
