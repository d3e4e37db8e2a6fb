package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// catalogue are the rules of single kernels.
func catalogue() []Rule {
	return []Rule{
		rounding(), lowestIndex(), zeroRows(), ignoredRows(), distillation(), kullbackLeibler(), windows(), adjoints(), lookups(), loraScale(), linearLayer(), logSoftmaxMasked(), longRows(),
		batchedProducts(), dropoutEnds(), metrics(),
	}
}

// rounding: cast rounds to nearest, ties to even, and past the range to
// infinity.
func rounding() Rule {
	cast := func(name string, to expr.DType, x, y []float64) Case {
		c := exactly("cast", tensors{"x": vector(x...)}, tensors{"y": vector(y...)}, nil).named(name).of(expr.F32)
		c.Second = []expr.DType{to}
		return c
	}
	return rule("CastRoundsToNearestEven",
		cast("f32 to f16", expr.F16, row(1+0x1p-11, 1+3*0x1p-11, 1+0x1p-11+0x1p-20, 2049, 2051, 65519, 65520, -65520, 0x1p-25, 3*0x1p-25, 0x1p-14-0x1p-25, inf, nan),
			row(1, 1+0x1p-9, 1+0x1p-10, 2048, 2052, 65504, inf, -inf, 0, 0x1p-23, 0x1p-14, inf, nan)),
		cast("f32 to bf16", expr.BF16, row(1+0x1p-8, 1+3*0x1p-8, 1+0x1p-8+0x1p-20, 257, 259, 0x1.FEFp127, 0x1.FFp127, -0x1.FFp127, -inf, nan),
			row(1, 1+0x1p-6, 1+0x1p-7, 256, 260, 0x1.FEp127, inf, -inf, -inf, nan)),
		cast("f32 to f32", expr.F32, row(1.1, inf, nan), row(float64(float32(1.1)), inf, nan)))
}

// lowestIndex: of equal values argmax has the first.
func lowestIndex() Rule {
	long := constant(4, 2, 1025)
	long.Data[1025+700] = 5
	long.Data[1025+1024] = 5
	return rule("ArgmaxLowestIndex",
		exactly("argmax", tensors{"x": matrix(row(1, 3, 3, 2), row(-inf, -inf, -inf, -inf), row(0, 0, 7, 7))}, tensors{"index": vector(1, 0, 2)}, nil),
		exactly("argmax", tensors{"x": long}, tensors{"index": vector(0, 700)}, nil))
}

// zeroRows: rows of norm zero, and of a norm below eps.
func zeroRows() Rule {
	return rule("ZeroRows",
		exactly("l2_normalize", tensors{"x": constant(0, 2, 3)}, tensors{"y": constant(0, 2, 3)}, nil),
		with("l2_normalize", scalars{"eps": 10.0}, tensors{"x": matrix(row(3, 4), row(6, 8), row(30, 40))},
			tensors{"y": matrix(row(0.3, 0.4), row(0.6, 0.8), row(0.6, 0.8))}, nil),
		with("l2_normalize", scalars{"eps": 10.0}, tensors{"x": vector(3, 4)}, tensors{"y": vector(0.3, 0.4)}, tensors{"x": vector(0.1, 0.1)}),
		exactly("cosine_similarity", tensors{"a": matrix(row(0, 0), row(1, 2)), "b": matrix(row(3, 4), row(0, 0))}, tensors{"y": vector(0, 0)}, nil),
		exactly("cosine_similarity", tensors{"a": vector(0, 0), "b": vector(0, 0)}, tensors{"y": number(0)}, tensors{"a": vector(0, 0), "b": vector(0, 0)}),
		one("cosine_similarity", tensors{"a": vector(3, 4), "b": vector(4, 3)}, tensors{"y": number(0.96)},
			tensors{"a": vector((0.8-0.96*0.6)/5, (0.6-0.96*0.8)/5), "b": vector((0.6-0.96*0.8)/5, (0.8-0.96*0.6)/5)}),
	)
}

