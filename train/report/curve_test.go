package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/train/metrics"
)

// Names say where values are drawn, as the package comment has it.
func TestCharts(t *testing.T) {
	records := []metrics.Record{
		{Step: 1, Values: map[string]float64{"rate": 1, "tokens_per_second": 2, "norm": 3, "ce_loss": 4, "loss": 9}},
		{Step: 2, Values: map[string]float64{"loss": 5}, Texts: map[string]string{"phase": "B"}},
		{Step: 3, Values: map[string]float64{"loss": 6}, Texts: map[string]string{"phase": "A"}},
		{Step: 3, Values: map[string]float64{"validation_loss": 7, "validation_cosine": 8}},
		{Step: 3, Values: map[string]float64{"loss": 10}, Texts: map[string]string{"phase": "A"}},
		{Step: 4, Values: map[string]float64{"validation_loss": 11}, Texts: map[string]string{"phase": "A"}},
	}
	var got strings.Builder
	for _, c := range chartsOf(records) {
		fmt.Fprintf(&got, "%s:", c.title())
		for _, curve := range c.curves {
			fmt.Fprintf(&got, " %s%v%v", curve.label, curve.steps, curve.values)
		}
		got.WriteString("\n")
	}
	want := `ce loss: training[1][4]
loss: A[3][10] B[2][5] training[1][9] validation[3][7] validation, A[4][11]
cosine: validation[3][8]
norm: training[1][3]
learning rate: training[1][1]
tokens per second: training[1][2]
`
	if got.String() != want {
		t.Errorf("charts are\n%swant\n%s", got.String(), want)
	}
}

// A scale is logarithmic where a linear one would hide half of the values.
func TestLogarithmic(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{1, 2, 3, 300}, false},
		{[]float64{1, 2, 3, 301}, true},
		{[]float64{0, 2, 3, 301}, false},
		{[]float64{1, 2, 3, math.Inf(1)}, false},
		{[]float64{math.NaN()}, false},
	} {
		if got := chartsOf(loss(c.values...))[0].logarithmic(); got != c.want {
			t.Errorf("%v: logarithmic is %v", c.values, got)
		}
	}
}

// Thinning keeps few points, and of each bucket the ends, both extremes and a gap.
func TestThinned(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, buckets, buckets + 1, 5000, 100_000} {
		steps, values := make([]int, n), make([]float64, n)
		at := 0
		for i := range n {
			at += 1 + rng.IntN(1+rng.IntN(30))
			steps[i], values[i] = at, rng.NormFloat64()
			if rng.IntN(1000) == 0 {
				values[i] = math.Inf(1)
			}
		}
		keep := thinned(steps, values)
		if len(keep) > 5*buckets || !slices.IsSorted(keep) {
			t.Fatalf("%d of %d points are kept, sorted: %v", len(keep), n, slices.IsSorted(keep))
		}
		if n <= buckets {
			if len(keep) != n {
				t.Errorf("%d of %d points are kept", len(keep), n)
			}
			continue
		}
		checkThinned(t, steps, values, keep)
	}
}

// checkThinned finds each bucket anew, point by point.
func checkThinned(t *testing.T, steps []int, values []float64, keep []int) {
	t.Helper()
	kept := make([]bool, len(steps))
	for _, i := range keep {
		kept[i] = true
	}
	type seen struct {
		least, greatest         float64
		leastKept, greatestKept float64
		first, last             int
		gap, gapKept            bool
	}
	all := map[int]*seen{}
	span := float64(steps[len(steps)-1] - steps[0] + 1)
	for i, v := range values {
		b := int(float64(steps[i]-steps[0]) / (span / buckets))
		if all[b] == nil {
			all[b] = &seen{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1), i, i, false, false}
		}
		s := all[b]
		s.last = i
		if !finite(v) {
			s.gap, s.gapKept = true, s.gapKept || kept[i]
			continue
		}
		s.least, s.greatest = min(s.least, v), max(s.greatest, v)
		if kept[i] {
			s.leastKept, s.greatestKept = min(s.leastKept, v), max(s.greatestKept, v)
		}
	}
	for b, s := range all {
		if s.least != s.leastKept || s.greatest != s.greatestKept || s.gap != s.gapKept || !kept[s.first] || !kept[s.last] {
			t.Errorf("%d points, bucket %d: %+v", len(steps), b, *s)
		}
	}
}

// Each smoothed value is the weighted mean by its definition.
func TestSmoothed(t *testing.T) {
	if got := smoothed(make([]float64, smoothLeast-1)); got != nil {
		t.Errorf("few values are smoothed: %v", got)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, 700)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	values[0], values[9] = math.NaN(), math.Inf(1)
	got := smoothed(values)
	if !math.IsNaN(got[0]) {
		t.Errorf("the mean of no value is %v", got[0])
	}
	var before []float64
	for i, v := range values {
		if finite(v) {
			before = append(before, v)
		}
		if len(before) == 0 {
			continue
		}
		sum, weight := 0.0, 0.0
		for j, v := range before {
			w := math.Pow(0.5, float64(len(before)-1-j)/7)
			sum, weight = sum+w*v, weight+w
		}
		if want := sum / weight; math.Abs(got[i]-want) > 1e-12 {
			t.Fatalf("value %d is %v, want %v", i, got[i], want)
		}
	}
}

// Many samples are shown in part: the first, the last, and others between them.
func TestSamples(t *testing.T) {
	var records []metrics.Record
	for step := range 100 {
		records = append(records, metrics.Record{Step: step, Texts: map[string]string{"sample": fmt.Sprint("text ", step), "phase": "A"}})
	}
	views := sampleViews(records)
	if len(views) != 1 || views[0].Last.Step != 99 || views[0].Earlier[0].Step != 0 || len(views[0].Earlier) != shownSamples-1 {
		t.Fatalf("views are %+v", views)
	}
	if want := "19 of 99 earlier ones"; views[0].Before != want {
		t.Errorf("the summary is %q, want %q", views[0].Before, want)
	}
}
