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

// Every CUDA source compiles to PTX, without a warning.
func TestEverySourceCompiles(t *testing.T) {
	clang, err := sim.Compiler()
	if err != nil {
		t.Fatal(err)
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
				out, err := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib",
					"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-include", "testdata/stub.h", "-S", "-o", "/dev/null", f).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", f, err, out)
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
