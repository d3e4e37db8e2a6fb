//go:build cudatest && linux && cgo

package cuda

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// element is a float32 as it is stored, and back.
func element(typ backend.Float, x float32) (stored uint32, value float64) {
	bits := math.Float32bits(x)
	switch typ {
	case backend.F16: // of a number that a half holds
		if x == 0 {
			return 0, 0
		}
		return bits>>16&0x8000 | (bits>>23&0xff-112)<<10 | bits>>13&0x3ff, float64(x)
	case backend.BF16:
		return bits >> 16, float64(math.Float32frombits(bits &^ 0xffff))
	}
	return bits, float64(x)
}

func widen(typ backend.Float, stored uint32) float64 {
	switch typ {
	case backend.F16:
		sign, exp, frac := 1-2*float64(stored>>15&1), int(stored>>10&31), float64(stored&0x3ff)
		if exp == 0 {
			return sign * frac * 0x1p-24
		}
		return sign * math.Ldexp(1+frac/1024, exp-15)
	case backend.BF16:
		stored <<= 16
	}
	return float64(math.Float32frombits(stored))
}

// matrix puts small multiples of 1/4 on the card, and returns their values.
func matrix(t *testing.T, d *Device, typ backend.Float, n, seed int) (unsafe.Pointer, []float64) {
	t.Helper()
	values, bytes := make([]float64, n), []byte{}
	for i := range values {
		var stored uint32
		stored, values[i] = element(typ, float32((i*7+i/5+seed)%9-4)/4)
		for k := range size(typ) {
			bytes = append(bytes, byte(stored>>(8*k)))
		}
	}
	p := d.Alloc(int64(len(bytes)))
	if p == nil {
		t.Fatal("no memory")
	}
	if err := d.Upload(p, unsafe.Pointer(&bytes[0]), int64(len(bytes))); err != nil {
		t.Fatal(err)
	}
	return p, values
}

func size(typ backend.Float) int {
	if typ == backend.F32 {
		return 4
	}
	return 2
}

func fetched(t *testing.T, d *Device, typ backend.Float, p unsafe.Pointer, n int) []float64 {
	t.Helper()
	bytes := make([]byte, n*size(typ))
	if err := d.Download(unsafe.Pointer(&bytes[0]), p, int64(len(bytes))); err != nil {
		t.Fatal(err)
	}
	values := make([]float64, n)
	for i := range values {
		var stored uint32
		for k := range size(typ) {
			stored |= uint32(bytes[i*size(typ)+k]) << (8 * k)
		}
		values[i] = widen(typ, stored)
	}
	return values
}

// multiplied is the product in float64.
func multiplied(p *backend.Product, a, b, bias []float64) []float64 {
	at := func(x []float64, trans bool, z, i, j, rows, columns int64) float64 {
		if trans {
			return x[z*rows*columns+j*rows+i]
		}
		return x[z*rows*columns+i*columns+j]
	}
	var c []float64
	for z := range p.Batch {
		for i := range p.M {
			for j := range p.N {
				sum := 0.0
				for k := range p.K {
					sum += at(a, p.TransA, z, i, k, p.M, p.K) * at(b, p.TransB, z, k, j, p.K, p.N)
				}
				if p.Bias >= 0 {
					sum += bias[j]
				}
				if p.GELU {
					sum *= 1 / (1 + math.Exp(-1.5957691216057308*(sum+0.044715*sum*sum*sum)))
				}
				c = append(c, sum)
			}
		}
	}
	return c
}

