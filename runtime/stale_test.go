//go:build cgo

package runtime_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// An op whose C source was made from another version of its spec does not run,
// and neither does one without a C kernel: there is no silent stand-in.
func TestRunnable(t *testing.T) {
	op := runtime.Op{
		Name: "copy", Hash: 1,
		Axes:     []runtime.Axis{{Name: "P", Group: true}},
		Ins:      []runtime.Arg{{Name: "x", Shape: []runtime.Dim{{0}}}},
		Outs:     []runtime.Arg{{Name: "y", Shape: []runtime.Dim{{0}}}},
		Variants: []runtime.Variant{{Ins: []runtime.DType{runtime.F32}, Outs: []runtime.DType{runtime.F32}}},
	}
	stale := op
	stale.Built = 2
	dev, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	x, err := runtime.FromSlice(dev, []float32{1, 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for want, op := range map[string]*runtime.Op{
		"no C kernel was generated": &op,
		"run kgen generate":         &stale,
	} {
		b := dev.Batch("stale")
		var call runtime.Call
		call.Begin(b, op)
		call.In(x.Untyped())
		call.Record("")
		runtime.Out[float32](&call, 0)
		err := b.Sync(t.Context())
		if !errors.Is(err, runtime.ErrNoKernel) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want ErrNoKernel with %q", err, want)
		}
	}
}
