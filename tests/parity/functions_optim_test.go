package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// optimFunctions are the functions of the specs in specs/optim.
var optimFunctions = []function{
	{"adam", "shadow=with", []any{
		ops.AdamWithShadow[f32], ops.AdamWithShadow[f16], ops.AdamWithShadow[bf16],
		ops.AdamWithShadowDeferred[f32], ops.AdamWithShadowDeferred[f16], ops.AdamWithShadowDeferred[bf16],
	}},
	{"adam", "shadow=without", []any{
		ops.Adam[f32], ops.Adam[f16], ops.Adam[bf16],
		ops.AdamDeferred[f32], ops.AdamDeferred[f16], ops.AdamDeferred[bf16],
	}},
	{"adamw", "shadow=with", []any{
		ops.AdamWWithShadow[f32], ops.AdamWWithShadow[f16], ops.AdamWWithShadow[bf16],
		ops.AdamWWithShadowDeferred[f32], ops.AdamWWithShadowDeferred[f16], ops.AdamWWithShadowDeferred[bf16],
	}},
	{"adamw", "shadow=without", []any{
		ops.AdamW[f32], ops.AdamW[f16], ops.AdamW[bf16],
		ops.AdamWDeferred[f32], ops.AdamWDeferred[f16], ops.AdamWDeferred[bf16],
	}},
	{"clip_factor", "", []any{
		ops.ClipFactor,
		ops.ClipFactorDeferred,
	}},
	{"global_norm_sq", "total=with", []any{
		ops.GlobalNormSqWithTotal[f32], ops.GlobalNormSqWithTotal[f16], ops.GlobalNormSqWithTotal[bf16],
		ops.GlobalNormSqWithTotalDeferred[f32], ops.GlobalNormSqWithTotalDeferred[f16], ops.GlobalNormSqWithTotalDeferred[bf16],
	}},
	{"global_norm_sq", "total=without", []any{
		ops.GlobalNormSq[f32], ops.GlobalNormSq[f16], ops.GlobalNormSq[bf16],
		ops.GlobalNormSqDeferred[f32], ops.GlobalNormSqDeferred[f16], ops.GlobalNormSqDeferred[bf16],
	}},
	{"sgd", "shadow=with", []any{
		ops.SGDWithShadow[f32], ops.SGDWithShadow[f16], ops.SGDWithShadow[bf16],
		ops.SGDWithShadowDeferred[f32], ops.SGDWithShadowDeferred[f16], ops.SGDWithShadowDeferred[bf16],
	}},
	{"sgd", "shadow=without", []any{
		ops.SGD[f32], ops.SGD[f16], ops.SGD[bf16],
		ops.SGDDeferred[f32], ops.SGDDeferred[f16], ops.SGDDeferred[bf16],
	}},
	{"step_count", "", []any{
		ops.StepCount,
		ops.StepCountDeferred,
	}},
}
