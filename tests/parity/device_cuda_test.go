//go:build cudatest

package parity_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// With the tag cudatest the suite runs on the first NVIDIA card, in the place of the
// CPU: by the generated kernels, which give one call the same bits wherever its tensors
// lie and whatever else is asked for, and by libraries, too.

func standard() []runtime.Option {
	return []runtime.Option{runtime.CUDA(0), runtime.WithoutLibraries()}
}

func instructionSets(t testing.TB) []device {
	t.Helper()
	return []device{
		{withLibraries, open(t, runtime.CUDA(0))},
		{"generated", open(t, runtime.CUDA(0), runtime.WithoutLibraries())},
	}
}
