package nn

import (
	"math"
	"math/rand/v2"
)

// NewRand returns the source that constructors draw initial weights from: equal
// seeds and equal constructors in equal order give equal weights, on every device
// and in every type.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// normal returns n numbers of a normal distribution with mean 0.
func normal(r *rand.Rand, std float64, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(std * r.NormFloat64())
	}
	return values
}

// constant returns n times v.
func constant(v float32, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = v
	}
	return values
}

// fanIn is the standard deviation with which a sum of n products of weights and
// inputs of variance 1 has variance 1: LeCun, Bottou, Orr and Müller, Efficient
// BackProp, 1998, eq. 16.
func fanIn(n int) float64 { return 1 / math.Sqrt(float64(n)) }
