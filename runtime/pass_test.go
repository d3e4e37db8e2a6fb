package runtime_test

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// explained returns how often each operation is called after all passes.
func explained(t testing.TB, b *runtime.Batch) map[string]int {
	t.Helper()
	text, err := b.Explain()
	if err != nil {
		t.Fatal(err)
	}
	last := text[max(strings.LastIndex(text, "\n\nafter "), 0):]
	count := map[string]int{}
	for line := range strings.Lines(last) {
		if _, call, ok := strings.Cut(line, " = "); ok {
			name, _, _ := strings.Cut(call, "(")
			count[name]++
		}
	}
	return count
}

func wantCalls(t testing.TB, what string, b *runtime.Batch, op string, want int) {
	t.Helper()
	if got := explained(t, b)[op]; got != want {
		text, _ := b.Explain()
		t.Errorf("%s: %d calls of %s, want %d\n%s", what, got, op, want, text)
	}
}

// Calls whose results nobody reads are dropped, with all that only they need.
func TestDeadCallsAreDropped(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(5), 5)
		b := d.Batch("dead")
		y := testops.MulDeferred(b, x, x)
		testops.AddDeferred(b, testops.AddDeferred(b, y, x), x)
		r := runtime.Read(b, y)
		wantCalls(t, "two sums that nobody reads", b, "add", 0)
		wantCalls(t, "a product that is read", b, "mul", 1)
		mustSync(t, b)
		wantEqual(t, "y", value(t, r), []float32{0, 1, 4, 9, 16})
	})
}

// Equal work is done once: the same operation on the same operands with the same
// scalars. Which scalars are equal is part of what a cached program stands for.
func TestEqualWorkIsShared(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(4), 4)
		b := d.Batch("equal")
		run := func(s, u float32, calls int, want []float32) {
			t.Helper()
			y, z := testops.ScaleDeferred(b, x, s), testops.ScaleDeferred(b, x, u)
			r := runtime.Read(b, testops.AddDeferred(b, y, z))
			wantCalls(t, "scale", b, "scale", calls)
			mustSync(t, b)
			wantEqual(t, "sum", value(t, r), want)
		}
		run(2, 2, 1, []float32{0, 4, 8, 12})
		run(2, 3, 2, []float32{0, 5, 10, 15})
		run(5, 5, 1, []float32{0, 10, 20, 30})
		run(4, 3, 2, []float32{0, 7, 14, 21})
		if p := d.Stats().Programs; p.Misses != 2 || p.Hits != 2 {
			t.Errorf("%+v, want one program for equal scalars and one for others", p)
		}
	})
}

// A value that outlives the batch, or that changes, is not shared.
func TestWhatIsNotShared(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x, g := from(t, d, sequence(3), 3), from(t, d, repeat(1, 3), 3)
		b := d.Batch("kept")
		y, z := testops.MulDeferred(b, x, x), testops.MulDeferred(b, x, x)
		b.Keep(y, z)
		wantCalls(t, "two kept products", b, "mul", 2)
		mustSync(t, b)
		wantEqual(t, "the first", contents(t, y), []float32{0, 1, 4})
		wantEqual(t, "the second", contents(t, z), []float32{0, 1, 4})

		before := testops.MulDeferred(b, x, g)
		x = testops.SGDDeferred(b, x, g, 1)
		after := testops.MulDeferred(b, x, g)
		was, is := runtime.Read(b, before), runtime.Read(b, after)
		wantCalls(t, "a product before and after an update", b, "mul", 2)
		mustSync(t, b)
		wantEqual(t, "before", value(t, was), []float32{0, 1, 2})
		wantEqual(t, "after", value(t, is), []float32{-1, 0, 1})

		one, two := testops.MulDeferred(b, g, g), testops.MulDeferred(b, g, g)
		two = testops.SGDDeferred(b, two, g, 1)
		first, second := runtime.Read(b, one), runtime.Read(b, two)
		wantCalls(t, "two products, of which one is updated", b, "mul", 2)
		mustSync(t, b)
		wantEqual(t, "the one", value(t, first), repeat(1, 3))
		wantEqual(t, "the other", value(t, second), repeat(0, 3))
	})
}

// The gradients of equal calls are those of one call.
func TestSharedCallsHaveGradients(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(3), 3)
		b := d.Batch("gradient")
		y := testops.AddDeferred(b, testops.MulDeferred(b, x, x), testops.MulDeferred(b, x, x))
		r := runtime.Read(b, runtime.GradOf(b, testops.SumDeferred(b, y), x))
		mustSync(t, b)
		wantEqual(t, "d_x", value(t, r), []float32{0, 4, 8})
	})
}

// Passes go by name; a wrong one is an error that says which there are.
func TestPassesAreSwitchedOffByName(t *testing.T) {
	onDevices(t, func(t *testing.T, d *runtime.Device) {
		x := from(t, d, sequence(3), 3)
		b := d.Batch("off")
		y := testops.AddDeferred(b, testops.MulDeferred(b, x, x), testops.MulDeferred(b, x, x))
		testops.ScaleDeferred(b, y, 2)
		r := runtime.Read(b, y)
		wantCalls(t, "without sharing", b, "mul", 2)
		wantCalls(t, "without dropping", b, "scale", 1)
		mustSync(t, b)
		wantEqual(t, "y", value(t, r), []float32{0, 2, 8})
	}, runtime.WithoutPasses("dead", "share"))
	_, err := runtime.Open(runtime.WithoutPasses("fusion"))
	wantError(t, err, runtime.ErrOption, `no pass "fusion"`, "dead, view, share, fuse, inplace")
}
