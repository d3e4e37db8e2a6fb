package gen

import (
	"fmt"
	"testing"
)

// Which kernels are matrix products that libraries have, and which are not: those that
// compute an operand on the way, mix types, or do something else with the sums.
func TestLibraryProducts(t *testing.T) {
	res := compile(t, "..")
	for _, c := range []struct {
		op, static string
		grad       bool
		variant    int
		want       string // of each kernel: slots of A, B, C and the bias, transposes, GELU
	}{
		{"matmul", "nn", false, 0, "[0·1→2 +0 false false false]"},
		{"matmul", "tt", false, 1, "[0·1→2 +0 true true false]"},
		{"matmul", "nt", true, 1, "[0·1→2 +0 false false false] [0·1→2 +0 true false false]"},
		{"matmul_bias", "nt", false, 2, "[0·1→3 +3 false true false]"},
		{"matmul_bias_gelu", "nt", false, 1, "[0·1→3 +3 false true true]"},
		{"matmul_bias_gelu", "nn", true, 0, "- [0·1→2 +0 false true false] [0·1→2 +0 true false false] - -"},
		{"matmul_bias_gelu", "nn", true, 1, "- - - - -"}, // one operand is f32
		{"matmul_bias_gelu_erf", "nn", false, 0, "-"},
		{"matmul_bias_residual", "nn", false, 0, "-"},
		{"gelu_matmul_bias", "n", false, 0, "-"},
		{"softmax", "", false, 0, "-"},
	} {
		_, ops := res.find(c.op)
		found := false
		for _, op := range ops {
			if StaticName(op.Choices) != c.static {
				continue
			}
			found = true
			if c.grad {
				op = op.Grad.Op
			}
			got := ""
			for _, k := range op.Bound.Op.Variants[c.variant].Kernels {
				one := "-"
				if p := k.Product; p != nil {
					one = fmt.Sprintf("[%d·%d→%d +%d %v %v %v]", p.A, p.B, p.C, p.Bias, p.TransA, p.TransB, p.GELU)
				}
				if got != "" {
					got += " "
				}
				got += one
			}
			if got != c.want {
				t.Errorf("%s (%s), gradient %v, variant %d: %s, want %s", c.op, c.static, c.grad, c.variant, got, c.want)
			}
		}
		if !found {
			t.Errorf("no %s (%s)", c.op, c.static)
		}
	}
}
