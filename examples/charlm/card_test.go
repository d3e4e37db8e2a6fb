//go:build cudatest

package main

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

// On a card the losses of 200 steps are those of the CPU, up to the order of sums.
func TestLossesOnACard(t *testing.T) {
	const n = 200
	want := losses(t, runtime.WithWorkers(8), n)
	start := time.Now()
	got := losses(t, runtime.CUDA(0), n)
	t.Logf("%.0f steps per second on the card, with the compilation of its kernels", n/time.Since(start).Seconds())
	start = time.Now()
	losses(t, runtime.CUDA(0), n)
	t.Logf("%.0f steps per second on the card", n/time.Since(start).Seconds())
	worst := largestError(got, want)
	t.Logf("losses %.4f, %.4f, …, %.4f; they differ by at most %.2g of their value", got[0], got[1], got[n-1], worst)
	if worst > 2e-3 {
		t.Errorf("losses on the card %v, on the CPU %v", got, want)
	}
}
