//go:build metaltest && !cudatest

package parity_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// With the tag metaltest the suite runs on the first GPU that Metal knows, in the place
// of the CPU. Elsewhere than on a Mac the tag softmetal gives one.

func standard() []runtime.Option { return []runtime.Option{runtime.Metal(0)} }

func instructionSets(t testing.TB) []device {
	t.Helper()
	return []device{{"metal", open(t, runtime.Metal(0))}}
}

// Products of MetalPerformanceShaders, of gradients too, are PyTorch's.
func TestGoldenByLibraries(t *testing.T) {
	devices := []device{{"metal, with libraries", open(t, runtime.Metal(0), runtime.WithLibraries())}}
	ran := &coverage{by: map[string]map[string]bool{}}
	for _, op := range []string{"matmul", "linear", "matmul_bias_gelu"} {
		t.Run(op, func(t *testing.T) { runGolden(t, op, devices, ran) })
	}
}
