//go:build !proof

package parity_test

// How much TestSameBits and TestOddOffsets run; the build tag proof has more.
const repeats = 3 // with the most workers

var offsetElements = []int{33, 1025}
