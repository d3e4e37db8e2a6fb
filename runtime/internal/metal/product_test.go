//go:build cgo && (darwin || (softmetal && linux))

package metal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// stored appends a number that the type holds exactly.
func stored(to []byte, typ backend.Float, x float64) []byte {
	bits := math.Float32bits(float32(x))
	switch {
	case typ == backend.F32:
		return binary.NativeEndian.AppendUint32(to, bits)
	case x == 0:
		return append(to, 0, 0)
	}
	return binary.NativeEndian.AppendUint16(to, uint16(bits>>16&0x8000|(bits>>23&0xff-112)<<10|bits>>13&0x3ff))
}

// matrix returns multiples of 1/4, whose products and short sums of them every type holds
// exactly.
func matrix(n int64, seed int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64((i*7+i/5+seed)%9-4) / 4
	}
	return values
}

// multiplied is the product by its definition.
func multiplied(p *backend.Product, a, b []float64) []float64 {
	at := func(x []float64, trans bool, z, i, j, rows, columns int64) float64 {
		if trans {
			i, j, rows, columns = j, i, columns, rows
		}
		return x[(z*rows+i)*columns+j]
	}
	var c []float64
	for z := range p.Batch {
		for i := range p.M {
			for j := range p.N {
				sum := 0.0
				for k := range p.K {
					sum += at(a, p.TransA, z, i, k, p.M, p.K) * at(b, p.TransB, z, k, j, p.K, p.N)
				}
				c = append(c, sum)
			}
		}
	}
	return c
}

// memory returns memory of the device with these bytes, from an offset of it on.
func memory(t *testing.T, d *Device, off int64, data []byte) unsafe.Pointer {
	t.Helper()
	p := d.Alloc(off + int64(len(data)))
	if p == nil {
		t.Fatal("no memory")
	}
	t.Cleanup(func() { d.Free(p) })
	if err := d.Upload(unsafe.Add(p, off), unsafe.Pointer(&data[0]), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	return p
}

// productProgram copies slot 0 to slot 1, multiplies that by slot 2 into slot 3, and copies
// it to slot 4: so what comes before and after the product depends on it. Matrices begin at
// off.
func productProgram(p *backend.Product, bytesA, bytesB, bytesC, off int64) *backend.Program {
	buf := func(slot int32, bytes int64) backend.Buf { return backend.Buf{Slot: slot, Off: off, Bytes: bytes} }
	source := frameSource // which has no such kernel: only a library can run the command
	out := buf(3, bytesC)
	out.Write = true
	return &backend.Program{Slots: 5, Commands: []backend.Command{
		{Kind: backend.Copy, Bytes: bytesA, Bufs: []backend.Buf{buf(1, bytesA), buf(0, bytesA)}},
		{
			Kind: backend.Kernel, Name: "not_there", Source: &source, Grid: [3]int64{1, 1, 1}, Threads: 32,
			Bufs: []backend.Buf{buf(1, bytesA), buf(2, bytesB), out}, Product: p,
		},
		{Kind: backend.Copy, Bytes: bytesC, Bufs: []backend.Buf{buf(4, bytesC), buf(3, bytesC)}},
	}}
}

// A product is what it is by definition, for each type, transposed or not, in batches, with
// rows that lie as the framework wants them and with others; traced or not.
func TestProducts(t *testing.T) {
	d := openDevice(t)
	if err := d.OpenProducts(); err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	for _, typ := range []backend.Float{backend.F32, backend.F16} {
		for _, shape := range [][4]int64{{1, 24, 16, 8}, {3, 9, 40, 24}, {2, 5, 7, 3}, {1, 130, 1, 33}} {
			for trans := range 4 {
				for _, off := range []int64{0, 4} {
					p := &backend.Product{Type: typ, A: 0, B: 1, C: 2, Bias: -1, TransA: trans&1 != 0, TransB: trans&2 != 0,
						Batch: shape[0], M: shape[1], N: shape[2], K: shape[3]}
					name := fmt.Sprintf("type %d, %v, transposed %v %v, offset %d", typ, shape, p.TransA, p.TransB, off)
					a, b := matrix(p.Batch*p.M*p.K, 1), matrix(p.Batch*p.K*p.N, 2)
					want := encoded(typ, multiplied(p, a, b))
					dataA, dataB := encoded(typ, a), encoded(typ, b)
					code, err := d.Build(productProgram(p, int64(len(dataA)), int64(len(dataB)), int64(len(want)), off))
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					in, err := code.Instance()
					if err != nil {
						t.Fatal(err)
					}
					none := make([]byte, len(want))
					result := memory(t, d, off, none)
					in.Bind([]unsafe.Pointer{memory(t, d, off, dataA), memory(t, d, off, make([]byte, len(dataA))),
						memory(t, d, off, dataB), memory(t, d, off, none), result}, nil)
					for _, timed := range []bool{false, true} {
						if err := in.Timed(timed); err != nil {
							t.Fatal(err)
						}
						seq++
						if r := d.Run(seq, in); !r.OK() {
							t.Fatalf("%s: %+v", name, r)
						}
						got := make([]byte, len(want))
						if err := d.Download(unsafe.Pointer(&got[0]), unsafe.Add(result, off), int64(len(got))); err != nil {
							t.Fatal(err)
						}
						if !bytes.Equal(got, want) {
							t.Errorf("%s, timed %v: another product", name, timed)
						}
					}
					for i, at := range in.Times() {
						if i > 0 && at < in.Times()[i-1] {
							t.Errorf("%s: times %v", name, in.Times())
						}
					}
					in.Release()
				}
			}
		}
	}
	if got, want := d.Products(), 2*4*4*2; got != want {
		t.Errorf("%d products, want %d", got, want)
	}
}

func encoded(typ backend.Float, values []float64) []byte {
	var data []byte
	for _, x := range values {
		data = stored(data, typ, x)
	}
	return data
}

// What the framework has no product for, or a wrong one, is left to generated kernels.
func TestWhatIsNoProduct(t *testing.T) {
	right := backend.Product{Type: backend.F16, C: 2, B: 1, Bias: -1, Batch: 1, M: 8, N: 8, K: 8}
	for name, change := range map[string]func(*backend.Product, *backend.Command){
		"nothing":  func(*backend.Product, *backend.Command) {},
		"bias":     func(p *backend.Product, _ *backend.Command) { p.Bias = 3 },
		"gelu":     func(p *backend.Product, _ *backend.Command) { p.GELU = true },
		"bfloat":   func(p *backend.Product, _ *backend.Command) { p.Type = backend.BF16 },
		"guarded":  func(_ *backend.Product, c *backend.Command) { c.Guarded = true },
		"faults":   func(_ *backend.Product, c *backend.Command) { c.Faults = true },
		"2 GiB":    func(p *backend.Product, _ *backend.Command) { p.Batch, p.M, p.K = 1<<14, 1<<9, 1<<7 },
		"long sum": func(p *backend.Product, _ *backend.Command) { p.K = longest + 1 },
		"M+2K":     func(p *backend.Product, _ *backend.Command) { p.M, p.N, p.K = 1<<14, 1<<15, 1<<13 },
		"overflow": func(p *backend.Product, _ *backend.Command) { p.M, p.K = 1<<40, 1<<40 },
		"other":    func(_ *backend.Product, c *backend.Command) { c.Product = nil },
	} {
		p, c := right, backend.Command{}
		c.Product = &p
		change(&p, &c)
		if got, want := multiplies(&c), name == "nothing"; got != want {
			t.Errorf("%s: multiplies is %v", name, got)
		}
	}
}
