package runtime_test

import (
	"testing"
	"unsafe"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/testops"
)

// flattening is an op whose result holds its input in another shape, and counts
// how often it runs.
type flattening struct {
	op   runtime.Op
	runs int
}

func newFlattening() *flattening {
	f := &flattening{}
	f.op = runtime.Op{
		Name: "flatten", Hash: 99, Axes: []runtime.Axis{{Name: "A"}, {Name: "B"}},
		Ins:  []runtime.Arg{{Name: "x", Shape: []runtime.Dim{{0}, {1}}}},
		Outs: []runtime.Arg{{Name: "y", Shape: []runtime.Dim{{0, 1}}}},
		Variants: []runtime.Variant{{
			Ins: []runtime.DType{runtime.F32}, Outs: []runtime.DType{runtime.F32}, Reshape: 1,
			Ref: func(c *runtime.RefCall) {
				f.runs++
				copy(unsafe.Slice((*float32)(c.Buf[1]), c.Len[1]), unsafe.Slice((*float32)(c.Buf[0]), c.Len[0]))
			},
		}},
	}
	return f
}

func (f *flattening) deferred(b *runtime.Batch, x tensor) tensor {
	var c runtime.Call
	c.Begin(b, &f.op)
	c.In(x.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

// A result that is its operand in another shape is not copied, unless it
// outlives the program or one of the two is updated in place afterwards.
func TestReshapesAreNotCopied(t *testing.T) {
	d := open(t, runtime.Reference())
	for _, c := range []struct {
		name string
		runs int
		want []float32
		// record reads the flattened x = 0 to 5 and returns what is read.
		record func(b *runtime.Batch, f *flattening, x, g tensor) tensor
	}{
		{"read", 0, sequence(6), func(b *runtime.Batch, f *flattening, x, g tensor) tensor { return f.deferred(b, x) }},
		{"an operand", 0, []float32{0, 2, 4, 6, 8, 10}, func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			return testops.ScaleDeferred(b, f.deferred(b, x), 2)
		}},
		{"of a result", 0, []float32{0, 2, 4, 6, 8, 10}, func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			return f.deferred(b, testops.ScaleDeferred(b, x, 2))
		}},
		{"a part of it", 0, []float32{4, 5}, func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			part, err := f.deferred(b, x).View(4, 2)
			if err != nil {
				t.Fatal(err)
			}
			return part
		}},
		{"kept", 1, sequence(6), func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			y := f.deferred(b, x)
			b.Keep(y)
			return y
		}},
		{"the operand is updated later", 1, sequence(6), func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			y := f.deferred(b, x)
			testops.SGDDeferred(b, x, g, 1)
			return y
		}},
		{"the operand was updated before", 0, []float32{-1, 0, 1, 2, 3, 4}, func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			return f.deferred(b, testops.SGDDeferred(b, x, g, 1))
		}},
		{"it is updated itself", 1, []float32{0, 2, 4, 6, 8, 10}, func(b *runtime.Batch, f *flattening, x, g tensor) tensor {
			y := f.deferred(b, x)
			return testops.SGDDeferred(b, y, y, -1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFlattening()
			x, g := from(t, d, sequence(6), 2, 3), from(t, d, repeat(1, 6), 2, 3)
			b := d.Batch(c.name)
			r := runtime.Read(b, c.record(b, f, x, g))
			mustSync(t, b)
			wantEqual(t, "the flattened tensor", value(t, r), c.want)
			if f.runs != c.runs {
				t.Errorf("the copy ran %d times, want %d", f.runs, c.runs)
			}
			if c.name == "it is updated itself" {
				wantEqual(t, "the operand", contents(t, x), sequence(6))
			}
		})
	}
}
