//go:build cgo && (darwin || (softmetal && linux))

package main

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// On a GPU that Metal knows the losses of ten steps are those of the CPU, up to the order
// of sums.
func TestLossesOnMetal(t *testing.T) {
	const n = 10
	want := losses(t, runtime.WithWorkers(2), n)
	got := losses(t, runtime.Metal(0), n)
	worst := largestError(got, want)
	t.Logf("losses %.5f, %.5f, …, %.5f; they differ by at most %.2g of their value", got[0], got[1], got[n-1], worst)
	if worst > 1e-5 {
		t.Errorf("losses on Metal %v, on the CPU %v", got, want)
	}
}
