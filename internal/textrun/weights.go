package textrun

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
	"github.com/kernelgen/kgen/train"
)

// Export writes the weights alone in a type, f32, f16 or bf16. A block that two models
// share is there once, under the encoder.
func (m *Models[T]) Export(path, dtype string) error {
	switch dtype {
	case "f16":
		return export[runtime.Float16](path, m.Params(), safetensors.F16)
	case "bf16":
		return export[runtime.BFloat16](path, m.Params(), safetensors.BF16)
	}
	return export[float32](path, m.Params(), safetensors.F32)
}

func export[W nn.Float](path string, params []nn.Named, dtype safetensors.DType) error {
	weights, err := nn.Export[W](params)
	if err != nil {
		return err
	}
	var list []safetensors.Source
	for i := range weights {
		w := &weights[i]
		list = append(list, safetensors.Source{Name: w.Name, DType: dtype, Shape: w.Shape, Data: bytes.NewReader(w.Bytes())})
	}
	return safetensors.WriteFile(path, nil, list)
}

// Load fills the models with the weights of a file: a checkpoint, or one that Export wrote.
func (m *Models[T]) Load(path string) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if len(f.Metadata()) == 0 && len(f.Tensors()) > 0 {
		return loadWeights(path, f, m.Params())
	}
	parts := m.Parts()
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if err := train.LoadModel(path, part, parts[part]); err != nil {
			return err
		}
	}
	return nil
}

// LoadEmbeddings sets the embedding of each model to that of a file, whose only tensor is
// embedding.weight [vocabulary, width] in one of the types that Export writes.
func (m *Models[T]) LoadEmbeddings(path string) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if len(f.Tensors()) == 0 {
		return fmt.Errorf("%s has no tensors, must have embedding.weight", path)
	}
	if m.Encoder != nil {
		err = loadWeights(path, f, nn.Under("embedding", m.Encoder.Embedding))
	}
	if m.Decoder != nil && err == nil {
		err = loadWeights(path, f, nn.Under("embedding", m.Decoder.Embedding))
	}
	return err
}

// loadWeights sets parameters to the weights of a file, all of one type.
func loadWeights(path string, f *safetensors.File, params []nn.Named) (err error) {
	switch f.Tensors()[0].DType {
	case safetensors.F16:
		err = load[runtime.Float16](params, f)
	case safetensors.BF16:
		err = load[runtime.BFloat16](params, f)
	default:
		err = load[float32](params, f)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func load[W nn.Float](params []nn.Named, f *safetensors.File) error {
	dtype := f.Tensors()[0].DType
	var weights []nn.Weight[W]
	for _, t := range f.Tensors() {
		if t.DType != dtype {
			return fmt.Errorf("%s has another type than %s: weights alone have one", t, dtype)
		}
		var zero W
		data := make([]W, len(f.Data(t))/binary.Size(zero))
		if _, err := binary.Decode(f.Data(t), binary.LittleEndian, data); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		weights = append(weights, nn.Weight[W]{Name: t.Name, Shape: t.Shape, Data: data})
	}
	return nn.Load(params, weights)
}
