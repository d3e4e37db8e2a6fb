package report

import "math"

// Thinning of curves for drawing.
const (
	// buckets are of equal width in steps. A chart is about as many pixels wide.
	buckets = 500
	// smoothLeast is how many values a curve has at least that is smoothed.
	smoothLeast = 50
	// smoothShare is the part of a curve after which a value counts half.
	smoothShare = 1.0 / 100
)

// thinned returns which points of a curve to draw: of each bucket the first, the
// last, the least and the greatest, with which the line covers the same pixels as
// with all of them (M4: Jugel, Jerzak, Hackenbroich and Markl, M4: A
// Visualization-Oriented Time Series Data Aggregation, 2014), and the first that is
// not finite, which is a gap.
func thinned(steps []int, values []float64) []int {
	if len(steps) <= buckets {
		return upTo(len(steps))
	}
	var keep []int
	first, last := steps[0], steps[len(steps)-1]
	width := float64(last-first+1) / buckets
	for from := 0; from < len(steps); {
		bucket := math.Floor(float64(steps[from]-first) / width)
		to := from + 1
		for to < len(steps) && math.Floor(float64(steps[to]-first)/width) == bucket {
			to++
		}
		keep = append(keep, extremes(values, from, to)...)
		from = to
	}
	return keep
}

// extremes returns the points of values[from:to] that are drawn, in their order.
func extremes(values []float64, from, to int) []int {
	least, greatest, gap := -1, -1, -1
	for i := from; i < to; i++ {
		switch v := values[i]; {
		case !finite(v):
			if gap < 0 {
				gap = i
			}
		case least < 0:
			least, greatest = i, i
		case v < values[least]:
			least = i
		case v > values[greatest]:
			greatest = i
		}
	}
	var keep []int
	for i := from; i < to; i++ {
		if i == from || i == to-1 || i == least || i == greatest || i == gap {
			keep = append(keep, i)
		}
	}
	return keep
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// smoothed returns the moving average of values, in which the weight of a value
// halves with each hundredth of the curve, divided by the sum of the weights, so that
// the first values are not drawn to zero (Kingma and Ba, Adam, 2015, section 3). What
// is not finite is left out. Few values are not smoothed: the result is nil.
func smoothed(values []float64) []float64 {
	if len(values) < smoothLeast {
		return nil
	}
	keep := math.Exp2(-1 / max(1, smoothShare*float64(len(values))))
	out := make([]float64, len(values))
	sum, weight := 0.0, 0.0
	for i, v := range values {
		if finite(v) {
			sum, weight = keep*sum+v, keep*weight+1
		}
		out[i] = sum / weight
	}
	return out
}
