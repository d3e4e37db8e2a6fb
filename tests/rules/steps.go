package rules

import (
	"math"

	"github.com/kernelgen/kgen/gen/expr"
)

func steps() []Rule { return []Rule{biasCorrection(), optimiserModes()} }

// step is one step of Adam from w, m and v to the w that it must give; NaN as a
// wanted value is not compared.
func step(spec string, n, g float64, from, to [3]float64) Case {
	outs := tensors{"w": vector(to[0])}
	if !math.IsNaN(to[1]) {
		outs["m"], outs["v"] = vector(to[1]), vector(to[2])
	}
	return with(spec, scalars{"lr": 0.1, "weight_decay": 0.0}, tensors{"g": vector(g), "inv_scale": number(1), "clip": number(1), "skip": number(0),
		"step": number(n), "w": vector(from[0]), "m": vector(from[1]), "v": vector(from[2])}, outs, nil)
}

// biasCorrection: Adam corrects its moments for their start at zero, and adds
// eps after that.
func biasCorrection() Rule {
	var cases []Case
	for _, spec := range []string{"adam", "adamw"} {
		third := [3]float64{-0.04972058033, nan, nan}
		second := [3]float64{-0.06338964653, 0.9*0.1 - 0.1*2, 0.999*0.001 + 0.001*4}
		cases = append(cases,
			step(spec, 1, 1, [3]float64{}, [3]float64{-0.099999999, 0.1, 0.001}).named(spec+" a: one step"),
			// 1e-8 is half of the smallest f16, and no bf16.
			step(spec, 1, 1e-8, [3]float64{}, [3]float64{-0.05, nan, nan}).named(spec+" b: a gradient of the size of eps").of(expr.F32),
			step(spec, 2, -2, [3]float64{-0.099999999, 0.1, 0.001}, second).named(spec+" c: the second step"),
			step(spec, 3, 0.5, second, third).named(spec+" c and d: the third step, from a state that was read back"),
			// Long after the start the corrections are 1: w falls by lr*m/sqrt(v).
			step(spec, 100000, 1, [3]float64{0, 0.5, 0.25}, [3]float64{-0.1 * 0.55 / (math.Sqrt(0.999*0.25+0.001) + 1e-8), 0.55, 0.999*0.25 + 0.001}).
				named(spec+" e: step 100000"))
	}
	return rule("C017BiasCorrection", cases...)
}

// optimiserModes: decay is L2 in adam and decoupled in adamw; gradients are
// unscaled and clipped; a step to skip changes nothing, whatever the gradient,
// and is not counted; sgd has momentum in two forms.
func optimiserModes() Rule {
	adam := func(spec string, w float64) Case {
		return with(spec, scalars{"lr": 0.1, "weight_decay": 0.5, "eps": 0.0}, tensors{"g": vector(8), "inv_scale": number(0.25), "clip": number(0.5),
			"skip": number(0), "step": number(1), "w": vector(4), "m": vector(0), "v": vector(0)}, tensors{"w": vector(w), "shadow": vector(w)}, nil)
	}
	sgd := func(nesterov bool, v, w float64) Case {
		return with("sgd", scalars{"lr": 0.5, "momentum": 0.5, "weight_decay": 0.25, "nesterov": nesterov}, tensors{"g": vector(8), "inv_scale": number(0.25),
			"clip": number(0.5), "skip": number(0), "w": vector(4), "v": vector(2)}, tensors{"w": vector(w), "v": vector(v), "shadow": vector(w)}, nil).exactly()
	}
	skipped := func(spec string) Case {
		ins := tensors{"g": vector(nan, inf), "inv_scale": number(1), "clip": number(1), "skip": number(1), "w": vector(1, 2), "m": vector(3, 4), "v": vector(5, 6)}
		outs := tensors{"w": ins["w"], "m": ins["m"], "v": ins["v"], "shadow": ins["w"]}
		if spec == "sgd" {
			delete(ins, "m")
			delete(outs, "m")
		} else {
			ins["step"] = number(7)
		}
		return with(spec, scalars{"lr": 0.1}, ins, outs, nil).exactly().named(spec + ", a step to skip")
	}
	return rule("OptimiserSteps",
		adam("adam", 4-0.1).named("adam: L2, which the first step divides out"),
		adam("adamw", 4-0.1*0.5*4-0.1).named("adamw: decoupled decay"),
		sgd(false, 3, 2.5).named("sgd: momentum"), sgd(true, 3, 2.25).named("sgd: Nesterov"),
		skipped("adam"), skipped("adamw"), skipped("sgd"),
		exactly("global_norm_sq", tensors{"g": vector(1, -2, 3)}, tensors{"y": number(14)}, nil).choosing(choice{"total": "without"}),
		exactly("global_norm_sq", tensors{"g": vector(1, -2, 3), "total": number(2)}, tensors{"y": number(16)}, nil).choosing(choice{"total": "with"}),
		counted(6, 0, 7).named("step_count"), counted(6, 1, 6).named("step_count, a step to skip"))
}

// counted is the number of a step after the one before it.
func counted(before, skip, after float64) Case {
	return exactly("step_count", tensors{"skip": number(skip), "step": number(before)}, tensors{"step": number(after)}, nil)
}
