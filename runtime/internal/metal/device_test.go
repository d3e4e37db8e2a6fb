//go:build cgo && (darwin || (softmetal && linux))

package metal

import (
	"math"
	"testing"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

func openDevice(t *testing.T) *Device {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// Many small pieces of memory are parts of few heaps, and a large one is a resource of its
// own. What is given back serves again.
func TestSmallMemoryIsOfHeaps(t *testing.T) {
	d := openDevice(t)
	const n, small, large = 2000, 64 << 10, 2 << 20
	for range 3 {
		heaps := map[unsafe.Pointer]bool{}
		var list []unsafe.Pointer
		for range n {
			p := d.Alloc(small)
			if p == nil {
				t.Fatal("no memory")
			}
			m, _ := d.memoryAt(p)
			if m.heap == nil {
				t.Fatal("a small piece is of no heap")
			}
			heaps[m.heap] = true
			list = append(list, p)
		}
		if most := n*small/(32<<20) + 1; len(heaps) > most {
			t.Errorf("%d pieces of %d bytes are of %d heaps, want at most %d", n, small, len(heaps), most)
		}
		p := d.Alloc(large)
		if m, _ := d.memoryAt(p); m.heap != nil {
			t.Error("a large piece is of a heap")
		}
		for _, p := range append(list, p) {
			d.Free(p)
		}
	}
}

var setSource = `#include <metal_stdlib>
using namespace metal;
struct kt_set_args { float s; int n; };
kernel void kt_set(device float *y [[buffer(0)]], constant kt_set_args &args [[buffer(1)]],
		uint i [[thread_position_in_grid]]) {
	if (int(i) < args.n) {
		y[i] = args.s;
	}
}
`

// Each run has the parameters that it was bound with: a program is laid out once, and its
// parameter buffer patched, also while other runs of it are in flight.
func TestParametersOfEachRun(t *testing.T) {
	d := openDevice(t)
	code, err := d.Build(&backend.Program{Slots: 1, Params: 2, Commands: []backend.Command{{
		Kind: backend.Kernel, Name: "kt_set", Source: &setSource, Grid: [3]int64{1, 1, 1}, Threads: 32,
		Bufs: []backend.Buf{{Bytes: 32, Write: true}}, Block: []byte{0, 0, 0, 0, 8, 0, 0, 0},
		Patches: []backend.Patch{{Off: 0, Bytes: 4, Param: 1}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 4
	var in [runs]backend.Instance
	var memory [runs]unsafe.Pointer
	for i := range in {
		if in[i], err = code.Instance(); err != nil {
			t.Fatal(err)
		}
		defer in[i].Release()
		memory[i] = d.Alloc(32)
	}
	seq := uint64(0)
	for round := range 3 {
		for i := range in {
			seq++
			in[i].Bind([]unsafe.Pointer{memory[i]}, []uint64{99, uint64(math.Float32bits(float32(10*round + i)))})
			d.Submit(seq, in[i])
		}
		for i := range in {
			if r := d.Wait(seq-runs+uint64(i)+1, in[i]); !r.OK() {
				t.Fatalf("%+v", r)
			}
			var got [8]float32
			if err := d.Download(unsafe.Pointer(&got), memory[i], 32); err != nil {
				t.Fatal(err)
			}
			for _, x := range got {
				if x != float32(10*round+i) {
					t.Fatalf("round %d, run %d gave %v", round, i, got)
				}
			}
		}
	}
}
