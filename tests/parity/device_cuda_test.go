//go:build cudatest

package parity_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// With the tag cudatest the suite runs on the first NVIDIA card, in the place of the
// CPU.

func standard() []runtime.Option { return []runtime.Option{runtime.CUDA(0)} }

func instructionSets(t testing.TB) []device {
	t.Helper()
	return []device{
		{withLibraries, open(t, runtime.CUDA(0))},
		{"generated", open(t, runtime.CUDA(0), runtime.WithoutLibraries())},
	}
}
