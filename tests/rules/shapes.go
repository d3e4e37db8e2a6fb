package rules

func shapes() []Rule { return []Rule{zeroSizes(), emptyProducts()} }

// zeroSizes: nothing in, nothing or the neutral value out.
func zeroSizes() Rule {
	none := func(shape ...int) tensors { return tensors{"x": constant(0, shape...)} }
	row := func(lead int) tensors { return tensors{"y": constant(0, lead)} }
	pair := tensors{"a": constant(0, 0), "b": constant(0, 0)}
	norm := tensors{"x": constant(0, 0, 8), "gamma": constant(1, 8), "beta": constant(1, 8)}
	narrow := tensors{"x": constant(0, 4, 0), "gamma": constant(0, 0), "beta": constant(0, 0)}
	cases := []Case{
		exactly("add", pair, row(0), pair),
		exactly("layernorm", norm, tensors{"y": constant(0, 0, 8)}, tensors{"x": constant(0, 0, 8), "gamma": constant(0, 8), "beta": constant(0, 8)}),
		exactly("layernorm", narrow, tensors{"y": constant(0, 4, 0)}, narrow),
		exactly("rmsnorm", tensors{"x": constant(0, 4, 0), "gamma": constant(0, 0)}, tensors{"y": constant(0, 4, 0)}, nil),
		exactly("softmax", none(3, 0), tensors{"y": constant(0, 3, 0)}, none(3, 0)),
		exactly("embedding", tensors{"ids": constant(0, 0), "W": constant(1, 3, 2)}, tensors{"y": constant(0, 0, 2)}, tensors{"W": constant(0, 3, 2)}),
		exactly("embedding", tensors{"ids": constant(0, 0), "W": constant(0, 0, 2)}, tensors{"y": constant(0, 0, 2)}, nil),
		exactly("im2col", none(0, 4, 2), tensors{"cols": constant(0, 0, 2, 6)}, none(0, 4, 2)).free(map[string][]int{"K": {3}}),
		exactly("masked_mean", tensors{"x": constant(0, 2, 0, 3), "mask": constant(0, 2, 0)}, tensors{"y": constant(0, 2, 3)}, none(2, 0, 3)),
		exactly("sum", none(0), tensors{"y": number(0)}, none(0)),
		exactly("mean", none(0, 3), tensors{"y": number(0)}, none(0, 3)),
		exactly("max", none(0), tensors{"y": number(-inf)}, nil),
		exactly("argmax", none(2, 0), tensors{"index": constant(0, 2)}, nil),
		exactly("row_mean", none(2, 0), row(2), none(2, 0)),
		exactly("row_sum", none(2, 0), row(2), none(2, 0)),
		exactly("bias_grad", tensors{"dy": constant(0, 0, 3)}, tensors{"db": constant(0, 3)}, nil),
		exactly("cross_entropy_mean", tensors{"logits": constant(0, 0, 3), "target": constant(0, 0)}, tensors{"loss": number(0), "count": number(0)},
			tensors{"logits": constant(0, 0, 3)}).carrying(tensors{"loss": number(1)}),
	}
	return rule("C023ZeroSizes", cases...)
}

// emptyProducts: a product over nothing is the epilogue of zeros, whatever the
// memory held before; no rows or columns give nothing.
func emptyProducts() Rule {
	nn, n := choice{"ta": "n", "tb": "n"}, choice{"tb": "n"}
	a, b, bias := constant(0, 2, 0), constant(0, 0, 3), vector(1, -1, 0)
	twice := func(v ...float64) tensors { return tensors{"c": matrix(v, v)} }
	layer := func(more tensors) tensors {
		ins := tensors{"x": a, "w": b, "bias": bias}
		for name, v := range more {
			ins[name] = v
		}
		return ins
	}
	y := tensors{"y": matrix(row(1, -1, 0), row(1, -1, 0))}
	cases := []Case{
		exactly("matmul", tensors{"a": a, "b": b}, twice(0, 0, 0), tensors{"a": a, "b": b}).choosing(nn),
		exactly("matmul_bias", tensors{"a": a, "b": b, "bias": bias}, twice(1, -1, 0), tensors{"a": a, "b": b, "bias": vector(2, 2, 2)}).choosing(nn),
		one("matmul_bias_gelu", tensors{"a": a, "b": b, "bias": bias}, twice(0.84119199, -0.15880801, 0), nil).choosing(nn),
		one("matmul_bias_gelu_erf", tensors{"a": a, "b": b, "bias": bias}, twice(0.84134475, -0.15865525, 0), nil).choosing(nn),
		exactly("matmul_bias_residual", tensors{"a": a, "b": b, "bias": bias, "residual": constant(2, 2, 3)}, twice(3, 1, 2), nil).choosing(nn),
		exactly("gelu_matmul_bias", layer(nil), y, nil).choosing(n),
		exactly("layernorm_gelu_matmul_bias", layer(tensors{"gamma": constant(0, 0), "beta": constant(0, 0)}), y, nil).choosing(n),
		exactly("linear", tensors{"x": a, "w": constant(0, 3, 0), "bias": bias}, y, nil),
		with("lora", scalars{"alpha": 2.0}, tensors{"x": a, "w": b, "a": constant(0, 0, 2), "b": constant(1, 2, 3)}, tensors{"y": constant(0, 2, 3)}, nil).exactly(),
	}
	for _, s := range [][3]int{{0, 2, 3}, {2, 0, 3}, {0, 0, 0}} {
		m, n, k := s[0], s[1], s[2]
		ins := tensors{"a": constant(1, m, k), "b": constant(1, k, n), "bias": constant(1, n)}
		cases = append(cases, exactly("matmul_bias", ins, tensors{"c": constant(0, m, n)},
			tensors{"a": constant(0, m, k), "b": constant(0, k, n), "bias": constant(float64(m), n)}).choosing(nn))
	}
	return rule("C024EmptyProducts", cases...)
}
