package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// matmulFunctions are the functions of the specs in specs/matmul.
var matmulFunctions = []function{
	{"gelu_matmul_bias", "tb=n", []any{
		ops.GELUMatMulBiasN[f32], ops.GELUMatMulBiasN[f16], ops.GELUMatMulBiasN[bf16],
		ops.GELUMatMulBiasNDeferred[f32], ops.GELUMatMulBiasNDeferred[f16], ops.GELUMatMulBiasNDeferred[bf16],
	}},
	{"gelu_matmul_bias", "tb=t", []any{
		ops.GELUMatMulBiasT[f32], ops.GELUMatMulBiasT[f16], ops.GELUMatMulBiasT[bf16],
		ops.GELUMatMulBiasTDeferred[f32], ops.GELUMatMulBiasTDeferred[f16], ops.GELUMatMulBiasTDeferred[bf16],
	}},
	{"layernorm_gelu_matmul_bias", "tb=n", []any{
		ops.LayerNormGELUMatMulBiasN[f32], ops.LayerNormGELUMatMulBiasN[f16], ops.LayerNormGELUMatMulBiasN[bf16],
		ops.LayerNormGELUMatMulBiasNDeferred[f32], ops.LayerNormGELUMatMulBiasNDeferred[f16], ops.LayerNormGELUMatMulBiasNDeferred[bf16],
	}},
	{"layernorm_gelu_matmul_bias", "tb=t", []any{
		ops.LayerNormGELUMatMulBiasT[f32], ops.LayerNormGELUMatMulBiasT[f16], ops.LayerNormGELUMatMulBiasT[bf16],
		ops.LayerNormGELUMatMulBiasTDeferred[f32], ops.LayerNormGELUMatMulBiasTDeferred[f16], ops.LayerNormGELUMatMulBiasTDeferred[bf16],
	}},
	{"linear", "", []any{
		ops.Linear[f32], ops.Linear[f16], ops.Linear[bf16],
		ops.LinearDeferred[f32], ops.LinearDeferred[f16], ops.LinearDeferred[bf16],
	}},
	{"lora", "", []any{
		ops.LoRA[f32], ops.LoRA[f16], ops.LoRA[bf16],
		ops.LoRADeferred[f32], ops.LoRADeferred[f16], ops.LoRADeferred[bf16],
	}},
	{"matmul", "ta=n,tb=n", []any{
		ops.MatMulNN[f32], ops.MatMulNN[f16], ops.MatMulNN[bf16],
		ops.MatMulNNDeferred[f32], ops.MatMulNNDeferred[f16], ops.MatMulNNDeferred[bf16],
	}},
	{"matmul", "ta=n,tb=t", []any{
		ops.MatMulNT[f32], ops.MatMulNT[f16], ops.MatMulNT[bf16],
		ops.MatMulNTDeferred[f32], ops.MatMulNTDeferred[f16], ops.MatMulNTDeferred[bf16],
	}},
	{"matmul", "ta=t,tb=n", []any{
		ops.MatMulTN[f32], ops.MatMulTN[f16], ops.MatMulTN[bf16],
		ops.MatMulTNDeferred[f32], ops.MatMulTNDeferred[f16], ops.MatMulTNDeferred[bf16],
	}},
	{"matmul", "ta=t,tb=t", []any{
		ops.MatMulTT[f32], ops.MatMulTT[f16], ops.MatMulTT[bf16],
		ops.MatMulTTDeferred[f32], ops.MatMulTTDeferred[f16], ops.MatMulTTDeferred[bf16],
	}},
	{"matmul_bias", "ta=n,tb=n", []any{
		ops.MatMulBiasNN[f32], ops.MatMulBiasNN[f16], ops.MatMulBiasNN[bf16],
		ops.MatMulBiasNNDeferred[f32], ops.MatMulBiasNNDeferred[f16], ops.MatMulBiasNNDeferred[bf16],
	}},
	{"matmul_bias", "ta=n,tb=t", []any{
		ops.MatMulBiasNT[f32], ops.MatMulBiasNT[f16], ops.MatMulBiasNT[bf16],
		ops.MatMulBiasNTDeferred[f32], ops.MatMulBiasNTDeferred[f16], ops.MatMulBiasNTDeferred[bf16],
	}},
	{"matmul_bias", "ta=t,tb=n", []any{
		ops.MatMulBiasTN[f32], ops.MatMulBiasTN[f16], ops.MatMulBiasTN[bf16],
		ops.MatMulBiasTNDeferred[f32], ops.MatMulBiasTNDeferred[f16], ops.MatMulBiasTNDeferred[bf16],
	}},
	{"matmul_bias", "ta=t,tb=t", []any{
		ops.MatMulBiasTT[f32], ops.MatMulBiasTT[f16], ops.MatMulBiasTT[bf16],
		ops.MatMulBiasTTDeferred[f32], ops.MatMulBiasTTDeferred[f16], ops.MatMulBiasTTDeferred[bf16],
	}},
	{"matmul_bias_gelu", "ta=n,tb=n", []any{
		ops.MatMulBiasGELUNN[f32], ops.MatMulBiasGELUNN[f16], ops.MatMulBiasGELUNN[bf16],
		ops.MatMulBiasGELUNNDeferred[f32], ops.MatMulBiasGELUNNDeferred[f16], ops.MatMulBiasGELUNNDeferred[bf16],
	}},
	{"matmul_bias_gelu", "ta=n,tb=t", []any{
		ops.MatMulBiasGELUNT[f32], ops.MatMulBiasGELUNT[f16], ops.MatMulBiasGELUNT[bf16],
		ops.MatMulBiasGELUNTDeferred[f32], ops.MatMulBiasGELUNTDeferred[f16], ops.MatMulBiasGELUNTDeferred[bf16],
	}},
	{"matmul_bias_gelu", "ta=t,tb=n", []any{
		ops.MatMulBiasGELUTN[f32], ops.MatMulBiasGELUTN[f16], ops.MatMulBiasGELUTN[bf16],
		ops.MatMulBiasGELUTNDeferred[f32], ops.MatMulBiasGELUTNDeferred[f16], ops.MatMulBiasGELUTNDeferred[bf16],
	}},
	{"matmul_bias_gelu", "ta=t,tb=t", []any{
		ops.MatMulBiasGELUTT[f32], ops.MatMulBiasGELUTT[f16], ops.MatMulBiasGELUTT[bf16],
		ops.MatMulBiasGELUTTDeferred[f32], ops.MatMulBiasGELUTTDeferred[f16], ops.MatMulBiasGELUTTDeferred[bf16],
	}},
	{"matmul_bias_gelu_erf", "ta=n,tb=n", []any{
		ops.MatMulBiasGELUErfNN[f32], ops.MatMulBiasGELUErfNN[f16], ops.MatMulBiasGELUErfNN[bf16],
		ops.MatMulBiasGELUErfNNDeferred[f32], ops.MatMulBiasGELUErfNNDeferred[f16], ops.MatMulBiasGELUErfNNDeferred[bf16],
	}},
	{"matmul_bias_gelu_erf", "ta=n,tb=t", []any{
		ops.MatMulBiasGELUErfNT[f32], ops.MatMulBiasGELUErfNT[f16], ops.MatMulBiasGELUErfNT[bf16],
		ops.MatMulBiasGELUErfNTDeferred[f32], ops.MatMulBiasGELUErfNTDeferred[f16], ops.MatMulBiasGELUErfNTDeferred[bf16],
	}},
	{"matmul_bias_gelu_erf", "ta=t,tb=n", []any{
		ops.MatMulBiasGELUErfTN[f32], ops.MatMulBiasGELUErfTN[f16], ops.MatMulBiasGELUErfTN[bf16],
		ops.MatMulBiasGELUErfTNDeferred[f32], ops.MatMulBiasGELUErfTNDeferred[f16], ops.MatMulBiasGELUErfTNDeferred[bf16],
	}},
	{"matmul_bias_gelu_erf", "ta=t,tb=t", []any{
		ops.MatMulBiasGELUErfTT[f32], ops.MatMulBiasGELUErfTT[f16], ops.MatMulBiasGELUErfTT[bf16],
		ops.MatMulBiasGELUErfTTDeferred[f32], ops.MatMulBiasGELUErfTTDeferred[f16], ops.MatMulBiasGELUErfTTDeferred[bf16],
	}},
	{"matmul_bias_residual", "ta=n,tb=n", []any{
		ops.MatMulBiasResidualNN[f32], ops.MatMulBiasResidualNN[f16], ops.MatMulBiasResidualNN[bf16],
		ops.MatMulBiasResidualNNDeferred[f32], ops.MatMulBiasResidualNNDeferred[f16], ops.MatMulBiasResidualNNDeferred[bf16],
	}},
	{"matmul_bias_residual", "ta=n,tb=t", []any{
		ops.MatMulBiasResidualNT[f32], ops.MatMulBiasResidualNT[f16], ops.MatMulBiasResidualNT[bf16],
		ops.MatMulBiasResidualNTDeferred[f32], ops.MatMulBiasResidualNTDeferred[f16], ops.MatMulBiasResidualNTDeferred[bf16],
	}},
	{"matmul_bias_residual", "ta=t,tb=n", []any{
		ops.MatMulBiasResidualTN[f32], ops.MatMulBiasResidualTN[f16], ops.MatMulBiasResidualTN[bf16],
		ops.MatMulBiasResidualTNDeferred[f32], ops.MatMulBiasResidualTNDeferred[f16], ops.MatMulBiasResidualTNDeferred[bf16],
	}},
	{"matmul_bias_residual", "ta=t,tb=t", []any{
		ops.MatMulBiasResidualTT[f32], ops.MatMulBiasResidualTT[f16], ops.MatMulBiasResidualTT[bf16],
		ops.MatMulBiasResidualTTDeferred[f32], ops.MatMulBiasResidualTTDeferred[f16], ops.MatMulBiasResidualTTDeferred[bf16],
	}},
}
