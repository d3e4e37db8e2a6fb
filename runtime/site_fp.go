//go:build amd64 || arm64

package runtime

// callers stores the return addresses of the frames above its caller, innermost
// first, by following the frame pointers. Unlike runtime.Callers it costs a few
// nanoseconds, which a recorded call can afford.
//
//go:noescape
func callers(pcs *sitePCs)