// ignoredRows: an ignored row of cross entropy gives 0, also one that holds NaN,
// and has no gradient; the others' is (softmax - onehot) * scale.
func ignoredRows() Rule {
	logits := matrix(row(0, 0), row(nan, inf), row(0, 0))
	ins := tensors{"logits": logits, "target": vector(1, -100, 0)}
	return rule("CrossEntropyIgnoredRows",
		one("cross_entropy", ins, tensors{"loss": vector(math.Ln2, 0, math.Ln2), "lse": vector(math.Ln2, 0, math.Ln2)},
			tensors{"logits": matrix(row(1, -1), row(0, 0), row(-2, 2))}).carrying(tensors{"loss": vector(2, 8, 4)}),
		one("cross_entropy_mean", ins, tensors{"loss": number(math.Ln2), "count": number(2)},
			tensors{"logits": matrix(row(0.25, -0.25), row(0, 0), row(-0.25, 0.25))}).carrying(tensors{"loss": number(1)}),
		with("cross_entropy", scalars{"label_smoothing": 0.25}, tensors{"logits": matrix(row(2, 0)), "target": vector(0)},
			tensors{"loss": vector(math.Log(1+math.Exp(-2)) + 0.25)}, nil).named("smoothing"))
}

// distillation: mse, cosine and their sum, and the means over rows.
func distillation() Rule {
	ins := tensors{"student": matrix(row(3, 4), row(0, 0)), "teacher": matrix(row(4, 3), row(1, 1))}
	return rule("Distillation",
		with("kd_loss", scalars{"alpha": 0.5, "beta": 2.0}, ins, tensors{"mse": vector(1, 1), "cos": vector(0.96, 0), "loss": vector(0.5*0.04+2, 0.5+2)}, nil),
		one("kd_metrics_mean", ins, tensors{"mse": number(1), "cos": number(0.48)}, nil))
}

// kullbackLeibler: a class that the teacher gives no weight adds nothing; the
// divergence is scaled by the squared temperature.
func kullbackLeibler() Rule {
	kl := func(temperature float64, student, teacher []float64, loss float64, dx []float64) Case {
		c := with("kl_distill", scalars{"temperature": temperature}, tensors{"student": matrix(student), "teacher": matrix(teacher)}, tensors{"loss": vector(loss)}, nil)
		if dx != nil {
			c.Grads = tensors{"student": matrix(dx)}
		}
		return c
	}
	return rule("KullbackLeibler",
		kl(1, row(0, 0, 0), row(0, 0, -inf), math.Log(1.5), row(1.0/3-0.5, 1.0/3-0.5, 1.0/3)).named("a class of no weight"),
		kl(1, row(0, 0, -inf), row(0, 0, -inf), 0, nil).named("no weight on either side"),
		kl(1, row(0, -inf), row(0, 0), inf, nil).named("weight where the student has none"),
		kl(4, row(0, 0, 0), row(0, 0, -inf), 16*math.Log(1.5), nil).named("squared temperature"),
		kl(2, row(2, 2), row(-2, -2), 0, row(0, 0)).named("equal distributions"))
}

// windows: column c*K+k of im2col holds x[l*stride + k*dilation - pad_left, c].
func windows() Rule {
	x := tensors{"x": shaped(row(1, 10, 2, 20, 3, 30), 1, 3, 2)}
	taps := func(n int) map[string][]int { return map[string][]int{"K": {n}} }
	return rule("Windows",
		with("im2col", scalars{"pad_left": 2.0}, x, tensors{"cols": shaped(row(0, 0, 1, 0, 0, 10, 0, 1, 2, 0, 10, 20, 1, 2, 3, 10, 20, 30), 1, 3, 6)},
			tensors{"x": shaped(row(3, 3, 2, 2, 1, 1), 1, 3, 2)}).free(taps(3)).exactly().named("causal"),
		with("im2col", scalars{"dilation": 2.0, "stride": 2.0, "pad_left": 1.0, "pad_right": 2.0}, x,
			tensors{"cols": shaped(row(0, 2, 0, 20, 2, 0, 20, 0), 1, 2, 4)}, tensors{"x": shaped(row(0, 0, 2, 2, 0, 0), 1, 3, 2)}).
			free(taps(2)).exactly().named("dilation and stride"),
		exactly("pack_w_to_col", tensors{"W": shaped(row(1, 2, 3, 4, 5, 6, 7, 8), 2, 2, 2)}, tensors{"cols": matrix(row(1, 2, 3, 4), row(5, 6, 7, 8))},
			tensors{"W": constant(1, 2, 2, 2)}),
		exactly("pack_w_to_col", tensors{"W": shaped(row(1, 2, 3, 4), 2, 2, 1)}, tensors{"cols": matrix(row(1, 2), row(3, 4))}, nil).named("one tap"))
}

