//go:build proof

package metalsim_test

// See depth_test.go.
var shapes = []int{0, 1, 3, 9, 20, 66, 99, 120, 300, 765, 1100, 3075, 5000, 12291, 100003}

var movedSpecs []string
