package nn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// speaker returns a decoder whose logits are far enough apart to be of interest.
func speaker[T nn.Float](t testing.TB, d *runtime.Device, s models.StackConfig, cond int) *models.TextDecoder[T] {
	t.Helper()
	m := must[*models.TextDecoder[T]](t)(models.NewTextDecoder[T](d, models.DecoderConfig{Vocab: vocab, StackConfig: s, Cond: cond}, 3))
	r := nn.NewRand(4)
	for _, p := range m.Params() { // biases too, so that a missing one shows
		values := must[[]float32](t)(p.Values())
		for i := range values {
			values[i] += float32(0.3 * r.NormFloat64())
		}
		if err := p.Set(values); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// whole returns the logits behind a text, from a forward pass over all of it.
func whole[T nn.Float](t testing.TB, m *models.TextDecoder[T], d *runtime.Device, text []int32, cond []float32) []float32 {
	t.Helper()
	ids := must[runtime.Tensor[int32]](t)(runtime.FromSlice(d, text, 1, len(text)))
	defer ids.Close()
	var c runtime.Tensor[T]
	if cond != nil {
		c = must[runtime.Tensor[T]](t)(runtime.FromSlice(d, nn.Round[T](cond), 1, len(cond)))
		defer c.Close()
	}
	y := must[runtime.Tensor[T]](t)(m.Forward(ids, c, runtime.Tensor[uint8]{}))
	defer y.Close()
	all := must[[]T](t)(y.Read())
	return nn.Widen(all[len(all)-vocab:])
}

func vector(v []float32) golden.Tensor {
	x := make([]float64, len(v))
	for i := range v {
		x[i] = float64(v[i])
	}
	return golden.Vector(x...)
}

func prompt(n int) []int32 {
	text := make([]int32, n)
	for i := range text {
		text[i] = int32(i * i % vocab)
	}
	return text
}

// Generate gives the ids that the forward pass over the whole context gives, whether
// the prompt is shorter or longer than the receptive field.
func TestGenerateIsWholeContext(t *testing.T) {
	d := open(t)
	stacks := map[string]models.StackConfig{
		"three blocks":  shape, // its receptive field is 15
		"far taps":      {Width: 8, Hidden: 8, Kernel: 2, Dilations: []int{16, 1}},
		"one tap":       {Width: 8, Hidden: 8, Kernel: 1, Dilations: []int{1, 1}},
		"without block": {Width: 8, Hidden: 8, Kernel: 3},
	}
	samplings := []models.Sampling{
		{},
		{Temperature: 1, Seed: 1},
		{Temperature: 0.7, TopK: 4, Seed: 2},
		{Temperature: 1.3, TopP: 0.8, Seed: 3},
		{Temperature: 1, TopK: 6, TopP: 0.9, Seed: 4},
	}
	for name, s := range stacks {
		for _, cond := range [][]float32{nil, {0.5, -1, 0.25}} {
			m := speaker[float32](t, d, s, len(cond))
			for i, n := range []int{1, 2, 14, 15, 16, 40} {
				t.Run(fmt.Sprintf("%s, condition %v, prompt of %d", name, cond, n), func(t *testing.T) {
					sameText(t, m, d, prompt(n), cond, samplings[i%len(samplings)])
				})
			}
		}
	}
}

func sameText[T nn.Float](t *testing.T, m *models.TextDecoder[T], d *runtime.Device, text []int32, cond []float32, s models.Sampling) {
	t.Helper()
	const n = 40
	got := must[[]int32](t)(m.Generate(context.Background(), text, cond, n, s))
	sampler := must[*models.Sampler](t)(models.NewSampler(s))
	var want []int32
	for range n {
		id := must[int32](t)(sampler.Next(whole(t, m, d, text, cond)))
		want = append(want, id)
		text = append(text, id)
	}
	if !slices.Equal(got, want) {
		t.Errorf("generates %v, the whole context gives %v", got, want)
	}
}

// The logits are those of the whole context in each type, up to its rounding.
func TestGeneratorLogits(t *testing.T) {
	t.Run("f32", logitsAgree[float32])
	t.Run("f16", logitsAgree[runtime.Float16])
	t.Run("bf16", logitsAgree[runtime.BFloat16])
}

func logitsAgree[T nn.Float](t *testing.T) {
	d := open(t)
	m := speaker[T](t, d, shape, 0)
	text := prompt(9)
	g := must[*models.Generator[T]](t)(m.Start(context.Background(), text, nil))
	defer g.Close()
	for i := range 30 {
		want := vector(whole(t, m, d, text, nil))
		if far := away(g.Logits(), want, 0); !(far <= tolerances[runtime.TypeOf[T]()]) {
			t.Fatalf("after %d ids: logits %v, the whole context gives %v", len(text), g.Logits(), want.Data)
		}
		text = append(text, int32(i%vocab))
		if err := g.Feed(context.Background(), int32(i%vocab)); err != nil {
			t.Fatal(err)
		}
	}
}

// An id costs one program, planned once, however long the text is; memory stays flat,
// and Close gives it back.
func TestGeneratorCostsOneStep(t *testing.T) {
	d := open(t)
	m := speaker[float32](t, d, shape, 0)
	idle := d.Stats()
	g := must[*models.Generator[float32]](t)(m.Start(context.Background(), prompt(3), nil))
	feed := func(n int) {
		for i := range n {
			if err := g.Feed(context.Background(), int32(i%vocab)); err != nil {
				t.Fatal(err)
			}
		}
	}
	feed(2)
	before := d.Stats()
	feed(50)
	after := d.Stats()
	if got := after.Runs - before.Runs; got != 50 {
		t.Errorf("50 ids took %d programs", got)
	}
	if got := after.Programs.Misses - before.Programs.Misses; got != 0 {
		t.Errorf("50 ids were planned %d times", got)
	}
	if after.Tensors != before.Tensors || after.Pool.Live != before.Pool.Live {
		t.Errorf("%d tensors with %d bytes before, %d with %d after", before.Tensors, before.Pool.Live, after.Tensors, after.Pool.Live)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if end := d.Stats(); end.Tensors != idle.Tensors {
		t.Errorf("%d tensors are left", end.Tensors-idle.Tensors)
	}
}

// A prompt that is longer than the receptive field costs no more than one of that length.
func TestLongPromptIsCut(t *testing.T) {
	d := open(t)
	m := speaker[float32](t, d, shape, 0)
	start := func(n int) int64 {
		g := must[*models.Generator[float32]](t)(m.Start(context.Background(), prompt(n), nil))
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		return d.Stats().Programs.Misses
	}
	if first, second := start(m.Stack.ReceptiveField()), start(1000); first != second {
		t.Error("a prompt of 1000 ids is planned as another program than one of the receptive field")
	}
}

// After a bad id, and after a context that has ended, a generator is where it was.
func TestGeneratorAfterErrors(t *testing.T) {
	d := open(t)
	m := speaker[float32](t, d, shape, 0)
	g := must[*models.Generator[float32]](t)(m.Start(context.Background(), prompt(20), nil))
	defer g.Close()
	tensors := d.Stats().Tensors
	var fault *runtime.FaultError
	if err := g.Feed(context.Background(), vocab); !errors.As(err, &fault) || fault.Value != vocab {
		t.Errorf("the error is %v, want that of the id", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.Feed(ended, 5); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want that the context has ended", err)
	} else if err == nil {
		t.Error("a context that had ended was not noticed")
	}
	if err := g.Feed(context.Background(), 7); err != nil {
		t.Fatal(err)
	}
	if left := d.Stats().Tensors - tensors; left != 0 {
		t.Errorf("errors leave %d tensors", left)
	}
	want := vector(whole(t, m, d, append(prompt(20), 7), nil))
	if far := away(g.Logits(), want, 0); !(far < 1e-5) {
		t.Errorf("logits %v, want %v", g.Logits(), want.Data)
	}
}

func TestGenerateRefuses(t *testing.T) {
	d := open(t)
	m, conditioned := speaker[float32](t, d, shape, 0), speaker[float32](t, d, shape, 3)
	idle := d.Stats().Tensors
	for want, call := range map[string]func() ([]int32, error){
		"generate: the prompt is empty: give at least one id": func() ([]int32, error) { return m.Generate(t.Context(), nil, nil, 1, models.Sampling{}) },
		"generate: the model has a condition, and none is given": func() ([]int32, error) {
			return conditioned.Generate(t.Context(), prompt(1), nil, 1, models.Sampling{})
		},
		"sampling: the temperature is -1, must be at least 0": func() ([]int32, error) {
			return m.Generate(t.Context(), prompt(1), nil, 1, models.Sampling{Temperature: -1})
		},
		"sampling: top-k is -1, must be at least 0":   func() ([]int32, error) { return m.Generate(t.Context(), prompt(1), nil, 1, models.Sampling{TopK: -1}) },
		"sampling: top-p is 1.5, must be from 0 to 1": func() ([]int32, error) { return m.Generate(t.Context(), prompt(1), nil, 1, models.Sampling{TopP: 1.5}) },
		"sampling: the temperature is NaN, must be at least 0": func() ([]int32, error) {
			return m.Generate(t.Context(), prompt(1), nil, 1, models.Sampling{Temperature: math.NaN()})
		},
	} {
		if _, err := call(); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	if _, err := conditioned.Generate(t.Context(), prompt(1), []float32{1, 2}, 1, models.Sampling{}); !errors.Is(err, runtime.ErrShape) {
		t.Errorf("a condition of another width: the error is %v", err)
	}
	if left := d.Stats().Tensors - idle; left != 0 {
		t.Errorf("%d tensors are left", left)
	}
}

// A sampler draws with the probabilities that it is told: over many draws, the share of
// each id is within five standard deviations.
func TestSampler(t *testing.T) {
	logits := []float32{float32(math.Log(0.1)), float32(math.Log(0.4)), float32(math.Log(0.2)), float32(math.Log(0.3))}
	root := 0.0 // of the sum of square roots, at temperature 2
	for _, p := range []float64{0.1, 0.4, 0.2, 0.3} {
		root += math.Sqrt(p)
	}
	for _, c := range []struct {
		models.Sampling
		want []float64
	}{
		{models.Sampling{}, []float64{0, 1, 0, 0}},
		{models.Sampling{Temperature: 1}, []float64{0.1, 0.4, 0.2, 0.3}},
		{models.Sampling{Temperature: 2}, []float64{math.Sqrt(0.1) / root, math.Sqrt(0.4) / root, math.Sqrt(0.2) / root, math.Sqrt(0.3) / root}},
		{models.Sampling{Temperature: 1, TopK: 2}, []float64{0, 4. / 7, 0, 3. / 7}},
		{models.Sampling{Temperature: 1, TopK: 9}, []float64{0.1, 0.4, 0.2, 0.3}},
		{models.Sampling{Temperature: 1, TopP: 0.35}, []float64{0, 1, 0, 0}},
		{models.Sampling{Temperature: 1, TopP: 0.75}, []float64{0, 4. / 9, 2. / 9, 3. / 9}},
		{models.Sampling{Temperature: 1, TopK: 3, TopP: 0.5}, []float64{0, 4. / 7, 0, 3. / 7}},
		{models.Sampling{Temperature: 1, TopP: 1}, []float64{0.1, 0.4, 0.2, 0.3}},
	} {
		const n = 20000
		s := must[*models.Sampler](t)(models.NewSampler(c.Sampling))
		count := make([]float64, len(logits))
		for range n {
			count[must[int32](t)(s.Next(logits))]++
		}
		for id, p := range c.want {
			if off := math.Abs(count[id]/n - p); off > 5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("%+v: id %d is drawn %v of the time, want %v", c.Sampling, id, count[id]/n, p)
			}
		}
	}
}

func TestSamplerEdges(t *testing.T) {
	inf := float32(math.Inf(1))
	s := must[*models.Sampler](t)(models.NewSampler(models.Sampling{Temperature: 1}))
	greedy := must[*models.Sampler](t)(models.NewSampler(models.Sampling{}))
	for _, logits := range [][]float32{{}, {1, float32(math.NaN())}, {-inf, -inf}, {0, inf}} {
		for _, s := range []*models.Sampler{s, greedy} {
			if id, err := s.Next(logits); err == nil {
				t.Errorf("of %v it took %d", logits, id)
			}
		}
	}
	if id := must[int32](t)(greedy.Next([]float32{-3, 2, 2, -inf})); id != 1 {
		t.Errorf("of equal logits it took id %d, want the first", id)
	}
	for range 100 {
		if id := must[int32](t)(s.Next([]float32{-inf, 1000, -inf})); id != 1 {
			t.Errorf("took id %d, whose probability is 0", id)
		}
	}
}

// Several goroutines generate with one model, whose weights they have to pack first.
func TestGenerateInGoroutines(t *testing.T) {
	d := open(t)
	m := speaker[runtime.Float16](t, d, shape, 0)
	want := must[[]int32](t)(m.Generate(t.Context(), prompt(5), nil, 30, models.Sampling{Temperature: 1, Seed: 9}))
	for _, p := range m.Params() {
		p.Invalidate()
	}
	got := make([][]int32, 4)
	errs := make([]error, len(got))
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			got[i], errs[i] = m.Generate(t.Context(), prompt(5), nil, 30, models.Sampling{Temperature: 1, Seed: 9})
		})
	}
	wg.Wait()
	for i := range got {
		if errs[i] != nil || !slices.Equal(got[i], want) {
			t.Errorf("goroutine %d generates %v, %v, want %v", i, got[i], errs[i], want)
		}
	}
}

// BenchmarkGenerate measures ids for each second, beside the whole context of 128 ids
// for each.
func BenchmarkGenerate(b *testing.B) {
	b.Run("f32", speed[float32])
	b.Run("f16", speed[runtime.Float16])
	b.Run("bf16", speed[runtime.BFloat16])
}

func speed[T nn.Float](b *testing.B) {
	d := open(b)
	s := models.StackConfig{Width: 128, Hidden: 256, Kernel: 3, Dilations: models.Doubling(6, 32)}
	m := must[*models.TextDecoder[T]](b)(models.NewTextDecoder[T](d, models.DecoderConfig{Vocab: vocab, StackConfig: s}, 1))
	text := prompt(128)
	b.Run("step", func(b *testing.B) {
		g := must[*models.Generator[T]](b)(m.Start(context.Background(), text, nil))
		defer g.Close()
		for b.Loop() {
			if err := g.Feed(context.Background(), 1); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ids/s")
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			whole(b, m, d, text, nil)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ids/s")
	})
}
