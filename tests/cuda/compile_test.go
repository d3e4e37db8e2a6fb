// Package cuda compiles the CUDA sources with clang, the generated ones and others. It needs neither CUDA
// nor a card; what runs on one is tested by the suites behind the build tag cudatest.
package cuda

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/sim"
)

// byHand are sources that kgen does not print.
var byHand = []string{"../../runtime/internal/testops/kernels.cu"}

// Every CUDA source compiles to PTX without a warning, and with positions and offsets of
// 64 bits.
func TestEverySourceCompiles(t *testing.T) {
	clang, err := sim.Compiler()
	if err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("../../generated/ops/internal/*/*.cu")
	if err != nil || len(files) < 80 {
		t.Fatalf("%d sources, %v", len(files), err)
	}
	next := make(chan string)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for f := range next {
				for _, how := range [][]string{{"-S", "-o", "/dev/null"}, {"-DKG_INDEX_64", "-fsyntax-only"}} {
					args := append([]string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib",
						"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-include", "testdata/stub.h", f}, how...)
					if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
						t.Errorf("%s %v: %v\n%s", f, how, err, out)
					}
				}
			}
		})
	}
	for _, f := range append(files, byHand...) {
		next <- f
	}
	close(next)
	wg.Wait()
}
