package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

func numerics() []Rule {
	return []Rule{layerNormVariance(), constantRows(), activationsDoNotOverflow(), activationsAtInfinity(), maskedRows(), narrowSums(), nanWins()}
}

// layerNormVariance: the variance is not E[x²]−E[x]², which cancels where the
// mean is large. Deviations whose squares overflow f32 are out of the documented
// range: the row is NaN, or right where the device computes in float64, but
// never zeros.
func layerNormVariance() Rule {
	norm := func(name string, x ...float64) Case {
		y, mean, rstd := normalised(x, 1e-5)
		dy := make([]float64, len(x))
		for i := range dy {
			dy[i] = float64(i%3) - 0.5
		}
		n := len(x)
		return Case{Spec: "layernorm"}.with(tensors{"x": vector(x...), "gamma": constant(1, n), "beta": constant(0, n)},
			tensors{"y": vector(y...), "mean": number(mean), "rstd": number(rstd)}).named(name).of(expr.F32).
			backward(tensors{"y": vector(dy...)}, tensors{"x": vector(normGradient(y, rstd, dy)...), "gamma": vector(products(dy, y)...), "beta": vector(dy...)})
	}
	near := func(base float64) []float64 {
		x := make([]float64, 16)
		for i := range x {
			x[i] = float64(float32(base + float64(i)*0.001))
		}
		return x
	}
	whole := func(c Case) Case { c.Tol, c.Whole = 2e-3, true; return c }
	far := norm("d: deviations near 1e30", 1e30, 2e30, 3e30, 4e30)
	far.OrNaN, far.Grads, far.Cotangents = true, nil, nil
	delete(far.Outs, "mean")
	delete(far.Outs, "rstd")
	return rule("C001LayerNormVariance",
		norm("a: mean 40001.5", 40000, 40001, 40002, 40003),
		whole(norm("b: steps of 0.001 from 10000", near(10000)...)),
		whole(norm("c: steps of 0.001 from 100", near(100)...)),
		whole(norm("c: steps of 0.001 from 1000", near(1000)...)),
		far)
}

// normalised is a row after LayerNorm without gamma and beta, in float64.
func normalised(x []float64, eps float64) (y []float64, mean, rstd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	variance := 0.0
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	rstd = 1 / math.Sqrt(variance+eps)
	for _, v := range x {
		y = append(y, (v-mean)*rstd)
	}
	return y, mean, rstd
}

// normGradient is the gradient of x: Ba, Kiros and Hinton, Layer Normalization,
// 2016, in the closed form rstd * (dy - mean(dy) - y*mean(dy*y)).
func normGradient(y []float64, rstd float64, dy []float64) []float64 {
	n := float64(len(y))
	average, along := 0.0, 0.0
	for i, v := range dy {
		average += v / n
		along += v * y[i] / n
	}
	dx := make([]float64, len(y))
	for i, v := range dy {
		dx[i] = rstd * (v - average - y[i]*along)
	}
	return dx
}

func products(a, b []float64) []float64 {
	p := make([]float64, len(a))
	for i, v := range a {
		p[i] = v * b[i]
	}
	return p
}

// constantRows: rows without variance, of width one, and of zeros.
func constantRows() Rule {
	beta := vector(0, 1, -2, 3, -4, 5, -6, 7)
	equal := tensors{"x": constant(-15.94, 8), "gamma": constant(1, 8), "beta": beta}
	narrow := tensors{"x": vector(-3), "gamma": vector(1e10), "beta": vector(-1)}
	zeros := tensors{"x": constant(0, 4), "gamma": vector(1, 2, 1, -1)}
	return rule("C002ConstantRows",
		with("layernorm", scalars{"eps": 1e-10}, equal, tensors{"y": beta}, nil).named("a: eight equal values").exactly(),
		with("layernorm", scalars{"eps": 0.1}, narrow, tensors{"y": vector(-1)}, tensors{"x": vector(0), "gamma": vector(0), "beta": vector(1)}).
			named("b: width one").of(expr.F32, expr.BF16).exactly(),
		one("rmsnorm", zeros, tensors{"y": constant(0, 4)}, tensors{"x": vector(316.22777, 2*316.22777, -2*316.22777, -316.22777), "gamma": constant(0, 4)}).
			named("c: zeros").carrying(tensors{"y": vector(1, 1, -2, 1)}),
		with("rmsnorm", scalars{"eps": 0.0}, tensors{"x": vector(3, 4), "gamma": constant(1, 2)}, tensors{"y": vector(0.84852814, 1.13137085)}, nil).
			named("d: no eps"))
}

func unary(spec string, x, y, dx []float64) Case {
	c := one(spec, tensors{"x": vector(x...)}, tensors{"y": vector(y...)}, nil)
	if dx != nil {
		c.Grads = tensors{"x": vector(dx...)}
	}
	return c
}

