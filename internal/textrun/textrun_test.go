package textrun

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
	"github.com/kernelgen/kgen/train/config"
)

// configured returns the configuration of flags.
func configured(t *testing.T, flags ...config.Flag) *config.Config {
	t.Helper()
	flags = append(flags, config.Flag{Name: "out", Value: t.TempDir()}, config.Flag{Name: "steps", Value: "1"})
	c, err := config.Load("", flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A configuration counts the weights that its models have.
func TestParameters(t *testing.T) {
	dev, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, kind := range []string{config.Encoder, config.Decoder, config.Combined} {
		for _, dim := range []int{0, 5} {
			if dim == 0 && kind != config.Decoder {
				continue
			}
			c := configured(t, config.Flag{Name: "kind", Value: kind}, config.Flag{Name: "train", Value: "a.efb"},
				config.Flag{Name: "width", Value: "6"}, config.Flag{Name: "hidden", Value: "7"}, config.Flag{Name: "blocks", Value: "3"})
			sizes := config.Sizes{Vocabulary: 11, Longest: 9, Dim: dim}
			m, err := NewModels[float32](dev, c, sizes)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, p := range m.Params() {
				n += p.Len()
			}
			if got := c.Parameters(sizes); got != n {
				t.Errorf("%s with targets of %d elements: %d weights are counted, the models have %d", kind, dim, got, n)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if n := dev.Stats().Tensors; n != 0 {
		t.Errorf("%d tensors are left", n)
	}
}

// The end of a text is held out, whole characters of it, and the tokenizer has seen nothing
// of it.
func TestHeldOut(t *testing.T) {
	const learned, held = "the whale, the whale, the whale. ", "éüöäßñç"
	text := strings.Repeat(learned, 9) + held // 297 and 14 bytes
	path := filepath.Join(t.TempDir(), "book.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := configured(t, config.Flag{Name: "kind", Value: config.Decoder}, config.Flag{Name: "train", Value: path},
		config.Flag{Name: "vocabulary", Value: "300"}, config.Flag{Name: "window", Value: "8"}, config.Flag{Name: "holdout", Value: "0.041"})
	d, err := Open(c) // 311 · 0.041 = 12.8: the cut would be within the first é
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	first, err := d.Decode(d.Text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.ValidationLoader()
	if err != nil {
		t.Fatal(err)
	}
	if l.Batches() != 1 || d.Validation.Tokens(0) != 12 {
		t.Errorf("%d batches, %d ids held out, want 1 and the 12 bytes of six letters", l.Batches(), d.Validation.Tokens(0))
	}
	if want := text[:299]; first != want {
		t.Errorf("learned from %q, want %q", first, want)
	}
}

// Samples with texts need a tokenizer, and have its ids.
func TestTextSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := os.WriteFile(path, []byte(`{"text":"Call me Ishmael.","target":[1,0]}`+"\n"+`{"text":"Some years ago","target":[0,1]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []config.Flag{{Name: "kind", Value: config.Combined}, {Name: "train", Value: path}, {Name: "holdout", Value: "0.5"}}
	if _, err := Open(configured(t, flags...)); err == nil || !strings.Contains(err.Error(), "there is a text without input_ids, and no tokenizer") {
		t.Errorf("got %v", err)
	}
	d, err := Open(configured(t, append(flags, config.Flag{Name: "tokenizer", Value: "../../data/distil/tokenizer.json"})...))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Train.Len() != 1 || d.Validation.Len() != 1 || d.Dim != 2 || d.Vocabulary != 16384 || d.Longest != max(d.Train.Tokens(0), d.Validation.Tokens(0)) {
		t.Errorf("%d and %d samples, %+v", d.Train.Len(), d.Validation.Len(), d.Sizes)
	}
}

// Both embeddings of a run begin with a file's, of any type that weights are exported in;
// one of another shape, or beside other tensors, is refused, and nothing has changed.
func TestLoadEmbeddings(t *testing.T) {
	dev, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := configured(t, config.Flag{Name: "kind", Value: config.Combined}, config.Flag{Name: "train", Value: "a.efb"}, config.Flag{Name: "width", Value: "2"})
	m, err := NewModels[float32](dev, c, config.Sizes{Vocabulary: 3, Longest: 4, Dim: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	tensor := func(name string, rows int) safetensors.Source {
		data, err := binary.Append(nil, binary.LittleEndian, make([]runtime.BFloat16, 2*rows))
		if err != nil {
			t.Fatal(err)
		}
		data[1], data[len(data)-1] = 0x3f, 0xc0 // 0.5 and -2
		return safetensors.Source{Name: name, DType: safetensors.BF16, Shape: []int{rows, 2}, Data: bytes.NewReader(data)}
	}
	path := filepath.Join(t.TempDir(), "embeddings.safetensors")
	for _, r := range []struct {
		tensors []safetensors.Source
		want    string
	}{
		{nil, "has no tensors, must have embedding.weight"},
		{[]safetensors.Source{tensor("embedding.weight", 4)}, "embedding.weight has shape [4 2], the model's is [3 2]"},
		{[]safetensors.Source{tensor("embedding.weight", 3), tensor("out.weight", 3)}, "out.weight is not a parameter"},
		{[]safetensors.Source{tensor("embedding.weight", 3)}, ""},
	} {
		if err := safetensors.WriteFile(path, nil, r.tensors); err != nil {
			t.Fatal(err)
		}
		err := m.LoadEmbeddings(path)
		if r.want != "" && (err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), r.want)) || r.want == "" && err != nil {
			t.Errorf("got the error %v, want %q", err, r.want)
		}
		for part, e := range map[string]*nn.Embedding[float32]{"encoder": m.Encoder.Embedding, "decoder": m.Decoder.Embedding} {
			values, err := e.Params()[0].Values()
			if err != nil {
				t.Fatal(err)
			}
			if loaded := slices.Equal(values, []float32{0.5, 0, 0, 0, 0, -2}); loaded != (r.want == "") {
				t.Errorf("behind the error %v the embedding of the %s is %v", err, part, values)
			}
		}
	}
}
