"""Matrix products and the layers made of them."""

import torch
import torch.nn.functional as F

from cases import LONG, OPS, SIZES, Source, case, op
from rows import activate

CHOICES = [(ta, tb) for ta in "nt" for tb in "nt"]
SMALL = [((), (3,), 5, 4), ((2,), (3,), 4, 2), ((), (2, 3), 2, 5), ((), (1,), 1, 1), ((), (2,), 3, 0), ((2, 2), (3,), 2, 3), ((0,), (2,), 3, 4)]


def extents(n, turn, of):
    """Three extents, of which the one whose turn it is takes n."""
    return [n if i == turn else e for i, e in enumerate(of)]


def products(name, extra, epilogue):
    """Cases of a product; extra gives further inputs from the result's shape.

    Small shapes have all choices of ta and tb, the sizes take turns.
    """

    def cases():
        src = Source(name)
        shapes = [(choice, s) for choice in CHOICES for s in SMALL]
        for i, size in enumerate(SIZES):
            for turn in range(3):
                m, n, k = extents(size, turn, (5, 3, 7))
                shapes += [(CHOICES[(i + turn + j) % 4], ((), (m,), n, k)) for j in (0, 1)]
        shapes += [(("n", "t"), ((), (2,), 3, LONG)), (("n", "n"), ((), (65,), 67, 129)), (("t", "n"), ((3,), (33,), 31, 17))]
        for (ta, tb), (batch, lead, n, k) in shapes:
            a = src.real(*batch, *lead, k) if ta == "n" else src.real(*batch, k, *lead)
            b = src.real(*batch, k, n) if tb == "n" else src.real(*batch, n, k)

            def fn(a, b, **more):
                if ta == "t":
                    a = torch.movedim(a, len(batch), -1)
                b = b.transpose(-1, -2) if tb == "t" else b
                rows = a.reshape(*batch, -1, k) if a.numel() else a.new_zeros(*batch, *lead, k).flatten(len(batch), -2)
                c = (rows @ b).reshape(*batch, *lead, n)
                return epilogue(c + 0 * (a.sum() + b.sum()), **more)

            more = extra(src, (*batch, *lead, n))
            label = f"batch {list(batch)}, rows {list(lead)}, {n} columns, K {k}"
            wrt = ["a", "b", *more]
            yield case(label, fn, {"a": a, "b": b, **more}, wrt, static={"ta": ta, "tb": tb}, out="c")

    OPS[name] = cases


bias = lambda src, shape: {"bias": src.real(shape[-1])}
products("matmul", lambda src, shape: {}, lambda c: c)
products("matmul_bias", bias, lambda c, bias: c + bias)
products("matmul_bias_gelu", bias, lambda c, bias: F.gelu(c + bias, approximate="tanh"))
products("matmul_bias_gelu_erf", bias, lambda c, bias: F.gelu(c + bias))
products("matmul_bias_residual", lambda src, shape: {**bias(src, shape), "residual": src.real(*shape)},
         lambda c, bias, residual: c + bias + residual)

LAYERS = [((2, 3), 2, 5), ((), 1, 3), ((65,), 67, 129), *(((m,), n, k) for size in SIZES for turn in range(3) for m, n, k in [extents(size, turn, (5, 3, 7))])]


def layers(name, fn, extra, choices=("n", "t")):
    """Cases of a layer x[R..., K] with weights w, transposed or not; extra gives further inputs from K."""

    def cases():
        src = Source(name)
        for i, (lead, n, k) in enumerate(LAYERS):
            for tb in choices if i < 4 else [choices[i % len(choices)]]:
                w = src.real(k, n) if tb == "n" else src.real(n, k)
                ins = {"x": src.real(*lead, k), **extra(src, k), "w": w, "bias": src.real(n)}

                def run(x, w, bias, **more):
                    return fn(x, w.T if tb == "t" else w, bias, **more)

                params = {"eps": 1e-5} if "gamma" in ins else {}
                static = {"tb": tb} if len(choices) > 1 else None
                yield case(f"rows {list(lead)}, {n} columns, K {k}", run, ins, list(ins), params, static, carry=["y"])

    OPS[name] = cases


layers("gelu_matmul_bias", lambda x, w, bias: {"y": F.gelu(x, approximate="tanh") @ w + bias}, lambda src, k: {})
layers("linear", lambda x, w, bias: {"y": F.linear(x, w.T, bias)}, lambda src, k: {}, choices="t")


def normalised_layer(x, w, bias, gamma, beta, eps):
    n = activate(x, gamma, beta, eps)
    return {**n, "y": n["y"] @ w + bias}


layers("layernorm_gelu_matmul_bias", normalised_layer, lambda src, k: {"gamma": src.real(k), "beta": src.real(k)})


@op
def lora():
    src = Source("lora")
    sized = [[n if i == turn else e for i, e in enumerate((5, 3, 7, 2))] for n in SIZES for turn in range(4)]
    for lead, i, o, r in [((2, 3), 3, 2, 1), ((), 3, 2, 2), *(((m,), i, o, r) for m, i, o, r in sized)]:
        ins = {"x": src.real(*lead, i), "w": src.real(i, o), "a": src.real(i, r), "b": src.real(r, o)}
        fn = lambda x, w, a, b, alpha: x @ w + (alpha / max(r, 1)) * (x @ a) @ b
        yield case(f"rows {list(lead)}, {i} to {o}, rank {r}", fn, ins, list(ins), {"alpha": 1.5})
