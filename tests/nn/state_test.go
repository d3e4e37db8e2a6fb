package nn_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
)

// What is exported in f16 and loaded into a new model computes what the model computes
// whose masters are rounded.
func TestExportAndLoad(t *testing.T) {
	d := open(t)
	m := speaker[runtime.Float16](t, d, shape, 0)
	weights := must[[]nn.Weight[runtime.Float16]](t)(nn.Export[runtime.Float16](m.Params()))
	for i, p := range m.Params() {
		w := weights[i]
		if w.Name != p.Name || !slices.Equal(w.Shape, p.Shape()) || len(w.Data) != p.Len() {
			t.Errorf("weight %d is %s %v with %d elements, want %s %v", i, w.Name, w.Shape, len(w.Data), p.Name, p.Shape())
		}
	}
	other := must[*models.TextDecoder[runtime.Float16]](t)(models.NewTextDecoder[runtime.Float16](d, models.DecoderConfig{Vocab: vocab, StackConfig: shape}, 99))
	slices.Reverse(weights) // in any order
	if err := nn.Load(other.Params(), weights); err != nil {
		t.Fatal(err)
	}
	if got, want := whole(t, other, d, prompt(9), nil), whole(t, m, d, prompt(9), nil); !slices.Equal(got, want) {
		t.Errorf("loaded it gives %v, want %v", got, want)
	}
}

// What is written through the view of a parameter is its value; the view has the shape
// that a file has.
func TestView(t *testing.T) {
	d := open(t)
	l := must[*nn.Conv1D[runtime.BFloat16]](t)(nn.NewConv1D[runtime.BFloat16](d, nn.NewRand(1), nn.Conv1DConfig{In: 2, Out: 1, Kernel: 2}))
	w := l.Params()[0]
	view := must[runtime.Tensor[float32]](t)(w.View())
	if !slices.Equal(view.Shape(), w.Shape()) {
		t.Errorf("the view has shape %v, the parameter %v", view.Shape(), w.Shape())
	}
	if err := view.Write([]float32{1, 2, 4, 8}); err != nil {
		t.Fatal(err)
	}
	w.Invalidate()
	if err := view.Close(); err != nil {
		t.Error(err)
	}
	x := must[runtime.Tensor[runtime.BFloat16]](t)(runtime.FromSlice(d, nn.Round[runtime.BFloat16]([]float32{1, 5, 3, 7}), 1, 2, 2))
	if got := forward(t, l, x); !slices.Equal(got, []float32{1 + 2*3 + 4*5 + 8*7}) {
		t.Errorf("gives %v", got)
	}
}

// A value that f16 cannot hold is not exported as an infinity; one that is infinite is.
func TestExportTooLarge(t *testing.T) {
	d := open(t)
	l := must[*nn.Linear[float32]](t)(nn.NewLinear[float32](d, nn.NewRand(1), 2, 1))
	w := l.Params()[0]
	if err := w.Set([]float32{1, -65520}); err != nil {
		t.Fatal(err)
	}
	if _, err := nn.Export[runtime.Float16](l.Params()); err == nil || err.Error() != "export: weight: element 1 is -65520, too large for f16" {
		t.Errorf("the error is %v", err)
	}
	must[[]nn.Weight[runtime.BFloat16]](t)(nn.Export[runtime.BFloat16](l.Params()))
	if err := w.Set([]float32{65519, float32(math.Inf(1))}); err != nil {
		t.Fatal(err)
	}
	got := must[[]nn.Weight[runtime.Float16]](t)(nn.Export[runtime.Float16](l.Params()))[0].Data
	if got[0].Float32() != 65504 || !math.IsInf(float64(got[1].Float32()), 1) {
		t.Errorf("exports %v", got)
	}
}

