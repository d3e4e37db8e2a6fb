package train_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
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

func open(t testing.TB) *runtime.Device {
	t.Helper()
	d := must[*runtime.Device](t)(runtime.Open(runtime.WithWorkers(2)))
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

const (
	book   = "../data/moby-dick.txt"
	tokens = 16384 // of the sentences
	vector = 384   // elements that their teacher gave
)

// short is the samples of a source that have few ids.
type short struct {
	dataset.Source
	at []int
}

func (s short) Len() int                             { return len(s.at) }
func (s short) Tokens(i int) int                     { return s.Source.Tokens(s.at[i]) }
func (s short) Read(i int, to *dataset.Sample) error { return s.Source.Read(s.at[i], to) }

// sentences are real ones, of at most 32 ids, with a teacher's vectors.
func sentences(t testing.TB, n int) dataset.Source {
	t.Helper()
	f := must[*dataset.EFB](t)(dataset.OpenEFB("../data/distil/validation.efb"))
	t.Cleanup(func() { f.Close() })
	s := short{Source: f}
	for i := 0; len(s.at) < n; i++ {
		if f.Tokens(i) <= 32 {
			s.at = append(s.at, i)
		}
	}
	return s
}

func loader(t testing.TB, src dataset.Source, rows int, seed uint64) *dataset.Loader {
	t.Helper()
	return must[*dataset.Loader](t)(dataset.NewLoader(src, dataset.Config{Batch: rows, Widths: []int{16, 32}, Shuffle: seed > 0, Seed: seed}))
}

// text is the first bytes of a real book, as ids.
func text(t testing.TB, n int) []int32 {
	t.Helper()
	bytes := must[[]byte](t)(os.ReadFile(book))
	var ids []int32
	for _, b := range bytes[:n] {
		ids = append(ids, int32(b))
	}
	return ids
}

var shape = models.StackConfig{Width: 16, Hidden: 24, Kernel: 3, Dilations: []int{1, 2}, Dropout: 0.1}

func encoder[T nn.Float](t testing.TB, d *runtime.Device, seed uint64) *models.TextEncoder[T] {
	t.Helper()
	return must[*models.TextEncoder[T]](t)(models.NewTextEncoder[T](d, models.EncoderConfig{Vocab: tokens, StackConfig: shape, Out: vector}, seed))
}

// speaker is a decoder of sentences with a condition.
func speaker[T nn.Float](t testing.TB, d *runtime.Device, seed uint64) *models.TextDecoder[T] {
	t.Helper()
	return must[*models.TextDecoder[T]](t)(models.NewTextDecoder[T](d, models.DecoderConfig{Vocab: tokens, StackConfig: shape, Cond: vector}, seed))
}

// writer is a decoder of bytes.
func writer[T nn.Float](t testing.TB, d *runtime.Device, seed uint64) *models.TextDecoder[T] {
	t.Helper()
	return must[*models.TextDecoder[T]](t)(models.NewTextDecoder[T](d, models.DecoderConfig{Vocab: 256, StackConfig: shape}, seed))
}

func config(steps, accumulate int) train.Config {
	return train.Config{Schedule: schedule.Cosine{Peak: 1e-2, Floor: 1e-3, Warmup: 2, Steps: steps}, Accumulate: accumulate}
}

// adamw is an optimiser with all its parts; the loss scale grows until it overflows in
// float16.
func adamw[T nn.Float]() optim.Config {
	c := optim.Config{Method: optim.DefaultAdamW(), Groups: train.Groups(0.01), MaxNorm: 1}
	if runtime.TypeOf[T]() != runtime.F32 {
		c.Scaling = &optim.Scaling{Initial: 1 << 20, Interval: 1}
	}
	return c
}

// A trial is a trainer with all that it trains.
type trial struct {
	*train.Trainer
	d      *runtime.Device
	params []nn.Named
}

// trials make a trainer of each kind, whose weights come from a seed and whose data does
// not.
func trials[T nn.Float]() map[string]func(t testing.TB, seed uint64, c train.Config) *trial {
	kd := func(t testing.TB) train.KD {
		return train.KD{Alpha: 1, Beta: 10, Data: loader(t, sentences(t, 15), 4, 3), Optim: adamw[T]()}
	}
	ce := func(t testing.TB, data train.Batches) train.CE { return train.CE{Data: data, Optim: adamw[T]()} }
	return map[string]func(t testing.TB, seed uint64, c train.Config) *trial{
		"encoder": func(t testing.TB, seed uint64, c train.Config) *trial {
			d := open(t)
			e := encoder[T](t, d, seed)
			return newTrial(t, d, must[*train.EncoderTrainer[T]](t)(train.NewEncoderTrainer(e, kd(t), c)).Trainer, nn.Under("encoder", e))
		},
		"text": func(t testing.TB, seed uint64, c train.Config) *trial {
			d := open(t)
			m := writer[T](t, d, seed)
			data := must[*dataset.RandomWindows](t)(dataset.NewRandomWindows(text(t, 5000), 24, 4, 3))
			return newTrial(t, d, must[*train.DecoderTrainer[T]](t)(train.NewDecoderTrainer(m, ce(t, data), c)).Trainer, nn.Under("decoder", m))
		},
		"samples": func(t testing.TB, seed uint64, c train.Config) *trial {
			d := open(t)
			m := speaker[T](t, d, seed)
			data := loader(t, sentences(t, 15), 4, 4)
			return newTrial(t, d, must[*train.DecoderTrainer[T]](t)(train.NewDecoderTrainer(m, ce(t, data), c)).Trainer, nn.Under("decoder", m))
		},
		"combined": func(t testing.TB, seed uint64, c train.Config) *trial {
			d := open(t)
			e, m := encoder[T](t, d, seed), speaker[T](t, d, seed+1)
			if err := train.ShareLastBlock(e, m); err != nil {
				t.Fatal(err)
			}
			tr := must[*train.CombinedTrainer[T]](t)(train.NewCombinedTrainer(e, m, kd(t), ce(t, loader(t, sentences(t, 15), 4, 4)), train.Ratio{A: 2, B: 1}, c))
			return newTrial(t, d, tr.Trainer, append(nn.Under("encoder", e), nn.Under("decoder", m)...))
		},
	}
}

func newTrial(t testing.TB, d *runtime.Device, tr *train.Trainer, params []nn.Named) *trial {
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return &trial{tr, d, params}
}

// each runs a test for each kind of trainer, in float32 and in float16.
func each(t *testing.T, test func(t *testing.T, make func(t testing.TB, seed uint64, c train.Config) *trial)) {
	for name, makes := range map[string]map[string]func(testing.TB, uint64, train.Config) *trial{
		"f32": trials[float32](), "f16": trials[runtime.Float16](), "bf16": trials[runtime.BFloat16](),
	} {
		for kind, make := range makes {
			t.Run(kind+"/"+name, func(t *testing.T) { test(t, make) })
		}
	}
}

// weights returns the masters of all parameters by name.
func (c *trial) weights(t testing.TB) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	for _, p := range c.params {
		all[p.Name] = must[[]float32](t)(p.Values())
	}
	return all
}

// changed returns the names of weights that differ.
func changed(before, after map[string][]float32) []string {
	var names []string
	for name := range before {
		if !slices.Equal(before[name], after[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// saved returns the bytes of a checkpoint: all that the trainer's next steps depend on.
func (c *trial) saved(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "saved.safetensors")
	if err := c.Save(path, nil); err != nil {
		t.Fatal(err)
	}
	return must[[]byte](t)(os.ReadFile(path))
}
