package parity_test

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
)

// Products of few results and long sums, which GPUs compute in parts, of values that sum
// up without a rounding error.
func TestDeepProducts(t *testing.T) {
	for _, d := range everywhere(t) {
		deepProduct[f32](t, d)
		deepProduct[f16](t, d)
		deepProduct[bf16](t, d)
	}
}

func deepProduct[T f32 | f16 | bf16](t *testing.T, d device) {
	const rows, columns = 3, 70
	for _, depth := range []int{1024, 5003} {
		a := golden.Tensor{Shape: []int{rows, depth}, Data: make([]float64, rows*depth)}
		b := golden.Tensor{Shape: []int{depth, columns}, Data: make([]float64, depth*columns)}
		bias := golden.Tensor{Shape: []int{columns}, Data: make([]float64, columns)}
		for i := range a.Data {
			a.Data[i] = float64(i*i%5) - 2
		}
		for i := range b.Data {
			b.Data[i] = float64(i%3) - 1
		}
		for j := range bias.Data {
			bias.Data[j] = float64(j)
		}
		sums := golden.Tensor{Shape: []int{rows, columns}, Data: make([]float64, rows*columns)}
		for i := range rows {
			for k := range depth {
				for j := range columns {
					sums.Data[i*columns+j] += a.Data[i*depth+k] * b.Data[k*columns+j]
				}
			}
		}
		biased := golden.Tensor{Shape: sums.Shape, Data: slices.Clone(sums.Data)}
		for i := range biased.Data {
			biased.Data[i] += bias.Data[i%columns]
		}
		x, w := from[T](t, d, a), from[T](t, d, b)
		expect(t, d, "product", must(ops.MatMulNN(x, w))(t), rounded[T](sums))
		expect(t, d, "product with a bias", must(ops.MatMulBiasNN(x, w, from[T](t, d, bias)))(t), rounded[T](biased))
		expect(t, d, "product of transposed operands", must(ops.MatMulTT(must(ops.Transpose(x))(t), must(ops.Transpose(w))(t)))(t), rounded[T](sums))
	}
}

// rounded is v as T holds it.
func rounded[T f32 | f16 | bf16](v golden.Tensor) golden.Tensor {
	out := golden.Tensor{Shape: v.Shape}
	for _, x := range v.Data {
		out.Data = append(out.Data, oracle.Round(x, storage(runtime.TypeOf[T]())))
	}
	return out
}
