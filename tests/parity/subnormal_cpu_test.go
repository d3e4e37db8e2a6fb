//go:build !cudatest && !metaltest

package parity_test

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// TestSubnormalFloats: instruction sets that convert Float16 take numbers below the
// normal ones for zero, as operands and as results, on the calling thread and on others;
// the baseline keeps them. Float16's own smallest numbers stay everywhere.
func TestSubnormalFloats(t *testing.T) {
	for _, d := range instructionSets(t) {
		kept := d.name == "baseline"
		for _, n := range []int{3, 1 << 20} { // on the calling thread, on all workers
			for _, c := range []struct {
				what       string
				a, b, want float64
			}{
				{"a subnormal operand", 0x1p-130, 0x1p10, 0x1p-120},
				{"a subnormal result", 0x1p-70, 0x1p-70, 0x1p-140},
			} {
				if !kept {
					c.want = 0
				}
				y := must(ops.Mul(from[f32](t, d, constant(c.a, n)), from[f32](t, d, constant(c.b, n))))(t)
				expect(t, d, c.what, y, constant(c.want, n))
			}
		}
		half := must(ops.Mul(from[f16](t, d, constant(0x1p-24, 3)), from[f16](t, d, constant(3, 3))))(t)
		expect(t, d, "Float16's smallest number", half, constant(0x3p-24, 3))
	}
}

// TestSubnormalFloatsTakeNoLonger: a product all of whose terms and sums are subnormal
// is as fast as another, where the kernels take them for zero.
func TestSubnormalFloatsTakeNoLonger(t *testing.T) {
	const size = 256
	for _, d := range instructionSets(t) {
		if d.name == "baseline" {
			continue
		}
		b := from[f32](t, d, constant(0x1p-70, size, size))
		fastest := func(v float64) time.Duration {
			a := from[f32](t, d, constant(v, size, size))
			least := time.Hour
			for range 20 {
				begin := time.Now()
				y := must(ops.MatMulNN(a, b))(t)
				least = min(least, time.Since(begin))
				if err := runtime.Operand(y).Untyped().Close(); err != nil {
					t.Fatal(err)
				}
			}
			return least
		}
		normal := fastest(1)
		if tiny := fastest(0x1p-70); tiny > 2*normal {
			t.Errorf("on %s: a product of subnormal terms takes %v, of normal ones %v", d.name, tiny, normal)
		}
	}
}
