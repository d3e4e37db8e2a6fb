package golden

import (
	"slices"
	"testing"
)

// TestWords: the known answers of SplitMix64 for the seed 1234567.
func TestWords(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := word(1234567, i); got != want {
			t.Errorf("word %d is %d, want %d", i, got, want)
		}
	}
}

// TestRuleValues: the elements lie between the ends, both of which are reached,
// and negative ones are replaced.
func TestRuleValues(t *testing.T) {
	r := &Rule{Seed: 1, Low: -2, High: 3, Unit: 0.5, Shift: 0.25}
	got := r.values(1000)
	slices.Sort(got)
	if got := slices.Compact(got); !slices.Equal(got, []float64{-0.75, -0.25, 0.25, 0.75, 1.25}) {
		t.Errorf("the rule gives %v", got)
	}
	replaced := int64(-100)
	r = &Rule{Seed: 1, Low: -2, High: 2, Unit: 1, Negative: &replaced}
	got = r.values(1000)
	slices.Sort(got)
	if got := slices.Compact(got); !slices.Equal(got, []float64{-100, 0, 1}) {
		t.Errorf("with negative numbers replaced the rule gives %v", got)
	}
}

func TestCheck(t *testing.T) {
	short := Tensor{Shape: []int{2}, Data: Floats{1, 2}}
	for _, c := range []struct {
		shape []int
		data  []float64
		right bool
	}{
		{[]int{2}, []float64{1, 2}, true}, {[]int{2}, []float64{1, 2.0001}, false}, {[]int{1, 2}, []float64{1, 2}, false},
	} {
		if err := short.Check(c.shape, c.data); (err == nil) != c.right {
			t.Errorf("%v %v: %v", c.shape, c.data, err)
		}
	}
}