// adjoints: slice and pad are each other's gradient.
func adjoints() Rule {
	column := func(v ...float64) tensors { return tensors{"x": shaped(v, len(v), 1)} }
	y := func(v ...float64) tensors { return tensors{"y": shaped(v, len(v), 1)} }
	return rule("SliceAndPadAreAdjoint",
		with("slice", scalars{"start": 1.0, "length": 2.0}, column(1, 2, 3, 4), y(2, 3), column(0, 5, 7, 0)).carrying(y(5, 7)).exactly(),
		with("pad", scalars{"before": 1.0, "after": 2.0, "value": nan}, column(2, 3), y(nan, 2, 3, nan, nan), column(6, 7)).carrying(y(5, 6, 7, 8, 9)).exactly(),
		exactly("fill_bias", tensors{"b": vector(1, 2)}, tensors{"y": matrix(row(1, 2), row(1, 2), row(1, 2))}, tensors{"b": vector(3, 3)}).free(map[string][]int{"M": {3}}))
}

// lookups: repeated ids add up in f32, once; accumulation goes on from a sum.
func lookups() Rule {
	many := tensors{"ids": constant(1, 4096), "W": constant(0, 4, 2)}
	few := tensors{"ids": vector(2, 2, 2, 0), "W": constant(0, 4, 2)}
	return rule("C019RepeatedIDs",
		exactly("embedding", few, tensors{"y": constant(0, 4, 2)}, tensors{"W": matrix(row(1, 1), row(0, 0), row(3, 3), row(0, 0))}).named("a: a repeated id"),
		exactly("embedding", many, tensors{"y": constant(0, 4096, 2)}, tensors{"W": matrix(row(0, 0), row(4096, 4096), row(0, 0), row(0, 0))}).named("b: 4096 times"),
		exactly("embedding_backward_accumulate", tensors{"sum": constant(1, 4, 2), "ids": vector(2, 2, 2, 0), "dy": constant(1, 4, 2)},
			tensors{"dW": matrix(row(2, 2), row(1, 1), row(4, 4), row(1, 1))}, nil).named("accumulated"))
}

// loraScale: the correction is scaled by alpha over its rank.
func loraScale() Rule {
	ins := tensors{"x": matrix(row(1, 2)), "w": matrix(row(1, 0), row(0, 1)), "a": matrix(row(1, 0), row(0, 1)), "b": matrix(row(2, 0), row(0, 4))}
	return rule("LoRAScale", with("lora", scalars{"alpha": 1.0}, ins, tensors{"y": matrix(row(2, 6))}, nil).exactly())
}

// linearLayer: dW = dyᵀx, dx = dy W, db = the sum of dy over rows.
func linearLayer() Rule {
	ins := tensors{"x": matrix(row(1, 2), row(3, 4)), "w": matrix(row(1, 1), row(2, 0), row(0, -1)), "bias": vector(1, 2, 3)}
	return rule("LinearLayer", exactly("linear", ins, tensors{"y": matrix(row(4, 4, 1), row(8, 8, -1))},
		tensors{"x": matrix(row(5, -2), row(1, -2)), "w": matrix(row(-2, -2), row(5, 8), row(6, 10)), "bias": vector(0, 3, 4)}).
		carrying(tensors{"y": matrix(row(1, 2, 3), row(-1, 1, 1))}))
}

// logSoftmaxMasked: a class that is masked out has the logarithm of zero.
func logSoftmaxMasked() Rule {
	return rule("LogSoftmaxOfMaskedRows",
		one("log_softmax", tensors{"x": matrix(row(-inf, 0, 0), row(1000, -inf, 1000))},
			tensors{"y": matrix(row(-inf, -math.Ln2, -math.Ln2), row(-math.Ln2, -inf, -math.Ln2))}, nil),
		one("log_softmax", tensors{"x": matrix(row(-inf, -inf), row(0, 0))}, tensors{"y": matrix(row(-inf, -inf), row(-math.Ln2, -math.Ln2))}, nil))
}

