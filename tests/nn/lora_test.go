package nn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// adapted is a layer that takes adapters.
type adapted[T nn.Float] interface {
	layer[T]
	Attach(*nn.LoRA[T]) error
	Merge() error
	Detach() error
	Switch(*nn.LoRA[T]) error
}

func forward[T nn.Float](t *testing.T, l layer[T], x runtime.Tensor[T]) []float32 {
	t.Helper()
	y := must[runtime.Tensor[T]](t)(l.Forward(x))
	defer y.Close()
	return nn.Widen(must[[]T](t)(y.Read()))
}

func ramp[T nn.Float](t testing.TB, d *runtime.Device, dims ...int) runtime.Tensor[T] {
	t.Helper()
	n := 1
	for _, extent := range dims {
		n *= extent
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i%11)/8 - 0.5
	}
	return must[runtime.Tensor[T]](t)(runtime.FromSlice(d, nn.Round[T](values), dims...))
}

// trained returns an adapter that changes something.
func trained[T nn.Float](t *testing.T, d *runtime.Device, seed uint64, in, out int) *nn.LoRA[T] {
	t.Helper()
	a := must[*nn.LoRA[T]](t)(nn.NewLoRA[T](d, nn.NewRand(seed), in, out, 2, 4))
	r := nn.NewRand(seed + 1)
	values := make([]float32, 2*out)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	if err := a.Params()[1].Set(values); err != nil {
		t.Fatal(err)
	}
	return a
}

// An adapter as it is made changes nothing; attached, merged, switched and detached, the
// layer gives what it should, and in the end the bits that it gave at first.
func TestLoRA(t *testing.T) {
	d := open(t)
	r := nn.NewRand(1)
	t.Run("linear", func(t *testing.T) {
		lora(t, d, must[*nn.Linear[float32]](t)(nn.NewLinear[float32](d, r, 6, 5)), ramp[float32](t, d, 3, 6), 6, 5)
	})
	t.Run("linear without bias", func(t *testing.T) {
		lora(t, d, must[*nn.Linear[float32]](t)(nn.NewLinearNoBias[float32](d, r, 6, 5)), ramp[float32](t, d, 3, 6), 6, 5)
	})
	t.Run("conv1d", func(t *testing.T) {
		l := must[*nn.Conv1D[float32]](t)(nn.NewConv1D[float32](d, r, nn.Conv1DConfig{In: 3, Out: 5, Kernel: 2, Causal: true}))
		lora(t, d, l, ramp[float32](t, d, 2, 4, 3), 6, 5)
	})
	t.Run("f16", func(t *testing.T) {
		lora(t, d, must[*nn.Linear[runtime.Float16]](t)(nn.NewLinear[runtime.Float16](d, r, 6, 5)), ramp[runtime.Float16](t, d, 3, 6), 6, 5)
	})
}

func lora[T nn.Float](t *testing.T, d *runtime.Device, l adapted[T], x runtime.Tensor[T], in, out int) {
	t.Helper()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	near := func(got, want []float32) bool { return away(got, vector(want), 0) <= tolerances[runtime.TypeOf[T]()] }
	plain := forward(t, l, x)
	base := values(t, l.Params())

	fresh := must[*nn.LoRA[T]](t)(nn.NewLoRA[T](d, nn.NewRand(9), in, out, 2, 4))
	do(l.Attach(fresh))
	if got := forward(t, l, x); !slices.Equal(got, plain) {
		t.Errorf("a new adapter changes %v to %v", plain, got)
	}
	one, two := trained[T](t, d, 20, in, out), trained[T](t, d, 30, in, out)
	do(l.Switch(one))
	with := forward(t, l, x)
	if near(with, plain) {
		t.Error("a trained adapter changes nothing")
	}
	do(l.Merge())
	if got := forward(t, l, x); !near(got, with) {
		t.Errorf("merged it gives %v, attached %v", got, with)
	}
	do(l.Switch(two))
	merged := forward(t, l, x)
	if slices.Equal(values(t, l.Params()), base) {
		t.Error("Switch did not merge the second adapter")
	}
	do(l.Detach())
	do(l.Attach(two))
	if got := forward(t, l, x); !near(got, merged) || near(got, with) {
		t.Errorf("with the second adapter it gives %v, merged %v, with the first %v", got, merged, with)
	}
	do(l.Detach())
	if !slices.Equal(values(t, l.Params()), base) || !slices.Equal(forward(t, l, x), plain) {
		t.Error("detached, the layer is not what it was")
	}
}

func TestLoRARefuses(t *testing.T) {
	d := open(t)
	l := must[*nn.Linear[float32]](t)(nn.NewLinear[float32](d, nn.NewRand(1), 6, 5))
	a := trained[float32](t, d, 1, 6, 5)
	wants := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	wants(l.Merge(), "has no adapter")
	wants(l.Attach(trained[float32](t, d, 1, 5, 6)), "the adapter is from 5 to 6 features, the layer from 6 to 5")
	if err := l.Attach(a); err != nil {
		t.Fatal(err)
	}
	wants(l.Attach(a), "has an adapter")
	if err := l.Merge(); err != nil {
		t.Fatal(err)
	}
	w := l.Params()[0]
	if err := w.Set(must[[]float32](t)(w.Values())); err != nil {
		t.Fatal(err)
	}
	wants(l.Detach(), "changed since Merge")
}