// activationsDoNotOverflow: the exponentials inside GELU and tanh do, the
// functions do not.
func activationsDoNotOverflow() Rule {
	big := append(spaced(8, 15.5, 0.5), 40, 41, 100)
	var cases []Case
	for _, spec := range []string{"gelu", "gelu_erf"} {
		cases = append(cases,
			unary(spec, big, big, repeated(1, len(big))).named(spec+" from 8 on, narrow").of(expr.F16, expr.BF16).exactly(),
			unary(spec, big, big, repeated(1, len(big))).named(spec+" from 8 on").of(expr.F32).within(1e-6),
			unary(spec, row(-13.24, -40, -41, -100), row(0, 0, 0, 0), nil).named(spec+" below -13").exactly(),
			unary(spec, row(12, 40, -12, -40), row(12, 40, 0, 0), row(1, 1, 0, 0)).named(spec+" backward"))
	}
	cases = append(cases,
		unary("gelu", row(0, 1, -1), row(0, 0.84119199, -0.15880801), row(0.5, 1.08296408, -0.08296408)).named("gelu at -1, 0, 1"),
		unary("gelu_erf", row(0, 1, -1), row(0, 0.84134475, -0.15865525), row(0.5, 1.08331547, -0.08331547)).named("gelu_erf at -1, 0, 1"))
	for _, sign := range []float64{1, -1} {
		x := row(44, 45, 50, 88, 89, 100, 1e4, inf)
		for i := range x {
			x[i] *= sign
		}
		cases = append(cases, unary("tanh", x, repeated(sign, len(x)), repeated(0, len(x))).exactly())
	}
	return rule("C003ActivationsDoNotOverflow", cases...)
}

// activationsAtInfinity: the products that make GELU are 0·inf at infinities.
func activationsAtInfinity() Rule {
	var cases []Case
	for _, spec := range []string{"gelu", "gelu_erf", "silu", "relu"} {
		dx := row(1, 0, nan)
		if spec == "relu" {
			dx = nil // the derivative at NaN is a choice
		}
		cases = append(cases, unary(spec, row(inf, -inf, nan), row(inf, 0, nan), dx).exactly())
	}
	cases = append(cases,
		unary("sigmoid", row(inf, -inf, nan), row(1, 0, nan), row(0, 0, nan)).exactly(),
		unary("erf", row(inf, -inf, nan), row(1, -1, nan), row(0, 0, nan)).exactly())
	return rule("C004ActivationsAtInfinity", cases...)
}

// maskedRows: rows of softmax that are masked in full or in part, beside others
// that they must not touch.
func maskedRows() Rule {
	var cases []Case
	for _, width := range []int{3, 1025} {
		pad := func(fill float64, v ...float64) []float64 { return append(v, repeated(fill, width-3)...) }
		x := matrix(pad(-inf, -inf, -inf, -inf), pad(-inf, -inf, 0, -inf), pad(-inf, 0, -inf, 0),
			pad(-inf, 1000, 1000, -inf), pad(0, inf, 0, 0), pad(-inf, -inf, 0, -inf))
		y := matrix(pad(0, 0, 0, 0), pad(0, 0, 1, 0), pad(0, 0.5, 0, 0.5), pad(0, 0.5, 0.5, 0), pad(nan, nan, nan, nan), pad(0, 0, 1, 0))
		dy := pad(7, 1, 2, 3)
		dx := matrix(pad(0, 0, 0, 0), pad(0, 0, 0, 0), pad(0, -0.5, 0, 0.5), pad(0, -0.25, 0.25, 0), pad(nan, nan, nan, nan), pad(0, 0, 0, 0))
		cases = append(cases, exactly("softmax", tensors{"x": x}, tensors{"y": y}, tensors{"x": dx}).
			carrying(tensors{"y": matrix(dy, dy, dy, dy, dy, dy)}))
	}
	return rule("C006SoftmaxOfMaskedRows", cases...)
}