// A product is what it is by definition for all types, transposes and epilogues. As
// part of a graph it is replayed while its operands stay where they are, and right when
// they are elsewhere.
func TestProducts(t *testing.T) {
	d := open(t)
	if !d.openProducts() {
		t.Fatal("no libcublasLt.so here: install CUDA's toolkit, or put the folder of one into LD_LIBRARY_PATH")
	}
	unused := addSource
	names := [...]string{"f32", "f16", "bf16"}
	tolerance := [...]float64{1e-5, 1e-3, 1e-2}
	seq := uint64(0)
	for n := range 3 * 2 * 2 * 2 * 2 * 3 {
		take1 := func(of int) (v int) { v, n = n%of, n/of; return v }
		p := &backend.Product{Type: backend.Float(take1(3)), A: 1, B: 0, C: 3, Bias: take1(2)*3 - 1, TransA: take1(2) == 1, TransB: take1(2) == 1, GELU: take1(2) == 1}
		shape := [][4]int64{{1, 64, 48, 32}, {3, 16, 40, 24}, {1, 5, 7, 3}}[take1(3)]
		p.Batch, p.M, p.N, p.K = shape[0], shape[1], shape[2], shape[3]
		name := fmt.Sprintf("%s %v, transposed %v %v, bias %v, gelu %v", names[p.Type], shape, p.TransA, p.TransB, p.Bias >= 0, p.GELU)
		code := build(t, d, 4, backend.Command{
			Kind: backend.Kernel, Name: "kt_add", Source: &unused, Grid: [3]int64{1, 1, 1}, Threads: 32,
			Block: make([]byte, 16), Bufs: bufs(0, 1, 2, 3), Product: p,
		}, add(10, 2, 2, 2)) // beside a kernel
		if code.(interface{ products() int }).products() == 0 {
			t.Logf("%s: the library has no algorithm", name)
			continue
		}
		in := take(t, code)
		b, bv := matrix(t, d, p.Type, int(p.Batch*p.N*p.K), 1)
		bias, biasv := matrix(t, d, p.Type, int(max(p.N, 40)), 2) // kt_add takes it for ten float32
		c, _ := matrix(t, d, p.Type, int(p.Batch*p.M*p.N), 3)
		replays := d.Replays()
		var a unsafe.Pointer
		var av []float64
		for run1 := range 6 {
			if run1%3 == 0 {
				a, av = matrix(t, d, p.Type, int(p.Batch*p.M*p.K), run1)
			}
			in.Bind([]unsafe.Pointer{b, a, bias, c}, scalar(0)) // kt_add adds nothing
			seq++
			run(t, d, seq, in)
			worst := 0.0
			want := multiplied(p, av, bv, biasv)
			for i, got := range fetched(t, d, p.Type, c, len(want)) {
				worst = max(worst, math.Abs(got-want[i])/(1+math.Abs(want[i])))
			}
			if !(worst <= tolerance[p.Type]) {
				t.Fatalf("%s, run %d: differs by %.2g of its value", name, run1, worst)
			}
		}
		if got := d.Replays() - replays; got != 4 {
			t.Errorf("%s: %d replays of 6 runs in two places, want 4", name, got)
		}
	}
}

// Elements of float32 are multiplied in full, and rounded to 10 bits of mantissa only where
// TF32 is asked for.
func TestTF32(t *testing.T) {
	d := open(t)
	if !d.openProducts() {
		t.Fatal("no libcublasLt.so here: install CUDA's toolkit, or put the folder of one into LD_LIBRARY_PATH")
	}
	unused := addSource
	const n, fine = 64, 1 + 0x1p-12 // of which TF32 keeps 1
	ones := make([]float32, n*n)
	for i := range ones {
		ones[i] = fine
	}
	seq := uint64(0)
	for tf32, want := range map[bool]float64{false: n * fine * fine, true: n} {
		p := &backend.Product{Type: backend.F32, A: 0, B: 1, C: 3, Bias: -1, Batch: 1, M: n, N: n, K: n, TF32: tf32}
		code := build(t, d, 4, backend.Command{
			Kind: backend.Kernel, Name: "kt_add", Source: &unused, Grid: [3]int64{1, 1, 1}, Threads: 32,
			Block: make([]byte, 16), Bufs: bufs(0, 1, 2, 3), Product: p,
		}, add(10, 2, 2, 2))
		if code.(interface{ products() int }).products() == 0 {
			t.Fatal("the library has no algorithm")
		}
		in := take(t, code)
		a, b := floats(t, d, ones), floats(t, d, ones)
		bias, c := floats(t, d, ones[:10]), floats(t, d, ones) // kt_add takes the bias, to which it adds nothing
		in.Bind([]unsafe.Pointer{a, b, bias, c}, scalar(0))
		seq++
		run(t, d, seq, in)
		if got := fetched(t, d, backend.F32, c, 1)[0]; math.Abs(got-want) > 1e-5*n {
			t.Errorf("with TF32 %t: a sum of %d products is %v, want %v", tf32, n, got, want)
		}
	}
}

// floats puts float32 values into new memory of the card.
func floats(t *testing.T, d *Device, values []float32) unsafe.Pointer {
	t.Helper()
	p := d.Alloc(int64(4 * len(values)))
	if p == nil {
		t.Fatal("no memory")
	}
	put(t, d, p, values)
	return p
}
