//go:build cgo && (darwin || softmetal && linux)

package runtime_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// A program on a GPU that Metal knows gives what was asked.
func TestMetalProgram(t *testing.T) {
	d := open(t, runtime.Metal(0))
	if d.Name() != "metal" || d.Reference() {
		t.Error(d.Name())
	}
	x := from(t, d, sequence(3000), 3000)
	b := d.Batch("metal")
	y := testops.ScaleDeferred(b, x, 2)
	z := testops.AddDeferred(b, y, x)
	r := runtime.Read(b, z)
	mustSync(t, b)
	want := sequence(3000)
	for i := range want {
		want[i] *= 3
	}
	wantEqual(t, "z", value(t, r), want)
}
