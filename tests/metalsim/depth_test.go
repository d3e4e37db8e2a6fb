//go:build !proof

package metalsim_test

// shapes are the numbers of elements of the golden cases that run. The last has
// more than a threadgroup has threads. The build tag proof has more.
var shapes = []int{20, 120, 1100}
