package parity_test

import "github.com/kernelgen/kgen/generated/ops"

// elementwiseFunctions are the functions of the specs in specs/elementwise.
var elementwiseFunctions = []function{
	{"abs", "", []any{
		ops.Abs[f32], ops.Abs[f16], ops.Abs[bf16],
		ops.AbsDeferred[f32], ops.AbsDeferred[f16], ops.AbsDeferred[bf16],
	}},
	{"add", "", []any{
		ops.Add[f32], ops.Add[f16], ops.Add[bf16],
		ops.AddDeferred[f32], ops.AddDeferred[f16], ops.AddDeferred[bf16],
	}},
	{"add_broadcast_2d_3d", "", []any{
		ops.AddBroadcast2D3D[f32], ops.AddBroadcast2D3D[f16], ops.AddBroadcast2D3D[bf16],
		ops.AddBroadcast2D3DDeferred[f32], ops.AddBroadcast2D3DDeferred[f16], ops.AddBroadcast2D3DDeferred[bf16],
	}},
	{"add_scalar", "", []any{
		ops.AddScalar[f32], ops.AddScalar[f16], ops.AddScalar[bf16],
		ops.AddScalarDeferred[f32], ops.AddScalarDeferred[f16], ops.AddScalarDeferred[bf16],
	}},
	{"bias_add", "", []any{
		ops.BiasAdd[f32], ops.BiasAdd[f16], ops.BiasAdd[bf16],
		ops.BiasAddDeferred[f32], ops.BiasAddDeferred[f16], ops.BiasAddDeferred[bf16],
	}},
	{"clamp", "", []any{
		ops.Clamp[f32], ops.Clamp[f16], ops.Clamp[bf16],
		ops.ClampDeferred[f32], ops.ClampDeferred[f16], ops.ClampDeferred[bf16],
	}},
	{"div", "", []any{
		ops.Div[f32], ops.Div[f16], ops.Div[bf16],
		ops.DivDeferred[f32], ops.DivDeferred[f16], ops.DivDeferred[bf16],
	}},
	{"dropout", "", []any{
		ops.Dropout[f32], ops.Dropout[f16], ops.Dropout[bf16],
		ops.DropoutDeferred[f32], ops.DropoutDeferred[f16], ops.DropoutDeferred[bf16],
	}},
	{"erf", "", []any{
		ops.Erf[f32], ops.Erf[f16], ops.Erf[bf16],
		ops.ErfDeferred[f32], ops.ErfDeferred[f16], ops.ErfDeferred[bf16],
	}},
	{"exp", "", []any{
		ops.Exp[f32], ops.Exp[f16], ops.Exp[bf16],
		ops.ExpDeferred[f32], ops.ExpDeferred[f16], ops.ExpDeferred[bf16],
	}},
	{"gelu", "", []any{
		ops.GELU[f32], ops.GELU[f16], ops.GELU[bf16],
		ops.GELUDeferred[f32], ops.GELUDeferred[f16], ops.GELUDeferred[bf16],
	}},
	{"gelu_erf", "", []any{
		ops.GELUErf[f32], ops.GELUErf[f16], ops.GELUErf[bf16],
		ops.GELUErfDeferred[f32], ops.GELUErfDeferred[f16], ops.GELUErfDeferred[bf16],
	}},
	{"log", "", []any{
		ops.Log[f32], ops.Log[f16], ops.Log[bf16],
		ops.LogDeferred[f32], ops.LogDeferred[f16], ops.LogDeferred[bf16],
	}},
	{"mask_zero", "", []any{
		ops.MaskZero[f32], ops.MaskZero[f16], ops.MaskZero[bf16],
		ops.MaskZeroDeferred[f32], ops.MaskZeroDeferred[f16], ops.MaskZeroDeferred[bf16],
	}},
	{"maximum", "", []any{
		ops.Maximum[f32], ops.Maximum[f16], ops.Maximum[bf16],
		ops.MaximumDeferred[f32], ops.MaximumDeferred[f16], ops.MaximumDeferred[bf16],
	}},
	{"minimum", "", []any{
		ops.Minimum[f32], ops.Minimum[f16], ops.Minimum[bf16],
		ops.MinimumDeferred[f32], ops.MinimumDeferred[f16], ops.MinimumDeferred[bf16],
	}},
	{"mul", "", []any{
		ops.Mul[f32], ops.Mul[f16], ops.Mul[bf16],
		ops.MulDeferred[f32], ops.MulDeferred[f16], ops.MulDeferred[bf16],
	}},
	{"neg", "", []any{
		ops.Neg[f32], ops.Neg[f16], ops.Neg[bf16],
		ops.NegDeferred[f32], ops.NegDeferred[f16], ops.NegDeferred[bf16],
	}},
	{"pow", "", []any{
		ops.Pow[f32], ops.Pow[f16], ops.Pow[bf16],
		ops.PowDeferred[f32], ops.PowDeferred[f16], ops.PowDeferred[bf16],
	}},
	{"relu", "", []any{
		ops.ReLU[f32], ops.ReLU[f16], ops.ReLU[bf16],
		ops.ReLUDeferred[f32], ops.ReLUDeferred[f16], ops.ReLUDeferred[bf16],
	}},
	{"residual_add", "", []any{
		ops.ResidualAdd[f32], ops.ResidualAdd[f16], ops.ResidualAdd[bf16],
		ops.ResidualAddDeferred[f32], ops.ResidualAddDeferred[f16], ops.ResidualAddDeferred[bf16],
	}},
	{"rsqrt", "", []any{
		ops.Rsqrt[f32], ops.Rsqrt[f16], ops.Rsqrt[bf16],
		ops.RsqrtDeferred[f32], ops.RsqrtDeferred[f16], ops.RsqrtDeferred[bf16],
	}},
	{"scale", "", []any{
		ops.Scale[f32], ops.Scale[f16], ops.Scale[bf16],
		ops.ScaleDeferred[f32], ops.ScaleDeferred[f16], ops.ScaleDeferred[bf16],
	}},
	{"sigmoid", "", []any{
		ops.Sigmoid[f32], ops.Sigmoid[f16], ops.Sigmoid[bf16],
		ops.SigmoidDeferred[f32], ops.SigmoidDeferred[f16], ops.SigmoidDeferred[bf16],
	}},
	{"silu", "", []any{
		ops.SiLU[f32], ops.SiLU[f16], ops.SiLU[bf16],
		ops.SiLUDeferred[f32], ops.SiLUDeferred[f16], ops.SiLUDeferred[bf16],
	}},
	{"sqrt", "", []any{
		ops.Sqrt[f32], ops.Sqrt[f16], ops.Sqrt[bf16],
		ops.SqrtDeferred[f32], ops.SqrtDeferred[f16], ops.SqrtDeferred[bf16],
	}},
	{"square", "", []any{
		ops.Square[f32], ops.Square[f16], ops.Square[bf16],
		ops.SquareDeferred[f32], ops.SquareDeferred[f16], ops.SquareDeferred[bf16],
	}},
	{"sub", "", []any{
		ops.Sub[f32], ops.Sub[f16], ops.Sub[bf16],
		ops.SubDeferred[f32], ops.SubDeferred[f16], ops.SubDeferred[bf16],
	}},
	{"swiglu", "", []any{
		ops.SwiGLU[f32], ops.SwiGLU[f16], ops.SwiGLU[bf16],
		ops.SwiGLUDeferred[f32], ops.SwiGLUDeferred[f16], ops.SwiGLUDeferred[bf16],
	}},
	{"tanh", "", []any{
		ops.Tanh[f32], ops.Tanh[f16], ops.Tanh[bf16],
		ops.TanhDeferred[f32], ops.TanhDeferred[f16], ops.TanhDeferred[bf16],
	}},
}
