//go:build !cudatest && !metaltest

package parity_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// standard are the options of the device that is tested beside the reference.
func standard() []runtime.Option { return nil }

func instructionSets(t testing.TB) []device {
	t.Helper()
	var list []device
	for _, isa := range []string{"baseline", "avx2", "avx512"} {
		d, err := runtime.Open(runtime.WithISA(isa), runtime.WithGuards())
		if err != nil {
			t.Logf("left out: %v", err)
			continue
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, device{isa, d})
	}
	if len(list) == 0 {
		t.Fatal("no instruction set, not even the baseline")
	}
	return list
}
