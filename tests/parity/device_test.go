package parity_test

import (
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// device is a device of this machine.
type device struct {
	name string
	*runtime.Device
}

// withLibraries is the name of a device on which a library computes the products whose
// operands lie as it wants them: with others they have other bits.
const withLibraries = "cuda"

// open opens a device for the time of a test.
func open(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d, err := runtime.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// both returns the default device and the reference device.
func both(t testing.TB, opts ...runtime.Option) []device {
	t.Helper()
	return []device{
		{"default", open(t, append(opts, standard()...)...)},
		{"reference", open(t, append([]runtime.Option{runtime.Reference()}, opts...)...)},
	}
}

// everywhere returns both devices, and the CPU with each instruction set that
// this machine has and with guards behind every tensor.
func everywhere(t testing.TB) []device {
	t.Helper()
	return append(both(t), instructionSets(t)...)
}

// targets returns one device for each way in which kernels are made: the
// reference, and the CPU with each instruction set that this machine has, with
// guards behind every tensor.
func targets(t testing.TB) []device {
	t.Helper()
	ref := device{"reference", open(t, runtime.Reference(), runtime.WithGuards())}
	return append(instructionSets(t), ref)
}