// narrowSums: sums of f16 run in f32.
func narrowSums() Rule {
	ones, large := tensors{"x": constant(1, 4096)}, tensors{"x": constant(60000, 4)}
	opposite := tensors{"x": vector(append(repeated(32000, 4), repeated(-32000, 4)...)...)}
	scalar := func(v float64) tensors { return tensors{"y": number(v)} }
	return rule("C007NarrowSums",
		exactly("sum", ones, scalar(4096), nil).named("a: sum of ones"),
		exactly("mean", ones, scalar(1), nil).named("a: mean of ones"),
		exactly("row_sum", ones, scalar(4096), nil).named("a: sum of a row of ones"),
		exactly("row_mean", ones, scalar(1), nil).named("a: mean of a row of ones"),
		exactly("bias_grad", tensors{"dy": constant(1, 4096, 2)}, tensors{"db": vector(4096, 4096)}, nil).named("a: columns of ones"),
		exactly("mean", large, scalar(60000), nil).named("b: mean of 60000").of(expr.F16),
		exactly("row_mean", large, scalar(60000), nil).named("b: mean of a row of 60000").of(expr.F16),
		exactly("softmax", tensors{"x": constant(3, 4096)}, tensors{"y": constant(1.0/4096, 4096)}, nil).named("c: equal logits"),
		exactly("sum", opposite, scalar(0), nil).named("d: a sum that passes 65504 on the way"),
		exactly("row_sum", opposite, scalar(0), nil).named("d: a row's"),
		exactly("layernorm", tensors{"x": constant(300, 1024), "gamma": constant(1, 1024), "beta": constant(0.5, 1024)},
			tensors{"y": constant(0.5, 1024)}, nil).named("e: layernorm of 300"),
		one("rmsnorm", tensors{"x": constant(300, 1024), "gamma": constant(1, 1024)}, tensors{"y": constant(1, 1024)}, nil).named("e: rmsnorm of 300"),
		exactly("matmul", tensors{"a": constant(1, 3, 4096), "b": constant(1, 4096, 5)}, tensors{"c": constant(4096, 3, 5)}, nil).
			named("f: a product of ones").choosing(choice{"ta": "n", "tb": "n"}))
}

// nanWins: NaN is the maximum, and the first one's place is the argmax; the loss
// of a row that holds one is NaN.
func nanWins() Rule {
	var cases []Case
	for _, c := range []struct {
		x  []float64
		at float64
	}{{row(3, nan, 1, 5), 1}, {row(nan, 1, 2), 0}, {row(1, 2, nan), 2}, {row(inf, nan, -inf), 1}} {
		rest := repeated(0.25, 1025-len(c.x))
		long, late := append(slices.Clone(c.x), rest...), append(slices.Clone(rest), c.x...)
		for _, in := range []struct {
			x  []float64
			at float64
		}{{c.x, c.at}, {long, c.at}, {late, c.at + float64(len(rest))}} {
			x := tensors{"x": vector(in.x...)}
			logits := tensors{"logits": matrix(in.x), "target": vector(2)}
			cases = append(cases,
				one("row_max", x, tensors{"y": number(nan)}, nil), one("max", x, tensors{"y": number(nan)}, nil),
				one("argmax", x, tensors{"index": number(in.at)}, nil),
				one("cross_entropy", logits, tensors{"loss": vector(nan)}, nil),
				one("cross_entropy_mean", logits, tensors{"loss": number(nan), "count": number(1)}, nil))
		}
	}
	for i, x := range [][]float64{row(1, nan, 2), row(nan, 1, 2), row(1, 2, nan)} {
		right := matrix(row(1, 2, 3))
		cases = append(cases,
			with("kd_loss", scalars{"alpha": 0.5, "beta": 2.0}, tensors{"student": matrix(x), "teacher": right}, tensors{"mse": vector(nan), "cos": vector(nan), "loss": vector(nan)}, nil).named(fmt.Sprintf("kd_loss, student %d", i)),
			with("kd_loss", scalars{"alpha": 0.5, "beta": 2.0}, tensors{"student": right, "teacher": matrix(x)}, tensors{"mse": vector(nan), "cos": vector(nan), "loss": vector(nan)}, nil).named(fmt.Sprintf("kd_loss, teacher %d", i)),
			one("kd_metrics_mean", tensors{"student": matrix(x), "teacher": right}, tensors{"mse": number(nan), "cos": number(nan)}, nil).named(fmt.Sprintf("kd_metrics_mean, student %d", i)),
			one("kl_distill", tensors{"student": matrix(x), "teacher": right}, tensors{"loss": vector(nan)}, nil).named(fmt.Sprintf("kl_distill, student %d", i)),
			one("kl_distill", tensors{"student": right, "teacher": matrix(x)}, tensors{"loss": vector(nan)}, nil).named(fmt.Sprintf("kl_distill, teacher %d", i)))
	}
	for _, spec := range []string{"maximum", "minimum"} {
		cases = append(cases, one(spec, tensors{"a": vector(nan, 1, nan), "b": vector(1, nan, nan)}, tensors{"y": constant(nan, 3)}, nil))
	}
	return rule("C008NaNWins", cases...)
}

// with and backward give a case its tensors.
func (c Case) with(ins, outs tensors) Case { c.Ins, c.Outs = ins, outs; return c }

func (c Case) backward(cotangents, grads tensors) Case {
	c.Cotangents, c.Grads = cotangents, grads
	return c
}
