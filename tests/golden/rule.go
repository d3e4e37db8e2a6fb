package golden

import (
	"fmt"
	"math"
	"slices"
)

// Rule gives the elements of a tensor: element i is (low + word i mod (high -
// low)) * unit + shift, of the words of a seed; where Negative is given it takes
// the place of a whole number below zero. values of cases.py is the same rule.
type Rule struct {
	Seed      uint64
	Low, High int64
	Unit      float64
	Shift     float64
	Negative  *int64
}

func (r *Rule) values(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		k := r.Low + int64(word(r.Seed, i)%uint64(r.High-r.Low))
		if r.Negative != nil && k < 0 {
			k = *r.Negative
		}
		list[i] = float64(k)*r.Unit + r.Shift
	}
	return list
}

// word is number i of SplitMix64: Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, 2014, figure 16.
func word(seed uint64, i int) uint64 {
	z := seed + uint64(i+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// samplePositions are where a result of n elements is sampled: at both ends, and
// anywhere.
func samplePositions(n, samples int) []int {
	at := []int{0, n - 1}
	for i := range samples - 2 {
		at = append(at, int(word(0, i)%uint64(n)))
	}
	return at
}

// sumWeights are the weights of sum k: odd numbers from -255 to 255.
func sumWeights(k, n int) []float64 {
	r := Rule{Seed: uint64(k + 1), Low: -128, High: 128, Unit: 2, Shift: 1}
	return r.values(n)
}

// Check says where an array of float64 is not the tensor, up to the rounding of
// a few float64 operations: nil if nowhere. Of a long tensor the samples are
// compared and the sums, whose terms may be off by that rounding each; an
// element that is wrong by more than that, or in another place, changes them.
func (t Tensor) Check(shape []int, data []float64) error {
	if !slices.Equal(shape, t.Shape) {
		return fmt.Errorf("has shape %v, want %v", shape, t.Shape)
	}
	for i, want := range t.Data {
		if !agree(data[i], want, math.Abs(want)) {
			return fmt.Errorf("element %d is %.17g, want %.17g", i, data[i], want)
		}
	}
	if t.Sums == nil {
		if len(t.Data) != len(data) {
			return fmt.Errorf("has %d elements, want %d", len(data), len(t.Data))
		}
		return nil
	}
	for i, at := range samplePositions(len(data), len(t.Samples)) {
		if want := t.Samples[i]; !agree(data[at], want, math.Abs(want)) {
			return fmt.Errorf("element %d is %.17g, want %.17g", at, data[at], want)
		}
	}
	for k, want := range t.Sums {
		sum, terms := 0.0, 0.0
		for i, w := range sumWeights(k, len(data)) {
			sum += w * data[i]
			terms += math.Abs(w * data[i])
		}
		if !agree(sum, want, terms) {
			return fmt.Errorf("weighted sum %d of the elements is %.17g, want %.17g: the samples agree, another element does not", k, sum, want)
		}
	}
	return nil
}

// agree compares two numbers that should differ by the rounding of float64 only;
// size is the sum of the absolute values of what was added up.
func agree(got, want, size float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= 1e-12+1e-11*size
}
