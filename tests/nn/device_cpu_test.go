//go:build !cudatest

package nn_test

import "github.com/kernelgen/kgen/runtime"

// standard are the options of the device that is tested beside the reference.
func standard() []runtime.Option { return nil }
