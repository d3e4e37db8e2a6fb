//go:build !proof

package metalsim_test

// shapes are the numbers of elements of the golden cases that run. The last has
// more than a threadgroup has threads. The build tag proof has more.
var shapes = []int{20, 120, 1100}

// movedSpecs are the specs whose bytes are counted. The build tag proof has all.
var movedSpecs = []string{"gelu", "bias_add", "softmax", "rmsnorm"}
