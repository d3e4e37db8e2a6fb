//go:build cgo

package runtime_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

var memoryLine = regexp.MustCompile(`(?:, (\d+) results? in the memory of an operand)?; (\d+) bytes while it runs \(at most (\d+) at a time\)`)

// inPlace returns how many results of the recorded program are computed in the memory
// of an operand, the bytes that it needs, and the least that any layout needs.
func inPlace(t testing.TB, b *runtime.Batch) (results, bytes, bound int) {
	t.Helper()
	text, err := b.Explain()
	if err != nil {
		t.Fatal(err)
	}
	var n [3]int
	found := memoryLine.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no memory in\n%s", text)
	}
	for i := range n {
		n[i], _ = strconv.Atoi(found[i+1])
	}
	return n[0], n[1], n[2]
}

// A chain of additions needs the memory of one of its links, and of two where results
// may not take over operands.
func TestChainInPlace(t *testing.T) {
	const n, links = 1 << 16, 50
	type device struct {
		opts    []runtime.Option
		results int
		places  int
	}
	devices := []device{
		{nil, links - 1, 1},
		{[]runtime.Option{runtime.WithWorkers(1)}, links - 1, 1},
		{[]runtime.Option{runtime.WithoutPasses("inplace")}, 0, 2},
		{[]runtime.Option{runtime.Reference()}, 0, 2},
	}
	for _, opts := range onGPUs() { // only C functions say where they allow it
		devices = append(devices, device{opts, 0, 2})
	}
	for _, c := range devices {
		d := open(t, c.opts...)
		x := from(t, d, sequence(n), n)
		b := d.Batch("chain")
		y := x
		for range links {
			y = testops.AddDeferred(b, y, x)
		}
		r := runtime.Read(b, testops.SumDeferred(b, testops.MulDeferred(b, y, x)))
		results, bytes, bound := inPlace(t, b)
		if c.results > 0 {
			c.results++ // the product
		}
		if results != c.results || bytes/(4*n) != c.places || bound/(4*n) != c.places {
			t.Errorf("%d results in place, %d bytes (at most %d at a time), want %d and %d tensors", results, bytes, bound, c.results, c.places)
		}
		mustSync(t, b)
		want := 0.0
		for i := range n {
			want += (links + 1) * float64(i) * float64(i)
		}
		if got := float64(value(t, r)[0]); got < want*(1-1e-5) || got > want*(1+1e-5) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// An operand that something else needs keeps its memory.
func TestWhatIsNotTakenOver(t *testing.T) {
	type program func(b *runtime.Batch, x tensor) []*runtime.Readback[float32]
	read := func(b *runtime.Batch, list ...tensor) (reads []*runtime.Readback[float32]) {
		for _, y := range list {
			reads = append(reads, runtime.Read(b, y))
		}
		return reads
	}
	view := func(x tensor, from int, shape ...int) tensor {
		v, err := x.View(from, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const n = 2100 // two tiles and a bit
	for _, c := range []struct {
		name    string
		results int
		record  program
	}{
		{"outside the program", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			return read(b, testops.AddDeferred(b, x, x))
		}},
		{"kept", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			b.Keep(y)
			return read(b, testops.AddDeferred(b, y, x))
		}},
		{"a kept result", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			z := testops.AddDeferred(b, testops.MulDeferred(b, x, x), x)
			b.Keep(z)
			return read(b, z)
		}},
		{"used for the last time", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			return read(b, testops.AddDeferred(b, testops.MulDeferred(b, x, x), x))
		}},
		{"both operands one", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			return read(b, testops.AddDeferred(b, y, y))
		}},
		{"two operands that both end", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			return read(b, testops.AddDeferred(b, testops.MulDeferred(b, x, x), testops.ScaleDeferred(b, x, 3)))
		}},
		{"used again", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			z := testops.AddDeferred(b, y, x)
			return read(b, testops.MulDeferred(b, y, z)) // only this one may
		}},
		{"read back later", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			z := testops.AddDeferred(b, y, x)
			return read(b, y, z)
		}},
		{"read back before", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			reads := read(b, y)
			return append(reads, read(b, testops.AddDeferred(b, y, x))...)
		}},
		{"a part of it", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			return read(b, testops.ScaleDeferred(b, view(y, 1, n-1), 2))
		}},
		{"its beginning", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			return read(b, testops.ScaleDeferred(b, view(y, 0, n-1), 2))
		}},
		{"two parts of it", 0, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			return read(b, testops.AddDeferred(b, view(y, 0, n/2), view(y, n/2, n/2)))
		}},
		{"whole, in another shape", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			return read(b, testops.ScaleDeferred(b, view(y, 0, n/2, 2), 2))
		}},
		{"updated later", 1, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.MulDeferred(b, x, x)
			z := testops.ScaleDeferred(b, y, 2)
			y = testops.SGDDeferred(b, y, x, 0.5)
			return read(b, z, testops.ScaleDeferred(b, y, 3)) // the last one
		}},
		{"its gradient's", 3, func(b *runtime.Batch, x tensor) []*runtime.Readback[float32] {
			y := testops.ScaleDeferred(b, x, 2)
			z := testops.MulDeferred(b, y, y)
			return read(b, runtime.GradOf(b, testops.SumDeferred(b, z), x))
		}},
	} {
		run := func(results int, opts ...runtime.Option) [][]float32 {
			d := open(t, opts...)
			x := from(t, d, sequence(n), n)
			b := d.Batch(c.name)
			reads := c.record(b, x)
			if got, bytes, bound := inPlace(t, b); got != results || bytes < bound {
				text, _ := b.Explain()
				t.Errorf("%s: %d results in place, want %d\n%s", c.name, got, results, text)
			}
			mustSync(t, b)
			var values [][]float32
			for _, r := range reads {
				values = append(values, value(t, r))
			}
			return values
		}
		want := run(0, runtime.Reference())
		for _, opts := range [][]runtime.Option{{runtime.WithWorkers(1)}, {runtime.WithWorkers(4)}} {
			for i, got := range run(c.results, opts...) {
				wantEqual(t, c.name, got, want[i])
			}
		}
		for _, opts := range append([][]runtime.Option{{runtime.WithoutPasses("inplace")}, {runtime.WithGuards()}}, onGPUs()...) {
			for i, got := range run(0, opts...) {
				wantEqual(t, c.name+", apart", got, want[i])
			}
		}
	}
}
