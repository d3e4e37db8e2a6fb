package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// indexFunctions are the functions of the specs in specs/index.
var indexFunctions = []function{
	{"embedding", "", []any{
		ops.Embedding[f32], ops.Embedding[f16], ops.Embedding[bf16],
		ops.EmbeddingDeferred[f32], ops.EmbeddingDeferred[f16], ops.EmbeddingDeferred[bf16],
	}},
	{"embedding_backward_accumulate", "", []any{
		ops.EmbeddingBackwardAccumulate[f32], ops.EmbeddingBackwardAccumulate[f16], ops.EmbeddingBackwardAccumulate[bf16],
		ops.EmbeddingBackwardAccumulateDeferred[f32], ops.EmbeddingBackwardAccumulateDeferred[f16], ops.EmbeddingBackwardAccumulateDeferred[bf16],
	}},
	{"embedding_concat", "", []any{
		ops.EmbeddingConcat[f32], ops.EmbeddingConcat[f16], ops.EmbeddingConcat[bf16],
		ops.EmbeddingConcatDeferred[f32], ops.EmbeddingConcatDeferred[f16], ops.EmbeddingConcatDeferred[bf16],
	}},
	{"im2col", "", []any{
		ops.Im2Col[f32], ops.Im2Col[f16], ops.Im2Col[bf16],
		ops.Im2ColDeferred[f32], ops.Im2ColDeferred[f16], ops.Im2ColDeferred[bf16],
	}},
	{"pack_w_to_col", "", []any{
		ops.PackWToCol[f32], ops.PackWToCol[f16], ops.PackWToCol[bf16],
		ops.PackWToColDeferred[f32], ops.PackWToColDeferred[f16], ops.PackWToColDeferred[bf16],
	}},
}
