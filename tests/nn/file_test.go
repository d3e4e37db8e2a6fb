package nn_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/checkpoint"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
)

// masters returns the masters of a model as a checkpoint takes them.
func masters(t *testing.T, m nn.Module) checkpoint.State {
	t.Helper()
	state := checkpoint.State{}
	for _, p := range m.Params() {
		v := must[runtime.Tensor[float32]](t)(p.View())
		t.Cleanup(func() { v.Close() })
		state[p.Name] = v.Untyped()
	}
	return state
}

// A model that is loaded from a checkpoint of another computes the same bits.
func TestCheckpoint(t *testing.T) {
	d := open(t)
	m := speaker[runtime.BFloat16](t, d, shape, 0)
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := checkpoint.Save(path, masters(t, m), nil); err != nil {
		t.Fatal(err)
	}
	other := must[*models.TextDecoder[runtime.BFloat16]](t)(models.NewTextDecoder[runtime.BFloat16](d, models.DecoderConfig{Vocab: vocab, StackConfig: shape}, 99))
	if _, err := checkpoint.Load(path, masters(t, other)); err != nil {
		t.Fatal(err)
	}
	for _, p := range other.Params() {
		p.Invalidate()
	}
	if !sameBits(values(t, other.Params()), values(t, m.Params())) {
		t.Error("the masters are others")
	}
	if got, want := whole(t, other, d, prompt(9), nil), whole(t, m, d, prompt(9), nil); !slices.Equal(got, want) {
		t.Errorf("loaded it gives %v, want %v", got, want)
	}
	f := must[*safetensors.File](t)(safetensors.Open(path))
	defer f.Close()
	conv, ok := f.Lookup("stack.blocks.1.conv1.weight")
	if !ok || !slices.Equal(conv.Shape, []int{shape.Hidden, shape.Width, shape.Kernel}) {
		t.Errorf("the file has the weight of a convolution as %v", conv)
	}
}

// Weights in f16 go to a file of half the size, and from it into a model.
func TestExportToFile(t *testing.T) {
	d := open(t)
	m := speaker[float32](t, d, shape, 0)
	weights := must[[]nn.Weight[runtime.Float16]](t)(nn.Export[runtime.Float16](m.Params()))
	var list []safetensors.Source
	for i := range weights {
		w := &weights[i]
		list = append(list, safetensors.Source{Name: w.Name, DType: safetensors.F16, Shape: w.Shape, Data: bytes.NewReader(w.Bytes())})
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := safetensors.WriteFile(path, nil, list); err != nil {
		t.Fatal(err)
	}
	f := must[*safetensors.File](t)(safetensors.Open(path))
	defer f.Close()
	var read []nn.Weight[runtime.Float16]
	for _, s := range f.Tensors() {
		w := nn.Weight[runtime.Float16]{Name: s.Name, Shape: s.Shape, Data: make([]runtime.Float16, len(f.Data(s))/2)}
		if _, err := binary.Decode(f.Data(s), binary.LittleEndian, w.Data); err != nil {
			t.Fatal(err)
		}
		read = append(read, w)
	}
	if err := nn.Load(m.Params(), read); err != nil {
		t.Fatal(err)
	}
	for i, p := range m.Params() {
		if got := nn.Round[runtime.Float16](must[[]float32](t)(p.Values())); !slices.Equal(got, weights[i].Data) {
			t.Errorf("%s: %v, want %v", p.Name, got, weights[i].Data)
		}
	}
}
