package optim_test

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/optim"
)

//go:embed testdata/golden.json
var goldenFile []byte

// golden is some steps of PyTorch in float64, see testdata/make.py.
type golden struct {
	Name     string
	Method   string
	Betas    [2]float32
	Eps      float32
	Momentum float32
	Nesterov bool
	MaxNorm  float32       `json:"max_norm"`
	Groups   [2][2]float32 // factor of the rate and decay, of weight and bias
	Initial  map[string][]float32
	Steps    []struct {
		Rate  float32
		Grads map[string][]float32
		Norm  float64
		Want  map[string][]float64
	}
}

func (g *golden) config(scaling *optim.Scaling) optim.Config {
	c := optim.Config{MaxNorm: g.MaxNorm, Scaling: scaling, Method: optim.SGD{Momentum: g.Momentum, Nesterov: g.Nesterov}}
	if g.Method == "adamw" {
		c.Method = optim.AdamW{Beta1: g.Betas[0], Beta2: g.Betas[1], Eps: g.Eps}
	}
	for i, name := range []string{"weight", "*"} {
		c.Groups = append(c.Groups, optim.Group{Names: []string{name}, Rate: g.Groups[i][0], WeightDecay: g.Groups[i][1]})
	}
	return c
}

// Masters are what PyTorch computes, whatever layers compute in and whatever the scale of
// the loss, on the CPU and on the reference: the gradients are exact in all types, so all
// meet the tolerance of float32.
func TestGolden(t *testing.T) {
	var cases []golden
	if err := json.Unmarshal(goldenFile, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("there are no golden values")
	}
	devices := map[string]*runtime.Device{"default": open(t), "guarded": open(t, runtime.WithGuards()), "reference": open(t, runtime.Reference())}
	for i := range cases {
		for at, d := range devices {
			t.Run(cases[i].Name+"/"+at, func(t *testing.T) {
				for _, scaling := range []*optim.Scaling{nil, {Initial: 256, Interval: 2}} {
					compare[float32](t, d, &cases[i], scaling)
					compare[runtime.Float16](t, d, &cases[i], scaling)
					compare[runtime.BFloat16](t, d, &cases[i], scaling)
				}
			})
		}
	}
}

func compare[T nn.Float](t *testing.T, d *runtime.Device, g *golden, scaling *optim.Scaling) {
	t.Helper()
	l := linear[T](t, d, 1, 4, 3)
	params := l.Params()
	for _, p := range params {
		if err := p.Set(g.Initial[p.Name]); err != nil {
			t.Fatal(err)
		}
	}
	o := newOptimizer(t, params, g.config(scaling))
	for i, s := range g.Steps {
		r := step[T](t, o, params, s.Grads, s.Rate)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		if norm := must[float32](t)(r.Norm.Scalar()); math.Abs(float64(norm)-s.Norm) > 1e-6*s.Norm {
			t.Errorf("%v, step %d: the norm is %v, want %v", runtime.TypeOf[T](), i+1, norm, s.Norm)
		}
		for _, p := range params {
			values := must[[]float32](t)(p.Values())
			if far := away(values, s.Want[p.Name]); !(far <= 2e-6) {
				t.Errorf("%v, step %d: %s is off by %.2g\ngot  %v\nwant %v", runtime.TypeOf[T](), i+1, p.Name, far, values, s.Want[p.Name])
			}
			packed := must[[]T](t)(runtime.As[T](p.Operand()).Read())
			if !slices.Equal(packed, nn.Round[T](values)) {
				t.Errorf("%v, step %d: layers read %v, the master is %v", runtime.TypeOf[T](), i+1, packed, values)
			}
		}
	}
	if got := scalar[int32](t, o, "step"); int(got) != len(g.Steps) {
		t.Errorf("%d steps are counted, want %d", got, len(g.Steps))
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
