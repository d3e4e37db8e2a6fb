//go:build cudatest && linux && cgo

package runtime_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

var twiceSource = `
struct kg_fault { int lock, set, op, tensor; long long pos, value, bound; };
struct kt_twice_args { long long rows, cols; };
extern "C" __global__ void kt_twice(void *const *buf, const kt_twice_args *args, kg_fault *fault, int op) {
	const float *x = (const float *)buf[0];
	float *y = (float *)buf[1];
	for (int i = threadIdx.x; i < 256; i += blockDim.x) {
		long long col = blockIdx.x * 256ll + i, at = blockIdx.y * args->cols + col;
		if (col < args->cols) y[at] = 2 * x[at];
	}
}
`

// slowSource takes two seconds.
var slowSource = strings.Replace(twiceSource, "const float *x =", `
	unsigned long long now, end;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
	end += 2000000000ull;
	do {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	} while (now < end);
	const float *x =`, 1)

func openGPU(t *testing.T, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d, err := runtime.Open(append(opts, runtime.CUDA(0))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// A program on a card gives what was asked, planned, replayed and traced.
func TestCardProgram(t *testing.T) {
	d := openGPU(t)
	if d.Name() != "cuda" || d.Reference() {
		t.Error(d.Name())
	}
	op := twice(&twiceSource)
	const rows, cols = 3, 1000
	for round := range 4 {
		x := from(t, d, sequence(rows*cols), rows, cols)
		b := d.Batch("card")
		y := callTwice(b, op, x)
		z := callTwice(b, op, y)
		b.Keep(z)
		r := runtime.Read(b, y)
		var trace *runtime.Trace
		if round == 3 {
			var err error
			if trace, err = d.StartTrace(); err != nil {
				t.Fatal(err)
			}
		}
		mustSync(t, b)
		want := sequence(rows * cols)
		for i := range want {
			want[i] *= 2
		}
		wantEqual(t, "y", value(t, r), want)
		for i := range want {
			want[i] *= 2
		}
		wantEqual(t, "z", contents(t, z), want)
		if trace != nil {
			trace.Stop()
			if ops := trace.Ops(); len(ops) != 3 || ops[0].Device <= 0 || ops[0].Op != "twice" {
				t.Errorf("trace %+v", ops)
			}
		}
		z.Close()
		x.Close()
	}
}

// A program that takes too long is given up, and nothing waits for it.
func TestCardDeadline(t *testing.T) {
	d := openGPU(t, runtime.WithDeadline(100*time.Millisecond))
	x := from(t, d, sequence(4), 2, 2)
	b := d.Batch("slow")
	b.Keep(callTwice(b, twice(&slowSource), x))
	start := time.Now()
	err := b.Sync(background)
	if !errors.Is(err, runtime.ErrDeadline) {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("took %v", took)
	}
	time.Sleep(3 * time.Second) // the program ends, and what it used is released
}
