package train_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
)

//go:embed testdata/golden.json
var goldenFile []byte

// Each step of a combined training measures what PyTorch does in float64 on the same
// weights and samples (testdata/make.py): losses, norms before clipping and rates.
func TestGolden(t *testing.T) {
	var golden struct {
		Steps []struct {
			Phase  string
			Values map[string]float64
		}
	}
	if err := json.Unmarshal(goldenFile, &golden); err != nil {
		t.Fatal(err)
	}
	d := open(t)
	s := models.StackConfig{Width: 8, Hidden: 12, Kernel: 3, Dilations: []int{1, 2}}
	e := must[*models.TextEncoder[float32]](t)(models.NewTextEncoder[float32](d, models.EncoderConfig{Vocab: ruleVocab, StackConfig: s, Out: ruleVector}, 1))
	m := must[*models.TextDecoder[float32]](t)(models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: ruleVocab, StackConfig: s, Cond: ruleVector}, 1))
	if err := train.ShareLastBlock(e, m); err != nil {
		t.Fatal(err)
	}
	initialise(t, nn.Distinct(append(nn.Under("encoder", e), nn.Under("decoder", m)...)))
	c := optim.Config{Method: optim.DefaultAdamW(), Groups: train.Groups(0.1), MaxNorm: 0.75}
	data := func() train.Batches {
		return must[*dataset.Loader](t)(dataset.NewLoader(rule{}, dataset.Config{Batch: 2}))
	}
	tr := must[*train.CombinedTrainer[float32]](t)(train.NewCombinedTrainer(e, m,
		train.KD{Alpha: 1.5, Beta: 4, Data: data(), Optim: c}, train.CE{Data: data(), Optim: c}, train.Ratio{A: 2, B: 1},
		train.Config{Schedule: schedule.Cosine{Peak: 0.05, Floor: 0.005, Warmup: 2, Steps: len(golden.Steps)}, Accumulate: 2}))
	defer tr.Close()
	for i, want := range golden.Steps {
		r, err := tr.Step(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r.Texts["phase"] != want.Phase || len(r.Values) != len(want.Values)+1 {
			t.Errorf("step %d is %+v, want phase %s and %v", i+1, r, want.Phase, want.Values)
		}
		for name, w := range want.Values {
			if got := r.Values[name]; math.Abs(got-w) > 2e-5*(1+math.Abs(w)) {
				t.Errorf("step %d: %s is %v, want %v", i+1, name, got, w)
			}
		}
	}
}

// initialise gives each parameter the values of the rule.
func initialise(t *testing.T, params []nn.Named) {
	t.Helper()
	for number, p := range params {
		values := make([]float32, p.Len())
		for i := range values {
			v := 0.4 * math.Sin(1+1.3*float64(number)+0.7*float64(i))
			if strings.HasSuffix(p.Name, "norm.weight") {
				v++
			}
			values[i] = float32(v)
		}
		if err := p.Set(values); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	ruleVocab  = 13
	ruleVector = 6
)

// rule is samples that follow from a rule.
type rule struct{}

func (rule) Len() int         { return 7 }
func (rule) Tokens(i int) int { return 3 + i*5%7 }
func (rule) Dim() int         { return ruleVector }

func (r rule) Read(i int, s *dataset.Sample) error {
	s.IDs, s.Mask, s.Target = s.IDs[:0], s.Mask[:0], s.Target[:0]
	for k := range r.Tokens(i) {
		s.IDs, s.Mask = append(s.IDs, int32((i*i+7*k+k*k/5)%ruleVocab)), append(s.Mask, 1)
	}
	for j := range ruleVector {
		s.Target = append(s.Target, float32(math.Sin(0.9*float64(i)+0.5*float64(j))))
	}
	return nil
}
