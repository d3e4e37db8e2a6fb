"""Matrix products, layers and optimisers."""

import torch
import torch.nn.functional as F

from cases import OPS, Source, case, f32, op
from rows import normalise

PRODUCTS = [((), (3,), 5, 4), ((2,), (3,), 4, 2), ((), (2, 3), 2, 5), ((), (1,), 1, 1), ((), (2,), 3, 0)]


def products(name, extra, epilogue):
    """Cases of a product with all choices of ta and tb; extra gives further inputs from the result's shape."""

    def cases():
        src = Source(name)
        for ta in "nt":
            for tb in "nt":
                for batch, rows, n, k in PRODUCTS:
                    a = src.real(*batch, *rows, k) if ta == "n" else src.real(*batch, k, *rows)
                    b = src.real(*batch, k, n) if tb == "n" else src.real(*batch, n, k)

                    def fn(a, b, **more):
                        if ta == "t":
                            a = torch.movedim(a, len(batch), -1)
                        b = b.transpose(-1, -2) if tb == "t" else b
                        return epilogue(a @ b, **more)

                    more = extra(src, (*batch, *rows, n))
                    label = f"batch {list(batch)}, rows {list(rows)}, {n} columns, K {k}"
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


def layers(name, fn, extra):
    """Cases of a layer x[R..., K] with weights w, transposed or not; extra gives further inputs from K."""

    def cases():
        src = Source(name)
        for tb in "nt":
            for rows, n, k in [((3,), 5, 4), ((2, 3), 2, 5), ((), 1, 3)]:
                w = src.real(k, n) if tb == "n" else src.real(n, k)
                ins = {"x": src.real(*rows, k), **extra(src, k), "w": w, "bias": src.real(n)}

                def run(x, w, bias, **more):
                    return fn(x, w.T if tb == "t" else w, bias, **more)

                params = {"eps": 1e-5} if "gamma" in ins else {}
                carry = ["y"]
                yield case(f"rows {list(rows)}, {n} columns, K {k}", run, ins, list(ins), params, {"tb": tb}, carry=carry)

    OPS[name] = cases


layers("gelu_matmul_bias", lambda x, w, bias: F.gelu(x, approximate="tanh") @ w + bias, lambda src, k: {})


def normalised_layer(x, w, bias, gamma, beta, eps):
    n = normalise(x, gamma, beta, eps)
    y = F.gelu(n["y"], approximate="tanh") @ w + bias
    return {**n, "y": y}


layers("layernorm_gelu_matmul_bias", normalised_layer, lambda src, k: {"gamma": src.real(k), "beta": src.real(k)})


@op
def linear():
    src = Source("linear")
    for rows, n, k in [((3,), 5, 4), ((2, 3), 2, 5), ((), 1, 3)]:
        ins = {"x": src.real(*rows, k), "w": src.real(n, k), "bias": src.real(n)}
        yield case(f"rows {list(rows)}, {n} columns, K {k}", lambda x, w, bias: F.linear(x, w, bias), ins, list(ins))


@op
def lora():
    src = Source("lora")
    for rows, i, o, r in [((3,), 5, 4, 2), ((2, 3), 3, 2, 1)]:
        ins = {"x": src.real(*rows, i), "w": src.real(i, o), "a": src.real(i, r), "b": src.real(r, o)}
        fn = lambda x, w, a, b, alpha: x @ w + (alpha / r) * (x @ a) @ b
        yield case(f"rows {list(rows)}, {i} to {o}, rank {r}", fn, ins, list(ins), {"alpha": 1.5})


def steps(name, make, **params):
    """Cases of an optimiser: the step after some steps of torch's own, with its state as input."""

    def cases():
        src = Source(name)
        values = {k: f32(v) if isinstance(v, float) else v for k, v in params.items()}
        for shape, before in [((7,), 0), ((3, 5), 2), ((1,), 5)]:
            w = src.real(*shape).requires_grad_()
            torch_opt, state = make(w, values)
            for _ in range(before):
                w.grad = src.real(*shape)
                torch_opt.step()
            inputs = {"w": w.detach().clone(), **{k: v.clone() for k, v in state().items()}}
            g = src.real(*shape)
            w.grad = g.clone()
            torch_opt.step()
            one = lambda v: torch.tensor(v)
            scalars = {"inv_scale": one(0.125), "clip": one(0.5), "skip": one(0)}
            if "beta1" in params:
                scalars["step"] = one(before + 1)
            outs = {"w": w.detach(), **state(), "shadow": w.detach()}
            ins = {"g": g * 16, **scalars, **inputs}
            kept = {k: v.clone() for k, v in outs.items()}
            static = {"shadow": "with"}
            yield case("x".join(map(str, shape)) + f", step {before + 1}", lambda **_: kept, ins, params=params, static=static)

    OPS[name] = cases


def moments(opt):
    def make(w, p):
        o = opt([w], lr=p["lr"], betas=(p["beta1"], p["beta2"]), eps=p["eps"], weight_decay=p["weight_decay"])

        def state():
            s = o.state.get(w, {})
            zero = torch.zeros_like(w)
            return {"m": s.get("exp_avg", zero), "v": s.get("exp_avg_sq", zero)}

        return o, state

    return make


def velocity(w, p):
    o = torch.optim.SGD([w], lr=p["lr"], momentum=p["momentum"], weight_decay=p["weight_decay"], nesterov=p["nesterov"])
    return o, lambda: {"v": o.state.get(w, {}).get("momentum_buffer", torch.zeros_like(w))}


ADAM = dict(lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.1)
steps("adamw", moments(torch.optim.AdamW), **ADAM)
steps("adam", moments(torch.optim.Adam), **ADAM)
steps("sgd", velocity, lr=0.01, momentum=0.875, weight_decay=0.1, nesterov=True)
