// Package eval measures on the host what a model is worth: how near vectors are to
// those of a teacher and whether they find the right one, and how long samples are.
//
// In come plain numbers, out come figures. It knows nothing of devices, models and
// files.
package eval

import (
	"fmt"
	"math"
	"slices"
)

// Vectors compares predicted vectors with targets, row by row. Both are [rows][elements]
// of the same sizes; elements are finite.
type Vectors struct {
	Cosines []float64 // of each row to its own target; 0 where one of them is 0
	MSE     float64   // mean over all elements of the squared difference
	ranks   []int     // targets that are at least as near to a row as its own, without that
}

// Compare compares predictions with targets. Each row is compared with the targets of all
// rows, so the time grows with their square.
func Compare(predicted, targets [][]float32) (*Vectors, error) {
	if err := check(predicted, targets); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	v := &Vectors{Cosines: make([]float64, len(targets)), ranks: make([]int, len(targets))}
	squares, elements := 0.0, 0
	units := make([][]float64, len(targets))
	for i, t := range targets {
		units[i] = unit(t)
		for j, x := range t {
			d := float64(predicted[i][j]) - float64(x)
			squares += d * d
		}
		elements += len(t)
	}
	for i, p := range predicted {
		direction := unit(p)
		own := dot(direction, units[i])
		v.Cosines[i] = own
		for j, u := range units {
			if j != i && dot(direction, u) >= own {
				v.ranks[i]++
			}
		}
	}
	if elements > 0 {
		v.MSE = squares / float64(elements)
	}
	return v, nil
}

// check returns what is wrong with rows that are to be compared.
func check(predicted, targets [][]float32) error {
	if len(predicted) != len(targets) {
		return fmt.Errorf("%d predictions for %d targets", len(predicted), len(targets))
	}
	for i, t := range targets {
		if len(predicted[i]) != len(t) || len(t) != len(targets[0]) {
			return fmt.Errorf("row %d: a prediction of %d elements for a target of %d, the first target has %d", i, len(predicted[i]), len(t), len(targets[0]))
		}
		for j := range t {
			for _, x := range []float32{predicted[i][j], t[j]} {
				if d := float64(x); math.IsNaN(d) || math.IsInf(d, 0) {
					return fmt.Errorf("row %d: element %d is %v, must be finite", i, j, x)
				}
			}
		}
	}
	return nil
}

// unit returns a vector in float64 with length 1, or 0 if it is.
func unit(v []float32) []float64 {
	u := make([]float64, len(v))
	sum := 0.0
	for i, x := range v {
		u[i] = float64(x)
		sum += u[i] * u[i]
	}
	if sum > 0 {
		length := math.Sqrt(sum)
		for i := range u {
			u[i] /= length
		}
	}
	return u
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Cosine returns the mean of Cosines, NaN without rows.
func (v *Vectors) Cosine() float64 {
	sum := 0.0
	for _, c := range v.Cosines {
		sum += c
	}
	return sum / float64(len(v.Cosines))
}

// Loss is that of distillation, Alpha·(1 − cosine) + Beta·MSE, in the mean.
func (v *Vectors) Loss(alpha, beta float64) float64 {
	return alpha*(1-v.Cosine()) + beta*v.MSE
}

// Retrieval returns the part of the rows whose own target is among the k targets that are
// nearest to them by cosine, NaN without rows. Of targets that are equally near a row's own
// comes last, so that vectors that say nothing find nothing.
func (v *Vectors) Retrieval(k int) float64 {
	found := 0
	for _, r := range v.ranks {
		if r < k {
			found++
		}
	}
	return float64(found) / float64(len(v.ranks))
}

// Percentiles returns, for each p in [0, 100], the least value that at least p percent of
// the values are no larger than (the nearest rank). There must be a value.
func Percentiles[T int | float64](values []T, p ...float64) []T {
	sorted := slices.Sorted(slices.Values(values))
	list := make([]T, len(p))
	for i, p := range p {
		rank := int(math.Ceil(p / 100 * float64(len(sorted))))
		list[i] = sorted[max(rank, 1)-1]
	}
	return list
}
