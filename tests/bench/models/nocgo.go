//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "models: measures the C kernels, and this build has no cgo: set CGO_ENABLED=1")
	os.Exit(1)
}
