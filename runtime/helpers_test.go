package runtime_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

type tensor = testops.Tensor

var background = context.Background()

// gpu is a device that the tests run on as well.
type gpu struct {
	name   string
	opts   []runtime.Option
	double doubleOpener
}

// gpus are the card, where the tests are built for one, and the GPU that Metal knows,
// where there is one.
var gpus = slices.Concat(cards, metals)

// onGPUs returns the options of the devices of gpus.
func onGPUs() [][]runtime.Option {
	var list [][]runtime.Option
	for _, g := range gpus {
		list = append(list, g.opts)
	}
	return list
}

// interpreted reports whether a device is a thousand times slower than others: the reference,
// and the software Metal, which runs a thread of a GPU after the other. Tests give it fewer
// elements.
func interpreted(d *runtime.Device) bool {
	return d.Reference() || d.Name() == "metal" && goruntime.GOOS == "linux"
}

// onDevices runs a test on the CPU device, with one and with several workers, on the
// reference device, and on the GPUs that the tests are built for, each opened with opts. Tests that do not go through it are about the CPU, the reference device
// or a backend of their own.
func onDevices(t *testing.T, test func(t *testing.T, d *runtime.Device), opts ...runtime.Option) {
	type device struct {
		name string
		opts []runtime.Option
	}
	devices := []device{
		{"cpu", []runtime.Option{runtime.WithWorkers(4)}},
		{"single", []runtime.Option{runtime.WithWorkers(1)}},
		{"reference", []runtime.Option{runtime.Reference()}},
	}
	for _, g := range gpus {
		devices = append(devices, device{g.name, g.opts})
	}
	for _, c := range devices {
		t.Run(c.name, func(t *testing.T) {
			test(t, open(t, slices.Concat(c.opts, opts)...))
		})
	}
}

// open opens a device and checks at the end that closing it leaves nothing.
func open(t testing.TB, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	before := goruntime.NumGoroutine()
	d, err := runtime.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := d.Close()
		if err != nil && !errors.Is(err, runtime.ErrClosed) {
			t.Error(err)
		}
		if s := d.Stats(); s.Pool.Live != 0 || s.Pool.Cached != 0 {
			t.Errorf("after Close: %+v", s.Pool)
		}
		settle(t, "goroutines", before, goruntime.NumGoroutine)
	})
	return d
}

// settle waits until a count is back at what it was.
func settle(t testing.TB, what string, want int, count func() int) {
	t.Helper()
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		n := count()
		if n <= want {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%s: %d, were %d", what, n, want)
			return
		}
	}
}

func from[T runtime.Element](t testing.TB, d *runtime.Device, data []T, shape ...int) runtime.Tensor[T] {
	t.Helper()
	x, err := runtime.FromSlice(d, data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func value[T runtime.Element](t testing.TB, r *runtime.Readback[T]) []T {
	t.Helper()
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func contents(t testing.TB, x tensor) []float32 {
	t.Helper()
	v, err := x.Read()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func wantEqual[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantError checks the kind of an error and parts of its text.
func wantError(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want one that is %q", err, kind)
	}
	var e *runtime.Error
	if !errors.As(err, &e) {
		t.Errorf("error %v is not a *runtime.Error", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

func sequence(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	return x
}

func repeat(v float32, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return x
}
