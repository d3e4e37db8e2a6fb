//go:build cudatest && linux && cgo

package cuda

import "C"

// launchAlways makes an instance run without a graph, to compare.
func (in *instance) launchAlways(on bool) {
	if on {
		in.c.plain = 1
	}
}
