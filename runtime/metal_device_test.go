//go:build cgo && (darwin || (softmetal && linux))

package runtime_test

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/metal"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// metals is the GPU that the tests run on as well.
var metals = []gpu{{"metal", []runtime.Option{runtime.Metal(0)}, openMetalDouble}}

func openMetalDouble(t testing.TB, delay time.Duration, opts ...runtime.Option) (*runtime.Device, *double) {
	t.Helper()
	m, err := metal.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	b := newDouble(m, delay)
	d := runtime.OpenMetalOn(b, opts...)
	t.Cleanup(func() { d.Close() })
	return d, b
}

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
