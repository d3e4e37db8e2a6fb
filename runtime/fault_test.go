package runtime_test

import (
	"errors"
	"math"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// A table of five rows in front of a sixth that no id may reach.
func fiveRows(t *testing.T, d *runtime.Device) (table, all tensor) {
	all = from(t, d, sequence(18), 6, 3)
	table, err := all.View(0, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	return table, all
}

func TestIdOutOfBounds(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		table, all := fiveRows(t, d)
		y, err := testops.Embedding(from(t, d, []int32{0, 4}, 2), table)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "rows", contents(t, y), []float32{0, 1, 2, 12, 13, 14})
		for _, bad := range []int32{5, 6, -1, math.MinInt32} {
			ids := from(t, d, []int32{0, 1, bad, 2}, 2, 2)
			y, err := testops.Embedding(ids, table)
			var fault *runtime.FaultError
			if !errors.As(err, &fault) {
				t.Fatalf("id %d: got %v", bad, err)
			}
			wantEqual(t, "index", fault.Index, []int64{1, 0})
			if fault.Value != int64(bad) || fault.Bound != 5 || fault.Op != "embedding" || fault.Tensor != "ids" {
				t.Errorf("fault %+v", *fault)
			}
			_, err = y.Read()
			wantError(t, err, runtime.ErrStale)

			b := d.Batch("deferred")
			r := runtime.Read(b, testops.EmbeddingDeferred(b, ids, table))
			err = b.Sync(background)
			if !errors.As(err, &fault) {
				t.Errorf("deferred: %v", err)
			}
			wantError(t, err, fault, "embedding: ids[1,0] is ", "must be in [0, 5)", `batch "deferred"`, "fault_test.go:")
			if v, err := r.Value(); v != nil || !errors.As(err, &fault) {
				t.Errorf("readback: %v, %v", v, err)
			}
		}
		wantEqual(t, "the table", contents(t, all), sequence(18))
		if n := d.Stats().Faults; n != 8 {
			t.Errorf("%d faults counted, want 8", n)
		}
	})
}

// The first call wins, and in it the lowest position, for any number of workers.
func TestFirstFaultWins(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		table, _ := fiveRows(t, d)
		many := make([]int32, 100_000)
		for i := 40_321; i < len(many); i += 7 {
			many[i] = int32(100 + i)
		}
		first, second := from(t, d, many, len(many)), from(t, d, []int32{77}, 1)
		for range 20 {
			b := d.Batch("two")
			runtime.Read(b, testops.EmbeddingDeferred(b, first, table))
			runtime.Read(b, testops.EmbeddingDeferred(b, second, table))
			var fault *runtime.FaultError
			if err := b.Sync(background); !errors.As(err, &fault) {
				t.Fatal(err)
			}
			if fault.Index[0] != 40_321 || fault.Value != 40_421 {
				t.Fatalf("fault %+v", *fault)
			}
		}
	})
}

// No parameter changes in a program that fails, whether its update comes before
// or after the fault, and the old handles are valid again.
func TestFaultChangesNothing(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		all := from(t, d, sequence(8), 8)
		left, _ := all.View(0, 4)
		right, _ := all.View(4, 4)
		g := from(t, d, repeat(1, 4), 4)
		table, _ := fiveRows(t, d)
		bad := from(t, d, []int32{9}, 1)
		b := d.Batch("half a step")
		l2 := testops.SGDDeferred(b, left, g, 1)
		l3 := testops.SGDDeferred(b, l2, g, 1)
		runtime.Read(b, testops.EmbeddingDeferred(b, bad, table))
		r2 := testops.SGDDeferred(b, right, g, 1)
		var fault *runtime.FaultError
		if err := b.Sync(background); !errors.As(err, &fault) {
			t.Fatal(err)
		}
		wantEqual(t, "all", contents(t, all), sequence(8))
		wantEqual(t, "left", contents(t, left), sequence(4))
		for _, x := range []tensor{l2, l3, r2} {
			_, err := x.Read()
			wantError(t, err, runtime.ErrStale)
		}
		left = testops.SGDDeferred(b, left, g, 1)
		if err := b.Sync(background); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "all", contents(t, all), []float32{-1, 0, 1, 2, 4, 5, 6, 7})
		wantEqual(t, "left", contents(t, left), []float32{-1, 0, 1, 2})
	})
}

// A gradient through a bad id fails as a whole.
func TestFaultInGradient(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		w := from(t, d, sequence(10), 5, 2)
		b := d.Batch("step")
		loss := testops.SumDeferred(b, testops.EmbeddingDeferred(b, from(t, d, []int32{1, 5}, 2), w))
		g := runtime.GradOf(b, loss, w)
		w2 := testops.SGDDeferred(b, w, g, 1)
		r := runtime.Read(b, loss)
		var fault *runtime.FaultError
		if err := b.Sync(background); !errors.As(err, &fault) || fault.Index[0] != 1 {
			t.Fatal(err)
		}
		if _, err := r.Value(); !errors.As(err, &fault) {
			t.Error(err)
		}
		wantEqual(t, "w", contents(t, w), sequence(10))
		wantError(t, w2.Err(), runtime.ErrStale)
	})
}
