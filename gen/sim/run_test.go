package sim

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func f32(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestTry(t *testing.T) {
	dir := t.TempDir()
	for _, san := range []Sanitizer{0, Thread, Address | Undefined} {
		src, _ := os.ReadFile("testdata/kernels/softmax.metal")
		for pass := 0; pass < 2; pass++ {
			if pass == 1 {
				src = []byte(strings.Replace(string(src), "  top = max(part[0], part[1]);\n  threadgroup_barrier(mem_flags::mem_threadgroup);", "  top = max(part[0], part[1]);\n", 1))
			}
			at := time.Now()
			p, err := Build(context.Background(), dir, "softmax.metal", src, san)
			t.Log(san, "build", time.Since(at))
			if err != nil {
				t.Fatal(err)
			}
			at = time.Now()
			x := make([]float32, 300)
			for i := range x {
				x[i] = float32(i%7) * 0.5
			}
			r, err := p.Run(context.Background(), Job{Kernel: "softmax", Grid: [3]int{3, 1, 1}, Group: [3]int{64, 1, 1},
				Buffers: []Buffer{{Index: 0, Data: f32(x...)}, {Index: 1, Data: f32(x...), Writable: true},
					{Index: 2, Data: binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 3), 100)}}})
			t.Log("run", time.Since(at))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Reports {
				t.Log(x)
			}
			if r.Buffers != nil {
				s := float32(0)
				for i := 0; i < 100; i++ {
					s += math.Float32frombits(binary.LittleEndian.Uint32(r.Buffers[1][4*i:]))
				}
				t.Log(s)
			}
		}
	}
}
