//go:build !cudatest

package graph_test

import "github.com/kernelgen/kgen/runtime"

// standard are the options of the device that graphs run on.
func standard() []runtime.Option { return nil }
