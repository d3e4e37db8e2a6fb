//go:build proof

package cuda

// See depth_test.go.
const everyProduct = true
