//go:build cudatest

package nn_test

import "github.com/kernelgen/kgen/runtime"

// With the tag cudatest the suite runs on the first NVIDIA card, in the place of the
// CPU: by the generated kernels, which give one call the same bits wherever its tensors
// lie.
func standard() []runtime.Option {
	return []runtime.Option{runtime.CUDA(0), runtime.WithoutLibraries()}
}
