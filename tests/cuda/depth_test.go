//go:build !proof

package cuda

// make proof runs products of all layouts in all types; f16 has all here, too.
const everyProduct = false
