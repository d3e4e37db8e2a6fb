package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// reduceFunctions are the functions of the specs in specs/reduce.
var reduceFunctions = []function{
	{"bias_grad", "", []any{
		ops.BiasGrad[f32], ops.BiasGrad[f16], ops.BiasGrad[bf16],
		ops.BiasGradDeferred[f32], ops.BiasGradDeferred[f16], ops.BiasGradDeferred[bf16],
	}},
	{"count_nonfinite", "", []any{
		ops.CountNonfinite[f32], ops.CountNonfinite[f16], ops.CountNonfinite[bf16],
		ops.CountNonfiniteDeferred[f32], ops.CountNonfiniteDeferred[f16], ops.CountNonfiniteDeferred[bf16],
	}},
	{"dot", "", []any{
		ops.Dot[f32], ops.Dot[f16], ops.Dot[bf16],
		ops.DotDeferred[f32], ops.DotDeferred[f16], ops.DotDeferred[bf16],
	}},
	{"masked_mean", "", []any{
		ops.MaskedMean[f32], ops.MaskedMean[f16], ops.MaskedMean[bf16],
		ops.MaskedMeanDeferred[f32], ops.MaskedMeanDeferred[f16], ops.MaskedMeanDeferred[bf16],
	}},
	{"max", "", []any{
		ops.Max[f32], ops.Max[f16], ops.Max[bf16],
		ops.MaxDeferred[f32], ops.MaxDeferred[f16], ops.MaxDeferred[bf16],
	}},
	{"mean", "", []any{
		ops.Mean[f32], ops.Mean[f16], ops.Mean[bf16],
		ops.MeanDeferred[f32], ops.MeanDeferred[f16], ops.MeanDeferred[bf16],
	}},
	{"sum", "", []any{
		ops.Sum[f32], ops.Sum[f16], ops.Sum[bf16],
		ops.SumDeferred[f32], ops.SumDeferred[f16], ops.SumDeferred[bf16],
	}},
	{"sum_sq", "", []any{
		ops.SumSq[f32], ops.SumSq[f16], ops.SumSq[bf16],
		ops.SumSqDeferred[f32], ops.SumSqDeferred[f16], ops.SumSqDeferred[bf16],
	}},
}
