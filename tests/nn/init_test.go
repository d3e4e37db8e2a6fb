package nn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
)

// Initial weights have the distributions that constructors state: the mean and the mean
// square of each parameter are within six standard errors.
func TestInitialWeights(t *testing.T) {
	d := open(t)
	s := models.StackConfig{Width: 64, Hidden: 96, Kernel: 3, Dilations: []int{1, 2, 4, 8}}
	m := must[*models.TextDecoder[float32]](t)(models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: 200, StackConfig: s, Cond: 32}, 5))
	a := must[*nn.LoRA[float32]](t)(nn.NewLoRA[float32](d, nn.NewRand(5), 256, 64, 8, 1))
	rms := must[*nn.RMSNorm[float32]](t)(nn.NewRMSNorm[float32](d, 64))
	var list []nn.Named
	for _, part := range []nn.Module{m, a, rms} {
		list = append(list, part.Params()...)
	}
	for _, p := range list {
		values := must[[]float32](t)(p.Values())
		if want, constant := fixed(p.Name); constant {
			for _, v := range values {
				if v != want {
					t.Fatalf("%s holds %v, want %v", p.Name, v, want)
				}
			}
			continue
		}
		std := deviation(t, p)
		n := float64(len(values))
		sum, square := 0.0, 0.0
		for _, v := range values {
			sum += float64(v) / std
			square += float64(v) * float64(v) / (std * std)
		}
		if math.Abs(sum/n) > 6/math.Sqrt(n) || math.Abs(square/n-1) > 6*math.Sqrt(2/n) {
			t.Errorf("%s: mean %.3g and mean square %.3g in units of %.3g, want 0 and 1", p.Name, sum/n, square/n, std)
		}
	}
}

// fixed returns the value that a parameter starts with.
func fixed(name string) (float32, bool) {
	switch {
	case strings.HasSuffix(name, "norm.weight"), name == "weight":
		return 1, true
	case strings.HasSuffix(name, "bias"), name == "lora_b":
		return 0, true
	}
	return 0, false
}

// deviation returns the standard deviation of the distribution that a parameter is
// drawn from.
func deviation(t *testing.T, p nn.Named) float64 {
	t.Helper()
	switch {
	case p.Name == "embedding.weight":
		return 1
	case p.Name == "lora_a":
		return 1 / math.Sqrt(256)
	case strings.HasSuffix(p.Name, "conv1.weight"):
		return 1 / math.Sqrt(64*3)
	case strings.HasSuffix(p.Name, "conv2.weight"): // of the last of four blocks' sum
		return 1 / math.Sqrt(96*4)
	case p.Name == "cond.weight":
		return 1 / math.Sqrt(32)
	case p.Name == "out.weight":
		return 1 / math.Sqrt(64)
	}
	t.Fatalf("%s has no stated distribution", p.Name)
	return 0
}

// A weight that cannot be packed yet, since its master is a result of a batch that is
// not submitted, is packed when it can be.
func TestPackedLater(t *testing.T) {
	d := open(t)
	l := must[*nn.Linear[runtime.Float16]](t)(nn.NewLinear[runtime.Float16](d, nn.NewRand(1), 2, 1))
	w := l.Params()[0]
	b := d.Batch("update")
	w.Update(b, double(b, w.Master()), runtime.Handle{})
	w.Invalidate()
	if err := w.Operand().Err(); err == nil {
		t.Error("a master of a batch that is not submitted was packed in another one")
	}
	if err := b.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	packed := must[[]runtime.Float16](t)(runtime.As[runtime.Float16](w.Operand()).Read())
	if want := nn.Round[runtime.Float16](must[[]float32](t)(w.Values())); !sameBits(packed, want) {
		t.Errorf("packed %v, want %v", packed, want)
	}
}
