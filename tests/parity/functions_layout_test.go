package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// layoutFunctions are the functions of the specs in specs/layout.
var layoutFunctions = []function{
	{"cast", "", []any{
		ops.Cast[f32, f32], ops.Cast[f32, f16], ops.Cast[f32, bf16],
		ops.Cast[f16, f32], ops.Cast[f16, f16], ops.Cast[f16, bf16],
		ops.Cast[bf16, f32], ops.Cast[bf16, f16], ops.Cast[bf16, bf16],
		ops.CastDeferred[f32, f32], ops.CastDeferred[f32, f16], ops.CastDeferred[f32, bf16],
		ops.CastDeferred[f16, f32], ops.CastDeferred[f16, f16], ops.CastDeferred[f16, bf16],
		ops.CastDeferred[bf16, f32], ops.CastDeferred[bf16, f16], ops.CastDeferred[bf16, bf16],
	}},
	{"concat", "", []any{
		ops.Concat[f32], ops.Concat[f16], ops.Concat[bf16],
		ops.ConcatDeferred[f32], ops.ConcatDeferred[f16], ops.ConcatDeferred[bf16],
	}},
	{"copy", "", []any{
		ops.Copy[f32], ops.Copy[f16], ops.Copy[bf16],
		ops.CopyDeferred[f32], ops.CopyDeferred[f16], ops.CopyDeferred[bf16],
	}},
	{"fill", "", []any{
		ops.Fill[f32], ops.Fill[f16], ops.Fill[bf16],
		ops.FillDeferred[f32], ops.FillDeferred[f16], ops.FillDeferred[bf16],
	}},
	{"fill_bias", "", []any{
		ops.FillBias[f32], ops.FillBias[f16], ops.FillBias[bf16],
		ops.FillBiasDeferred[f32], ops.FillBiasDeferred[f16], ops.FillBiasDeferred[bf16],
	}},
	{"pad", "", []any{
		ops.Pad[f32], ops.Pad[f16], ops.Pad[bf16],
		ops.PadDeferred[f32], ops.PadDeferred[f16], ops.PadDeferred[bf16],
	}},
	{"slice", "", []any{
		ops.Slice[f32], ops.Slice[f16], ops.Slice[bf16],
		ops.SliceDeferred[f32], ops.SliceDeferred[f16], ops.SliceDeferred[bf16],
	}},
	{"transpose", "", []any{
		ops.Transpose[f32], ops.Transpose[f16], ops.Transpose[bf16],
		ops.TransposeDeferred[f32], ops.TransposeDeferred[f16], ops.TransposeDeferred[bf16],
	}},
}
