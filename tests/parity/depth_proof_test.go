//go:build proof

package parity_test

// See depth_test.go.
const repeats = 50

var offsetElements = []int{1, 3, 9, 33, 99, 300, 771, 1025, 4097, 12291, 40000}
