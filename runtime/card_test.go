//go:build cudatest && linux && cgo

package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/cuda"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// cards is the card that the tests run on as well.
var cards = []gpu{{"cuda", []runtime.Option{runtime.CUDA(0)}, openCardDouble}}

// TestMain keeps the card's context, which takes longer to make than most tests do,
// from the first test to the last, and the kernels that were compiled.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "kgen")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		os.Setenv("XDG_CACHE_HOME", dir)
		if b, err := cuda.Open(0); err == nil { // else each test says why not
			defer b.Close()
		}
		return m.Run()
	}())
}

func openCardDouble(t testing.TB, delay time.Duration, opts ...runtime.Option) (*runtime.Device, *double) {
	t.Helper()
	card, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	b := newDouble(card, delay)
	b.latch = newLatch(card)
	d := runtime.OpenCUDAOn(b, opts...)
	t.Cleanup(func() { d.Close() })
	return d, b
}

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

// A program that comes again is a replay of a graph: with other scalars, in other
// memory, with a fault and after one, it gives what it gave.
func TestCardReplays(t *testing.T) {
	d := openGPU(t)
	card := runtime.BackendOf(d).(*cuda.Device)
	const n, rounds = 3000, 12
	table, err := from(t, d, sequence(6), 3, 2).View(0, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	w := from(t, d, repeat(0, n), n)
	b := d.Batch("replayed")
	for round := range rounds {
		id := int32(round % 3) // every third one is not in the table
		ids := from(t, d, []int32{1, id}, 2)
		x := from(t, d, repeat(float32(round), n), n)
		updated := testops.SGDDeferred(b, w, x, -2)
		rows := runtime.Read(b, testops.EmbeddingDeferred(b, ids, table))
		scaled := runtime.Read(b, testops.ScaleDeferred(b, updated, float32(round)))
		before := contents(t, table)
		err := b.Sync(background)
		var fault *runtime.FaultError
		switch {
		case id == 2:
			if !errors.As(err, &fault) || fault.Value != 2 || fault.Index[0] != 1 {
				t.Fatalf("round %d: %v", round, err)
			}
		case err != nil:
			t.Fatalf("round %d: %v", round, err)
		default:
			w = updated
			wantEqual(t, "rows", value(t, rows), []float32{2, 3, float32(2 * id), float32(2*id + 1)})
			for i, v := range value(t, scaled) {
				if want := float32(round * 2 * sumWithout(round)); v != want {
					t.Fatalf("round %d: element %d is %v, want %v", round, i, v, want)
				}
			}
		}
		wantEqual(t, "table", contents(t, table), before)
		wantEqual(t, "w", contents(t, w), repeat(float32(2*sumWithout(round)), n))
		x.Close()
		ids.Close()
	}
	if got := card.Replays(); got < rounds-2 {
		t.Errorf("%d replays of %d runs", got, rounds)
	}
}

// sumWithout is the sum of the rounds up to one, without those that fail.
func sumWithout(round int) int {
	sum := 0
	for r := range round + 1 {
		if r%3 != 2 {
			sum += r
		}
	}
	return sum
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
