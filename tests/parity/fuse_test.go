package parity_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
)

// sequence is a call that a fused kernel can do the work of.
type sequence struct {
	name  string // of the fused operation
	again bool   // it computes an operand of the product for each tile
	build func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32]
	dims  [][]int // of the operands
}

var sequences = []sequence{
	{"matmul_bias", false, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		return ops.BiasAddDeferred(b, ops.MatMulNNDeferred(b, x[0], x[1]), x[2])
	}, [][]int{{5, 7}, {7, 3}, {3}}},
	{"matmul_bias_gelu", false, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		return ops.GELUDeferred(b, ops.BiasAddDeferred(b, ops.MatMulNNDeferred(b, x[0], x[1]), x[2]))
	}, [][]int{{5, 7}, {7, 3}, {3}}},
	{"matmul_bias_gelu_erf", false, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		return ops.GELUErfDeferred(b, ops.MatMulBiasNTDeferred(b, x[0], x[1], x[2]))
	}, [][]int{{2, 5, 7}, {3, 7}, {3}}},
	{"gelu_matmul_bias", true, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		return ops.MatMulBiasNNDeferred(b, ops.GELUDeferred(b, x[0]), x[1], x[2])
	}, [][]int{{5, 7}, {7, 3}, {3}}},
	{"matmul_bias_residual", false, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		return ops.ResidualAddDeferred(b, x[3], ops.MatMulBiasNNDeferred(b, x[0], x[1], x[2]))
	}, [][]int{{5, 7}, {7, 3}, {3}, {5, 3}}},
	{"layernorm_gelu", false, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		y, _, _ := ops.LayerNormDeferred(b, x[0], x[1], x[2], 1e-5)
		return ops.GELUDeferred(b, y)
	}, [][]int{{5, 7}, {7}, {7}}},
	{"layernorm_gelu_matmul_bias", true, func(b *runtime.Batch, x ...runtime.Tensor[f32]) runtime.Tensor[f32] {
		y, _, _ := ops.LayerNormDeferred(b, x[0], x[3], x[4], 1e-5)
		return ops.MatMulBiasNTDeferred(b, ops.GELUDeferred(b, y), x[1], x[2])
	}, [][]int{{5, 7}, {3, 7}, {3}, {7}, {7}}},
}

// A fused kernel takes the place of the calls of its pattern, also where they are
// differentiated, and gives the values that they give. On the CPU those that compute
// an operand again do not pay.
func TestFusion(t *testing.T) {
	plain := both(t, runtime.WithoutPasses("fuse"))
	for i, d := range both(t) {
		for _, s := range sequences {
			fused, text := s.run(t, d)
			separate, other := s.run(t, plain[i])
			for _, name := range []string{s.name, s.name + "_grad"} {
				if want := !s.again || d.Name() != "cpu"; calls(text, name) != want {
					t.Errorf("%s: a call of %s: %t, want %t, in\n%s", d.name, name, !want, want, text)
				}
				if calls(other, name) {
					t.Errorf("%s: with the pass off, a call of %s in\n%s", d.name, name, other)
				}
			}
			for k := range fused {
				for j, v := range fused[k] {
					if w := separate[k][j]; math.Abs(float64(v-w)) > 1e-5*(1+math.Abs(float64(w))) {
						t.Errorf("%s: %s: result %d has %g at %d, the calls one by one %g", d.name, s.name, k, v, j, w)
						break
					}
				}
			}
		}
	}
}

// calls reports whether the last program of an explanation calls an operation.
func calls(text, name string) bool {
	last := text[strings.LastIndex(text, "\n\nafter ")+1:]
	return strings.Contains(last, " = "+name+"(") || strings.Contains(last, " = "+name+"[")
}

// run returns the sequence's result, and its gradients, with the program that
// gave them.
func (s *sequence) run(t *testing.T, d device) ([][]f32, string) {
	t.Helper()
	b := d.Batch(s.name)
	var operands []runtime.Tensor[f32]
	var params []runtime.Operand
	for i, dims := range s.dims {
		n := 1
		for _, k := range dims {
			n *= k
		}
		data := make([]f32, n)
		for j := range data {
			data[j] = f32(math.Sin(float64(j*7+i*3+1))) / 2
		}
		x := must(runtime.FromSlice(d.Device, data, dims...))(t)
		operands, params = append(operands, x), append(params, x)
	}
	y := s.build(b, operands...)
	reads := []*runtime.Readback[f32]{runtime.Read(b, y)}
	for _, g := range b.Grad(ops.SumDeferred(b, ops.SquareDeferred(b, y)), params...) {
		reads = append(reads, runtime.Read(b, runtime.As[f32](g)))
	}
	text := must(b.Explain())(t)
	if err := b.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	var results [][]f32
	for _, r := range reads {
		results = append(results, must(r.Value())(t))
	}
	return results, text
}

// An explanation lists the program as it was recorded and after each pass that
// changed it, with what its calls move and compute, and its memory.
func TestExplain(t *testing.T) {
	d := both(t)[0]
	x, w, bias := from[f32](t, d, matrix(row(1, 2), row(3, 4))), from[f32](t, d, matrix(row(1, 0), row(0, 1))), from[f32](t, d, vector(1, 2))
	b := d.Batch("explained")
	y := ops.GELUDeferred(b, ops.MatMulBiasNNDeferred(b, x, w, bias))
	ops.SumDeferred(b, y)
	runtime.Read(b, ops.AddDeferred(b, y, ops.GELUDeferred(b, ops.MatMulBiasNNDeferred(b, x, w, bias))))
	const want = `recorded: 7 calls
%3 = matmul_bias[nn](%0, %1, %2)  f32×4, 56 bytes, 20 flops
%4 = gelu(%3)  f32×4, 32 bytes, 28 flops
%5 = sum(%4)  f32×1, 20 bytes, 5 flops
%6 = matmul_bias[nn](%0, %1, %2)  f32×4, 56 bytes, 20 flops
%7 = gelu(%6)  f32×4, 32 bytes, 28 flops
%8 = add(%4, %7)  f32×4, 48 bytes, 4 flops
read(%8)  f32×4, 16 bytes

after dead: 6 calls
%3 = matmul_bias[nn](%0, %1, %2)  f32×4, 56 bytes, 20 flops
%4 = gelu(%3)  f32×4, 32 bytes, 28 flops
%6 = matmul_bias[nn](%0, %1, %2)  f32×4, 56 bytes, 20 flops
%7 = gelu(%6)  f32×4, 32 bytes, 28 flops
%8 = add(%4, %7)  f32×4, 48 bytes, 4 flops
read(%8)  f32×4, 16 bytes

after share: 4 calls
%3 = matmul_bias[nn](%0, %1, %2)  f32×4, 56 bytes, 20 flops
%4 = gelu(%3)  f32×4, 32 bytes, 28 flops
%8 = add(%4, %4)  f32×4, 48 bytes, 4 flops
read(%8)  f32×4, 16 bytes

after fuse: 3 calls
%4 = matmul_bias_gelu[nn](%0, %1, %2)  f32×4, 56 bytes, 48 flops
%8 = add(%4, %4)  f32×4, 48 bytes, 4 flops
read(%8)  f32×4, 16 bytes

3 commands; 128 bytes while it runs (at most 128 at a time), 0 bytes kept
`
	if got := must(b.Explain())(t); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Discard()
}
