package rules

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/tests/golden"
)

func losses() []Rule {
	return []Rule{everyTargetIgnored(), targets(), maskedMean(), nonfiniteChecks()}
}

// everyTargetIgnored: a batch in which every target is ignored, and the next.
func everyTargetIgnored() Rule {
	logits := golden.Tensor{Shape: []int{5, 10}}
	for i := range 50 {
		logits.Data = append(logits.Data, float64(i*7%11)/4-1)
	}
	ins, none := tensors{"logits": logits, "target": constant(-100, 5)}, tensors{"logits": constant(0, 5, 10)}
	next := tensors{"logits": constant(0.5, 2, 4), "target": vector(-100, 3)}
	return rule("C012EveryTargetIgnored",
		exactly("cross_entropy_mean", ins, tensors{"loss": number(0), "count": number(0)}, none).carrying(tensors{"loss": number(1)}),
		exactly("cross_entropy", ins, tensors{"loss": constant(0, 5), "lse": constant(0, 5)}, none).carrying(tensors{"loss": constant(1, 5)}),
		exactly("accuracy", ins, tensors{"accuracy": number(0), "count": number(0)}, nil),
		exactly("perplexity", ins, tensors{"perplexity": number(1), "count": number(0)}, nil),
		exactly("sum", tensors{"x": constant(0, 5)}, tensors{"y": number(0)}, nil).named("the sum of the losses"),
		with("sgd", scalars{"lr": 0.1}, tensors{"g": constant(0, 3), "inv_scale": number(1), "clip": number(1), "skip": number(0),
			"w": vector(1, -2, 3), "v": constant(0, 3)}, tensors{"w": vector(1, -2, 3)}, nil).exactly().named("sgd with a gradient of zeros"),
		one("cross_entropy_mean", next, tensors{"loss": number(math.Log(4)), "count": number(1)},
			tensors{"logits": matrix(row(0, 0, 0, 0), row(0.25, 0.25, 0.25, -0.75))}).carrying(tensors{"loss": number(1)}).named("the next batch"))
}

// targets: an ignored class, one that is large, and logits far apart. Targets
// outside the classes are errors, which parity tests.
func targets() Rule {
	ln3 := 1.09861229
	zeros := tensors{"logits": constant(0, 6, 3), "target": vector(0, 1, 255, 0, 1, 2)}
	third := func(at int) []float64 {
		r := row(1.0/3, 1.0/3, 1.0/3)
		r[at]--
		return r
	}
	return rule("C013Targets",
		with("cross_entropy", scalars{"ignore_index": 255.0}, zeros, tensors{"loss": vector(ln3, ln3, 0, ln3, ln3, ln3)},
			tensors{"logits": matrix(third(0), third(1), row(0, 0, 0), third(0), third(1), third(2))}).named("a: no reduction"),
		one("sum", tensors{"x": vector(ln3, ln3, 0, ln3, ln3, ln3)}, tensors{"y": number(5.49306144)}, nil).named("a: sum").of(expr.F32),
		with("cross_entropy_mean", scalars{"ignore_index": 255.0}, zeros, tensors{"loss": number(ln3), "count": number(5)}, nil).named("a: mean"),
		with("cross_entropy", scalars{"ignore_index": 0.0}, tensors{"logits": matrix(row(0, 1, 1)), "target": vector(1)},
			tensors{"loss": vector(0.86199480)}, nil).named("d: the ignored class stays in the denominator"),
		one("cross_entropy", tensors{"logits": matrix(row(1000, 0), row(1000, 0)), "target": vector(0, 1)}, tensors{"loss": vector(0, 1000)},
			tensors{"logits": matrix(row(0, 0), row(1, -1))}).named("e: logits far apart"))
}

// maskedMean: what the mask leaves out never enters the mean.
func maskedMean() Rule {
	mean := func(name string, x, mask []float64, y float64, dx []float64) Case {
		n := len(x)
		c := exactly("masked_mean", tensors{"x": shaped(x, 1, n, 1), "mask": shaped(mask, 1, n)}, tensors{"y": constant(y, 1, 1)}, nil).named(name)
		if dx != nil {
			c.Grads = tensors{"x": shaped(dx, 1, n, 1)}
		}
		return c
	}
	return rule("C014MaskedMean",
		mean("a: nothing kept", row(1, 2, 3), row(0, 0, 0), 0, row(0, 0, 0)),
		mean("b: NaN outside", row(1, nan, 3), row(1, 0, 1), 2, row(0.5, 0, 0.5)),
		mean("c: an infinity outside", row(1, inf, 3), row(1, 0, 255), 2, row(0.5, 0, 0.5)),
		mean("d: 60000", repeated(60000, 4), row(1, 1, 1, 1), 60000, nil).of(expr.F16),
		exactly("mask_zero", tensors{"y": shaped(row(1, nan, inf), 1, 3, 1), "mask": shaped(row(1, 0, 0), 1, 3)},
			tensors{"z": shaped(row(1, 0, 0), 1, 3, 1)}, tensors{"y": shaped(row(1, 0, 0), 1, 3, 1)}))
}

// nonfiniteChecks: the compiler's flags leave the checks for NaN and infinities
// in.
func nonfiniteChecks() Rule {
	x := constant(1, 1025)
	x.Data[0], x.Data[700], x.Data[1024] = nan, inf, -inf
	clip := func(normSq, skip float64) Case {
		return with("clip_factor", scalars{"max_norm": 0.0}, tensors{"norm_sq": number(normSq), "inv_scale": number(1)},
			tensors{"clip": number(1), "skip": number(skip)}, nil).exactly()
	}
	return rule("C015NonfiniteChecksSurvive",
		exactly("count_nonfinite", tensors{"x": x}, tensors{"y": number(3)}, nil),
		exactly("count_nonfinite", tensors{"x": vector(nan, 1)}, tensors{"y": number(1)}, nil),
		clip(nan, 1), clip(inf, 1), clip(4, 0))
}
