package schedule

import (
	"math"
	"strings"
	"testing"
)

// The rates of PyTorch 2.15's SequentialLR of LinearLR from 0 in 5 steps and
// CosineAnnealingLR to 1e-4 in 20, in float64.
var torch = []float64{
	0.0004, 0.0008, 0.0012, 0.0016, 0.002, 0.00198830392, 0.00195350369, 0.0018964562, 0.00181856614, 0.00172175144,
	0.00160839599, 0.00148129097, 0.00134356614, 0.00119861274, 0.00105, 0.000901387258, 0.000756433855, 0.000618709025,
	0.00049160401, 0.000378248558, 0.000281433855, 0.000203543802, 0.00014649631, 0.000111696076, 0.0001,
}

func TestRateOfTorch(t *testing.T) {
	c := Cosine{Peak: 0.002, Floor: 0.0001, Warmup: 5, Steps: 25}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	for i, want := range torch {
		if got := float64(c.Rate(i + 1)); math.Abs(got-want) > 1e-7*want {
			t.Errorf("the rate of step %d is %v, want %v", i+1, got, want)
		}
	}
}

func TestRateAtTheEnds(t *testing.T) {
	for _, c := range []struct {
		Cosine
		step int
		want float32
	}{
		{Cosine{1, 0.5, 0, 10}, 0, 1},
		{Cosine{1, 0.5, 0, 10}, 10, 0.5},
		{Cosine{1, 0.5, 0, 10}, 11, 0.5},
		{Cosine{1, 0.5, 0, 10}, 1 << 40, 0.5},
		{Cosine{1, 0.5, 10, 10}, 5, 0.5},
		{Cosine{1, 0.5, 10, 10}, 10, 1},
		{Cosine{1, 0.5, 10, 10}, 11, 1},
		{Cosine{1, 0, 1, 1}, 1, 1},
		{Cosine{1, 0, 0, 1}, 1, 0},
	} {
		if got := c.Rate(c.step); got != c.want {
			t.Errorf("%+v: the rate of step %d is %v, want %v", c.Cosine, c.step, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	err := Cosine{Peak: math.NaN(), Floor: -1, Warmup: -1, Steps: 0}.Check()
	for _, want := range []string{"the peak is NaN", "the floor is -1", "there are 0 steps", "the warm-up has -1 steps"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	for _, c := range []Cosine{{0, 0, 0, 1}, {math.Inf(1), 0, 0, 1}, {1, 2, 0, 1}, {1, math.NaN(), 0, 1}, {1, 0, 2, 1}} {
		if c.Check() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