// longRows: rows of softmax that no target keeps in registers, whose greatest value comes
// first, late, from nothing finite, or rises all along. The widths allow runs of 16 bytes
// and do not.
func longRows() Rule {
	var cases []Case
	for _, width := range []int{9000, 8999} {
		fill := func(v float64, at map[int]float64) []float64 {
			x := repeated(v, width)
			for i, v := range at {
				x[i] = v
			}
			return x
		}
		rising, falling := make([]float64, width), make([]float64, width)
		for i := range rising {
			rising[i] = math.Floor(64*float64(i)/float64(width))/4 - 8
			falling[width-1-i] = rising[i]
		}
		finite := [][]float64{rising, falling, fill(-8, map[int]float64{width - 1: 8}), fill(-1000, map[int]float64{5000: 1000})}
		rows := append(slices.Clone(finite), fill(-inf, map[int]float64{7000: 3, 8500: 3}), fill(-inf, nil),
			fill(0, map[int]float64{6000: inf}), fill(0, map[int]float64{6000: nan}), fill(-inf, map[int]float64{100: inf, 6000: inf}))
		var y, z [][]float64
		var lse []float64
		for _, x := range rows {
			p, l := softmax(x)
			y, lse = append(y, p), append(lse, l)
			z = append(z, less(x, l))
		}
		var smooth []float64
		for i, x := range finite {
			smooth = append(smooth, lse[i]-0.75*x[3]-0.25*mean(x))
		}
		target, at := repeated(3, len(rows)), fmt.Sprintf(" of %d", width)
		target[5] = -100 // the row without a finite value
		loss := func(i int) float64 { return lse[i] - rows[i][3] }
		losses := row(loss(0), loss(1), loss(2), loss(3), inf, 0, nan, nan, nan)
		lse[5] = 0
		cases = append(cases,
			one("softmax", tensors{"x": matrix(rows...)}, tensors{"y": matrix(y...)}, nil).named("softmax"+at),
			one("log_softmax", tensors{"x": matrix(rows...)}, tensors{"y": matrix(z...)}, nil).named("log_softmax"+at),
			one("cross_entropy", tensors{"logits": matrix(rows...), "target": vector(target...)},
				tensors{"loss": vector(losses...), "lse": vector(lse...)}, nil).named("cross_entropy"+at),
			with("cross_entropy", scalars{"label_smoothing": 0.25}, tensors{"logits": matrix(finite...), "target": vector(target[:len(finite)]...)},
				tensors{"loss": vector(smooth...)}, nil).named("smoothing"+at))
	}
	return rule("LongRowsOfSoftmax", cases...)
}

// softmax is the softmax of x, zeros where x is -inf, and the logarithm of the sum of the
// exponentials.
func softmax(x []float64) (y []float64, lse float64) {
	top, sum := -inf, 0.0
	for _, v := range x {
		top = max(top, v) // NaN wins
	}
	y = make([]float64, len(x))
	if math.IsInf(top, -1) {
		return y, math.Log(float64(len(x)))
	}
	for i, v := range x {
		y[i] = math.Exp(v - top)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y, top + math.Log(sum)
}

// less is x - by.
func less(x []float64, by float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v - by
	}
	return y
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// batchedProducts: leading axes are batches, and either factor may be
// transposed.
func batchedProducts() Rule {
	product := func(ta, tb string, a, b []float64) Case {
		return exactly("matmul", tensors{"a": shaped(a, 2, 2, 2), "b": shaped(b, 2, 2, 2)}, tensors{"c": shaped(row(19, 22, 43, 50, 1, 1, 2, 2), 2, 2, 2)}, nil).
			choosing(choice{"ta": ta, "tb": tb})
	}
	a, at := row(1, 2, 3, 4, 1, 0, 0, 2), row(1, 3, 2, 4, 1, 0, 0, 2)
	b, bt := row(5, 6, 7, 8, 1, 1, 1, 1), row(5, 7, 6, 8, 1, 1, 1, 1)
	return rule("BatchedProducts", product("n", "n", a, b), product("t", "n", at, b), product("n", "t", a, bt), product("t", "t", at, bt))
}

// dropoutEnds: probability 0 keeps everything, 1 nothing.
func dropoutEnds() Rule {
	x := row(1, -2, 3, 4, 5)
	drop := func(p float64, y []float64, dx float64) Case {
		return with("dropout", scalars{"p": p, "seed": 7.0, "offset": 3.0}, tensors{"x": vector(x...)}, tensors{"y": vector(y...)}, tensors{"x": constant(dx, 5)}).exactly()
	}
	return rule("DropoutEnds", drop(0, x, 1).named("p 0"), drop(1, repeated(0, 5), 0).named("p 1"))
}

// metrics: accuracy and perplexity are over rows not ignored.
func metrics() Rule {
	ins := tensors{"logits": matrix(row(0, 1), row(1, 0), row(5, 0), row(0, 3)), "target": vector(1, 1, -100, 1)}
	even := tensors{"logits": constant(2, 3, 4), "target": vector(0, -100, 3)}
	return rule("Metrics",
		one("accuracy", ins, tensors{"accuracy": number(2.0 / 3), "count": number(3)}, nil),
		one("perplexity", even, tensors{"perplexity": number(4), "count": number(2)}, nil),
		exactly("count_nonfinite", tensors{"x": vector(1, inf, nan, -inf, 0)}, tensors{"y": number(3)}, nil))
}
