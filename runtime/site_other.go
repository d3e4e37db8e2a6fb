//go:build !amd64 && !arm64

package runtime

import goruntime "runtime"

// callers stores the return addresses of the frames above its caller, innermost
// first.
func callers(pcs *sitePCs) {
	n := goruntime.Callers(2, pcs[:])
	clear(pcs[n:])
}