// Loading is strict, says all that is wrong, and changes nothing then (C066).
func TestLoadIsStrict(t *testing.T) {
	d := open(t)
	l := must[*nn.Linear[float32]](t)(nn.NewLinear[float32](d, nn.NewRand(1), 3, 2))
	before := values(t, l.Params())
	weight := func(name string, dims ...int) nn.Weight[float32] {
		n := 1
		for _, extent := range dims {
			n *= extent
		}
		return nn.Weight[float32]{Name: name, Shape: dims, Data: make([]float32, n)}
	}
	short := weight("bias", 2)
	short.Data = short.Data[:1]
	for _, c := range []struct {
		weights []nn.Weight[float32]
		want    string
	}{
		{[]nn.Weight[float32]{weight("weight", 2, 3)}, "load: bias is missing"},
		{[]nn.Weight[float32]{weight("weight", 2, 3), weight("bias", 2), weight("c", 1)}, "load: c is not a parameter of the model"},
		{[]nn.Weight[float32]{weight("weight", 3, 2), weight("bias", 2)}, "load: weight has shape [3 2], the model's is [2 3]"},
		{[]nn.Weight[float32]{weight("weight", 2, 3), short}, "load: bias has 1 elements, its shape [2] has 2"},
		{[]nn.Weight[float32]{weight("weight", 2, 3), weight("bias", 2), weight("bias", 2)}, "load: bias is given twice"},
		{[]nn.Weight[float32]{weight("m.weight", 2, 3), weight("m.bias", 2)},
			"load: weight is missing\nload: bias is missing\nload: m.weight is not a parameter of the model\nload: m.bias is not a parameter of the model"},
	} {
		if err := nn.Load(l.Params(), c.weights); err == nil || err.Error() != c.want {
			t.Errorf("the error is %q, want %q", err, c.want)
		}
		if !slices.Equal(values(t, l.Params()), before) {
			t.Fatal("a refused load changed the model")
		}
	}
}

// A text's vector does not depend on what else is encoded, nor on padding; an empty text
// has that of the bias.
func TestEncode(t *testing.T) {
	d := open(t)
	m := must[*models.TextEncoder[float32]](t)(models.NewTextEncoder[float32](d, models.EncoderConfig{Vocab: vocab, StackConfig: shape, Out: 6}, 1))
	bias := []float32{1, 2, 3, 4, 5, 6}
	if err := m.Out.Params()[1].Set(bias); err != nil {
		t.Fatal(err)
	}
	list := [][]int32{prompt(40), prompt(3), {}, prompt(16), prompt(17)}
	idle := d.Stats().Tensors
	all := must[[][]float32](t)(m.Encode(context.Background(), list))
	for i, text := range list {
		alone := must[[][]float32](t)(m.Encode(context.Background(), [][]int32{text}))[0]
		if far := away(all[i], vector(alone), 0); !(far < 2e-6) {
			t.Errorf("text %d: %v beside others, %v alone", i, all[i], alone)
		}
	}
	if !slices.Equal(all[2], bias) {
		t.Errorf("no text gives %v, want %v", all[2], bias)
	}
	if got := must[[][]float32](t)(m.Encode(context.Background(), nil)); got != nil {
		t.Errorf("no texts give %v", got)
	}
	if _, err := m.Encode(context.Background(), [][]int32{{1}, {2, vocab}}); err == nil || !strings.Contains(err.Error(), "ids[1,1] is 13, must be in [0, 13)") {
		t.Errorf("the error is %v, want that of the id", err)
	}
	if left := d.Stats().Tensors - idle; left != 0 {
		t.Errorf("%d tensors are left", left)
	}
}

func TestDoubling(t *testing.T) {
	if got := models.Doubling(8, 4); !slices.Equal(got, []int{1, 2, 4, 1, 2, 4, 1, 2}) {
		t.Errorf("gives %v", got)
	}
	d := open(t)
	m := must[*models.TCNStack[float32]](t)(models.NewTCNStack[float32](d, nn.NewRand(1), models.StackConfig{Width: 1, Hidden: 1, Kernel: 3, Dilations: models.Doubling(3, 4)}))
	if got := m.ReceptiveField(); got != 15 {
		t.Errorf("three taps at 1, 2 and 4 see %d positions, want 15", got)
	}
}
