package deadcall

import (
	"errors"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

func TestWrongShapes(t *testing.T) {
	d, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, _ := runtime.Zeros[float32](d, 3)
	y, _ := runtime.Zeros[float32](d, 2)
	b := d.Batch("wrong")
	ops.AddDeferred(b, x, y)    // for its error
	h := ops.GELUDeferred(b, x) // want `the result of GELUDeferred is not used`
	h = x
	b.Keep(h)
	if !errors.Is(b.Sync(t.Context()), runtime.ErrShape) {
		t.Error("wrong shapes")
	}
}
