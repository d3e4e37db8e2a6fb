//go:build cgo && softmetal && linux

package runtime_test

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// A GPU that fails makes the device unusable, with an error that names the kernel.
func TestMetalFailure(t *testing.T) {
	d := open(t, runtime.Metal(0))
	x := from(t, d, sequence(4), 4)
	if _, err := testops.Scale(x, 2); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOFTMETAL_FAIL", "kt_mul")
	b := d.Batch("fails")
	y := testops.ScaleDeferred(b, x, 3)
	r := runtime.Read(b, testops.MulDeferred(b, y, y))
	err := b.Sync(background)
	for _, part := range []string{"metal: run: the program did not complete (status 5)", "the last kernel that it came to is kt_mul", "(MTLCommandBufferErrorDomain 3)", "MTL_SHADER_VALIDATION=1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
	if v, err := r.Value(); err == nil {
		t.Errorf("a result of a program that failed: %v", v)
	}
	if d.Lost() == nil {
		t.Error("the device is not lost")
	}
}

// Without MetalPerformanceShaders it is an error to ask for it, and the device is what it
// was.
func TestMetalWithoutLibraries(t *testing.T) {
	t.Setenv("SOFTMETAL_MPS", "unsupported")
	_, err := runtime.Open(runtime.Metal(0), runtime.WithLibraries())
	wantError(t, err, runtime.ErrUnavailable, "the framework does not support this GPU")
	if _, err := testops.Scale(from(t, open(t, runtime.Metal(0)), sequence(4), 4), 2); err != nil {
		t.Error(err)
	}
}
