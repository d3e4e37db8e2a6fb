//go:build cudatest && linux && cgo

package cuda

import "C"

// launchAlways makes an instance run without a graph, to compare.
func (in *instance) launchAlways(on bool) {
	if on {
		in.c.plain = 1
	}
}

// products returns how many commands are products of cuBLASLt.
func (c *code) products() int {
	n := 0
	for i := range c.cmds {
		if c.cmds[i].product != nil {
			n++
		}
	}
	return n
}
