package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// rowsFunctions are the functions of the specs in specs/rows.
var rowsFunctions = []function{
	{"argmax", "", []any{
		ops.Argmax[f32], ops.Argmax[f16], ops.Argmax[bf16],
		ops.ArgmaxDeferred[f32], ops.ArgmaxDeferred[f16], ops.ArgmaxDeferred[bf16],
	}},
	{"cosine_similarity", "", []any{
		ops.CosineSimilarity[f32], ops.CosineSimilarity[f16], ops.CosineSimilarity[bf16],
		ops.CosineSimilarityDeferred[f32], ops.CosineSimilarityDeferred[f16], ops.CosineSimilarityDeferred[bf16],
	}},
	{"l2_normalize", "", []any{
		ops.L2Normalize[f32], ops.L2Normalize[f16], ops.L2Normalize[bf16],
		ops.L2NormalizeDeferred[f32], ops.L2NormalizeDeferred[f16], ops.L2NormalizeDeferred[bf16],
	}},
	{"layernorm", "", []any{
		ops.LayerNorm[f32], ops.LayerNorm[f16], ops.LayerNorm[bf16],
		ops.LayerNormDeferred[f32], ops.LayerNormDeferred[f16], ops.LayerNormDeferred[bf16],
	}},
	{"layernorm_gelu", "", []any{
		ops.LayerNormGELU[f32], ops.LayerNormGELU[f16], ops.LayerNormGELU[bf16],
		ops.LayerNormGELUDeferred[f32], ops.LayerNormGELUDeferred[f16], ops.LayerNormGELUDeferred[bf16],
	}},
	{"log_softmax", "", []any{
		ops.LogSoftmax[f32], ops.LogSoftmax[f16], ops.LogSoftmax[bf16],
		ops.LogSoftmaxDeferred[f32], ops.LogSoftmaxDeferred[f16], ops.LogSoftmaxDeferred[bf16],
	}},
	{"rmsnorm", "", []any{
		ops.RMSNorm[f32], ops.RMSNorm[f16], ops.RMSNorm[bf16],
		ops.RMSNormDeferred[f32], ops.RMSNormDeferred[f16], ops.RMSNormDeferred[bf16],
	}},
	{"row_max", "", []any{
		ops.RowMax[f32], ops.RowMax[f16], ops.RowMax[bf16],
		ops.RowMaxDeferred[f32], ops.RowMaxDeferred[f16], ops.RowMaxDeferred[bf16],
	}},
	{"row_mean", "", []any{
		ops.RowMean[f32], ops.RowMean[f16], ops.RowMean[bf16],
		ops.RowMeanDeferred[f32], ops.RowMeanDeferred[f16], ops.RowMeanDeferred[bf16],
	}},
	{"row_sum", "", []any{
		ops.RowSum[f32], ops.RowSum[f16], ops.RowSum[bf16],
		ops.RowSumDeferred[f32], ops.RowSumDeferred[f16], ops.RowSumDeferred[bf16],
	}},
	{"softmax", "", []any{
		ops.Softmax[f32], ops.Softmax[f16], ops.Softmax[bf16],
		ops.SoftmaxDeferred[f32], ops.SoftmaxDeferred[f16], ops.SoftmaxDeferred[bf16],
	}},
}
