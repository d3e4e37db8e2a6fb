package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// lossFunctions are the functions of the specs in specs/loss.
var lossFunctions = []function{
	{"accuracy", "", []any{
		ops.Accuracy[f32], ops.Accuracy[f16], ops.Accuracy[bf16],
		ops.AccuracyDeferred[f32], ops.AccuracyDeferred[f16], ops.AccuracyDeferred[bf16],
	}},
	{"cross_entropy", "", []any{
		ops.CrossEntropy[f32], ops.CrossEntropy[f16], ops.CrossEntropy[bf16],
		ops.CrossEntropyDeferred[f32], ops.CrossEntropyDeferred[f16], ops.CrossEntropyDeferred[bf16],
	}},
	{"cross_entropy_mean", "", []any{
		ops.CrossEntropyMean[f32], ops.CrossEntropyMean[f16], ops.CrossEntropyMean[bf16],
		ops.CrossEntropyMeanDeferred[f32], ops.CrossEntropyMeanDeferred[f16], ops.CrossEntropyMeanDeferred[bf16],
	}},
	{"kd_loss", "", []any{
		ops.KDLoss[f32], ops.KDLoss[f16], ops.KDLoss[bf16],
		ops.KDLossDeferred[f32], ops.KDLossDeferred[f16], ops.KDLossDeferred[bf16],
	}},
	{"kd_metrics_mean", "", []any{
		ops.KDMetricsMean[f32], ops.KDMetricsMean[f16], ops.KDMetricsMean[bf16],
		ops.KDMetricsMeanDeferred[f32], ops.KDMetricsMeanDeferred[f16], ops.KDMetricsMeanDeferred[bf16],
	}},
	{"kl_distill", "", []any{
		ops.KLDistill[f32], ops.KLDistill[f16], ops.KLDistill[bf16],
		ops.KLDistillDeferred[f32], ops.KLDistillDeferred[f16], ops.KLDistillDeferred[bf16],
	}},
	{"perplexity", "", []any{
		ops.Perplexity[f32], ops.Perplexity[f16], ops.Perplexity[bf16],
		ops.PerplexityDeferred[f32], ops.PerplexityDeferred[f16], ops.PerplexityDeferred[bf16],
	}},
}
