package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// scanFunctions are the functions of the specs in specs/scan.
var scanFunctions = []function{
	{"cumsum", "direction=forward", []any{
		ops.CumSumForward[f32], ops.CumSumForward[f16], ops.CumSumForward[bf16],
		ops.CumSumForwardDeferred[f32], ops.CumSumForwardDeferred[f16], ops.CumSumForwardDeferred[bf16],
	}},
	{"cumsum", "direction=reverse", []any{
		ops.CumSumReverse[f32], ops.CumSumReverse[f16], ops.CumSumReverse[bf16],
		ops.CumSumReverseDeferred[f32], ops.CumSumReverseDeferred[f16], ops.CumSumReverseDeferred[bf16],
	}},
}
