//go:build !cgo

package main

import "errors"

// measured are the programs that measure the C kernels, by name.
var measured = map[string]func(args []string) error{"": noKernels, "peers": noKernels, "models": noKernels}

func noKernels([]string) error {
	return errors.New("this build has no cgo, and so no C kernels to measure: set CGO_ENABLED=1")
}
