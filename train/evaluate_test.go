package train_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
)

// The measures of a decoder are those that follow from its logits by the definition, in
// float64: over every id but the first of a sentence, and none of the padding.
func TestEvaluateDecoder(t *testing.T) {
	d := open(t)
	m := speaker[float32](t, d, 1)
	src := sentences(t, 10)
	got := must[train.CEResult](t)(train.EvaluateDecoder(context.Background(), m, loader(t, src, 4, 0)))
	sum, count := 0.0, 0
	var s dataset.Sample
	for i := range src.Len() {
		if err := src.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		ids := must[runtime.Tensor[int32]](t)(runtime.FromSlice(d, s.IDs, 1, len(s.IDs)))
		cond := must[runtime.Tensor[float32]](t)(runtime.FromSlice(d, s.Target, 1, len(s.Target)))
		y := must[runtime.Tensor[float32]](t)(m.Forward(ids, cond, runtime.Tensor[uint8]{}))
		logits := must[[]float32](t)(y.Read())
		for l, id := range s.IDs[1:] {
			row := logits[l*tokens : (l+1)*tokens]
			total := 0.0
			for _, v := range row {
				total += math.Exp(float64(v))
			}
			sum += math.Log(total) - float64(row[id])
			count++
		}
	}
	if want := sum / float64(count); got.IDs != count || math.Abs(got.Loss-want) > 1e-5*want {
		t.Errorf("%+v, want %v over %d ids", got, want, count)
	}
	if v := got.Values(); v["validation_ce_loss"] != got.Loss || v["validation_perplexity"] != math.Exp(got.Loss) {
		t.Errorf("the values of %+v are %v", got, v)
	}
}

// The measures of an encoder are those that follow from its vectors, in float64.
func TestEvaluateEncoder(t *testing.T) {
	d := open(t)
	m := encoder[float32](t, d, 1)
	src := sentences(t, 10)
	const alpha, beta = 0.5, 3
	got := must[train.KDResult](t)(train.EvaluateEncoder(context.Background(), m, loader(t, src, 4, 0), alpha, beta))
	cosine, mse := 0.0, 0.0
	var s dataset.Sample
	for i := range src.Len() {
		if err := src.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		y := must[[][]float32](t)(m.Encode(context.Background(), [][]int32{s.IDs}))[0]
		dot, yy, tt, square := 0.0, 0.0, 0.0, 0.0
		for j, v := range s.Target {
			a, b := float64(y[j]), float64(v)
			dot, yy, tt, square = dot+a*b, yy+a*a, tt+b*b, square+(a-b)*(a-b)
		}
		cosine += dot / math.Sqrt(yy*tt) / float64(src.Len())
		mse += square / float64(len(y)) / float64(src.Len())
	}
	for _, c := range []struct{ got, want float64 }{{got.Cosine, cosine}, {got.MSE, mse}, {got.Loss, alpha*(1-cosine) + beta*mse}} {
		if math.Abs(c.got-c.want) > 1e-5*(1+math.Abs(c.want)) {
			t.Errorf("%+v, want cosine %v and mse %v", got, cosine, mse)
		}
	}
	if got.Rows != src.Len() {
		t.Errorf("%d rows, want %d", got.Rows, src.Len())
	}
}

func TestEvaluateRefuses(t *testing.T) {
	d := open(t)
	m := encoder[float32](t, d, 1)
	data := loader(t, sentences(t, 4), 4, 0)
	_, err := train.EvaluateEncoder(context.Background(), m, data, 0, 0)
	wantError(t, err, "evaluate: ", "both 0")
	one := must[*dataset.Windows](t)(dataset.NewWindows([]int32{7}, 4, 4))
	if one.Len() != 0 {
		t.Fatal("a text of one id has a window")
	}
	windows := must[*dataset.Windows](t)(dataset.NewWindows([]int32{7, 8, 9}, 2, 2))
	_, err = train.EvaluateDecoder(context.Background(), speaker[float32](t, d, 1), must[*dataset.Loader](t)(dataset.NewLoader(windows, dataset.Config{Batch: 2})))
	wantError(t, err, "evaluate: prediction: the condition has 384 elements, samples have targets of 0")
	_, err = train.EvaluateEncoder(context.Background(), m, must[*dataset.Loader](t)(dataset.NewLoader(windows, dataset.Config{Batch: 2})), 1, 1)
	wantError(t, err, "evaluate: distillation: targets have 0 elements, the encoder gives 384")
}

// A decoder whose last block was shared comes out of the checkpoint by itself, in another
// type too.
func TestLoadModel(t *testing.T) {
	c := trials[float32]()["combined"](t, 1, config(3, 1))
	path := filepath.Join(t.TempDir(), "run.safetensors")
	if err := c.Run(context.Background(), train.Session{Checkpoint: path}); err != nil {
		t.Fatal(err)
	}
	want := c.weights(t)
	m := speaker[runtime.Float16](t, open(t), 9)
	before := operands(t, m)
	if err := train.LoadModel(path, "decoder", m); err != nil {
		t.Fatal(err)
	}
	loaded := &trial{params: nn.Under("decoder", m)}
	for name, values := range loaded.weights(t) {
		if strings.Join(changed(map[string][]float32{name: values}, want), "") != "" {
			t.Errorf("%s is another one", name)
		}
	}
	after := operands(t, m)
	for _, p := range m.Params() {
		values := must[[]float32](t)(p.Values())
		if got, want := after[p.Name], nn.Widen(nn.Round[runtime.Float16](values)); len(changed(map[string][]float32{"": got}, map[string][]float32{"": want})) > 0 {
			t.Errorf("layers read another %s than was loaded", p.Name)
		}
	}
	if len(changed(before, after)) == 0 {
		t.Error("layers read what they read before")
	}
	wantError(t, train.LoadModel(path, "coder", m), "missing: coder.embedding.weight")
}

// operands returns what layers read, by the parameter's name.
func operands(t *testing.T, m nn.Module) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	for _, p := range m.Params() {
		all[p.Name] = nn.Widen(must[[]runtime.Float16](t)(runtime.As[runtime.Float16](p.Operand()).Read()))
	}
	return all
}

// wantError fails the test unless an error has all parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, want %q in it", err, part)
		}
	}
}
