//go:build cudatest

package graph_test

import "github.com/kernelgen/kgen/runtime"

// With the tag cudatest graphs run on the first NVIDIA card, in the place of the CPU.
// A device that is to be lost stays the CPU's, with one worker: there the deadline is
// sure to be missed.
func standard() []runtime.Option { return []runtime.Option{runtime.CUDA(0)} }
