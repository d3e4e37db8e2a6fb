package nn_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// tolerances are how far a tensor may be from PyTorch's in float64, in its own norm:
// some roundings of the type that values lie in between kernels.
var tolerances = map[runtime.DType]float64{runtime.F32: 2e-6, runtime.F16: 3e-3, runtime.BF16: 2e-2}

// TestGolden compares every layer and model with PyTorch: results, and gradients of all
// weights and inputs, on the device of this machine, on a CPU with guards around its memory,
// too, and on the reference.
func TestGolden(t *testing.T) {
	devices := map[string]*runtime.Device{"default": open(t), "reference": openWith(t, runtime.Reference())}
	if devices["default"].Name() == "cpu" { // the host does not see the guards of a card
		devices["guarded"] = open(t, runtime.WithGuards())
	}
	entries, err := files.ReadDir("golden")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".json")
		ran[name] = true
		for at, d := range devices {
			t.Run(name+"/"+at, func(t *testing.T) {
				compare[float32](t, d, name)
				compare[runtime.Float16](t, d, name)
				compare[runtime.BFloat16](t, d, name)
			})
		}
	}
	for name := range makers[float32]() {
		if !ran[name] {
			t.Errorf("%s has no golden values: add it to golden/make.py and run it", name)
		}
	}
}

func compare[T nn.Float](t *testing.T, d *runtime.Device, name string) {
	t.Helper()
	file := load(t, name)
	if len(file.Cases) == 0 {
		t.Fatalf("%s: no cases", name)
	}
	worst := 0.0
	for _, g := range file.Cases {
		c := &trial[T]{t, d, g}
		s := makers[T]()[name](c)
		c.weigh(s)
		got := c.results(s)
		want := maps.Clone(c.Grads)
		if want == nil {
			t.Fatalf("%s: no gradients", c.Name)
		}
		want["y"] = c.Outs["y"]
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
			t.Fatalf("%s: gives %v, want %v", c.Name, a, b)
		}
		limit := tolerances[runtime.TypeOf[T]()]
		for k, w := range want {
			far := away(got[k], w, 1e-3*c.largest())
			if worst = max(worst, far); !(far <= limit) {
				t.Errorf("%s, %s: %s is off by %.2g of its norm\ngot  %v\nwant %v", label[T](), c.Name, k, far, got[k], w.Data)
			}
		}
		c.checkForms(s, got["y"])
		if err := nn.Close(s); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%s: off by at most %.2g", label[T](), worst)
}

// checkForms wants the immediate form to give the bits of the deferred one.
func (c *trial[T]) checkForms(s subject[T], want []float32) {
	c.t.Helper()
	y, err := s.forward()
	if err != nil {
		c.t.Fatalf("%s: %v", c.Name, err)
	}
	if got := must[[]T](c.t)(y.Read()); !slices.Equal(nn.Widen(got), want) {
		c.t.Errorf("%s, %s: the immediate form gives %v, the deferred one %v", label[T](), c.Name, got, want)
	}
	if err := y.Close(); err != nil {
		c.t.Error(err)
	}
}
