//go:build cudatest

package programs

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

var soak = flag.Duration("soak", 20*time.Second, "how long TestSoakOnACard runs")

// Sixteen goroutines run programs of many sizes on one card, waiting, submitting ahead
// or failing on a bad id. A program gives the same bits each time, and about what the
// CPU gives; the memory of device and host stays what it is.
func TestSoakOnACard(t *testing.T) {
	card, err := runtime.Open(runtime.CUDA(0))
	if err != nil {
		t.Fatal(err)
	}
	cpu := open(t)
	var first sync.Map // by size: what the first run gave
	var programs, faults atomic.Int64
	work := func(id int, until time.Time) {
		for round := 0; time.Now().Before(until); round++ {
			n := 1 + (id*37+round*61)%300
			switch round % 5 {
			case 4:
				faults.Add(1)
				if err := badID(card, n); err != nil {
					t.Errorf("goroutine %d, round %d: %v", id, round, err)
					return
				}
			default:
				got, err := trainingStep(card, n, round%2 == 1)
				if err != nil {
					t.Errorf("goroutine %d, round %d: %v", id, round, err)
					return
				}
				want, seen := first.LoadOrStore(n, got)
				if !seen {
					if want, err = trainingStep(cpu, n, false); err != nil || !close32(got, want.([2]float32), 1e-3) {
						t.Errorf("size %d: %v on the card, %v on the CPU, %v", n, got, want, err)
					}
				} else if got != want {
					t.Errorf("size %d: %v, the first time %v", n, got, want)
				}
			}
			programs.Add(1)
		}
	}
	all := func(d time.Duration) {
		var wg sync.WaitGroup
		until := time.Now().Add(d)
		for id := range 16 {
			wg.Go(func() { work(id, until) })
		}
		wg.Wait()
	}
	all(*soak / 4)
	before, host := card.Stats(), resident(t)
	all(*soak * 3 / 4)
	after, grown := card.Stats(), resident(t)-host
	t.Logf("%d programs, %d of them with a fault; pool %d → %d bytes kept, the most in use %d → %d; the process %+d MiB of %d",
		programs.Load(), faults.Load(), before.Pool.Cached, after.Pool.Cached, before.Pool.Peak, after.Pool.Peak, grown>>20, host>>20)
	if after.Tensors != 0 || after.Pool.Live != 0 || after.InFlight != 0 || grown > 64<<20 {
		t.Errorf("%+v after %+v, the process has grown by %d MiB", after, before, grown>>20)
	}
	if err := card.Close(); err != nil {
		t.Error(err)
	}
}

// trainingStep returns the loss and the sum of the updated weights.
func trainingStep(d *runtime.Device, n int, ahead bool) (got [2]float32, err error) {
	made := func(count int) []float32 {
		data := make([]float32, count)
		for i := range data {
			data[i] = float32(math.Sin(float64(i*n+1))) / 4
		}
		return data
	}
	x, e1 := runtime.FromSlice(d, made(n*64), n, 64)
	w, e2 := runtime.FromSlice(d, made(64*32), 64, 32)
	if err := errors.Join(e1, e2); err != nil {
		return got, err
	}
	defer x.Close()
	defer w.Close()
	b := d.Batch("step")
	h := ops.GELUDeferred(b, ops.MatMulNNDeferred(b, x, w))
	loss := ops.MeanDeferred(b, ops.MulDeferred(b, h, h))
	g := runtime.As[float32](b.Grad(loss, w)[0])
	moved := ops.SubDeferred(b, w, ops.ScaleDeferred(b, g, 0.1))
	l, s := runtime.Read(b, loss), runtime.Read(b, ops.SumDeferred(b, moved))
	if ahead {
		fence := b.Submit()
		if err := fence.Wait(context.Background()); err != nil {
			return got, err
		}
	} else if err := b.Sync(context.Background()); err != nil {
		return got, err
	}
	var e3 error
	got[0], e1 = l.Scalar()
	got[1], e3 = s.Scalar()
	return got, errors.Join(e1, e3)
}

// badID wants the fault of an id that is not in its table.
func badID(d *runtime.Device, n int) error {
	ids, e1 := runtime.FromSlice(d, []int32{0, int32(n)}, 2)
	table, e2 := runtime.Zeros[float32](d, n, 8)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	defer ids.Close()
	defer table.Close()
	_, err := ops.Embedding(ids, table)
	var fault *runtime.FaultError
	if !errors.As(err, &fault) || fault.Value != int64(n) || fault.Index[0] != 1 {
		return errors.Join(errors.New("no fault for a bad id"), err)
	}
	return nil
}

func close32(a, b [2]float32, tolerance float64) bool {
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > tolerance*(1+math.Abs(float64(b[i]))) {
			return false
		}
	}
	return true
}

// resident returns the memory of the process, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
