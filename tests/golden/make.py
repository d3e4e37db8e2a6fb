"""Golden values of the kernels: forward results and gradients in float64.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python make.py

writes one OP.json beside this file for each op of OPS. Every input is a
multiple of 1/32 below 4 in absolute value, which f32, f16 and bf16 hold exactly,
so the same file serves every storage type; parameters are rounded to f32.

A file holds cases: inputs and parameters by name, outputs by name, and where
the op has a gradient the cotangents of the outputs and the gradients of the
inputs. Infinities and NaN are the strings "inf", "-inf" and "nan".
"""

import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
OPS = {}


def op(f):
    """Register f, which yields the cases of the op of its name."""
    OPS[f.__name__.removesuffix("_")] = f
    return f


class Source:
    """A deterministic source of inputs."""

    def __init__(self, name):
        self.rng = np.random.default_rng([ord(c) for c in name])

    def real(self, *shape):
        return torch.tensor(self.rng.integers(-127, 128, shape) / 32.0)

    def positive(self, *shape):
        return torch.tensor(self.rng.integers(1, 128, shape) / 32.0)

    def ints(self, low, high, *shape):
        return torch.tensor(self.rng.integers(low, high, shape))

    def mask(self, *shape):
        return self.ints(0, 2, *shape) * self.ints(1, 256, *shape)


def f32(v):
    return float(np.float32(v))


def case(name, fn, ins, wrt=(), params=None, static=None, free=None, out="y", carry=None):
    """Run fn on the inputs. It returns a tensor, or tensors by output name.

    carry names the outputs that have a cotangent, all float outputs when None.
    """
    params = {k: f32(v) if isinstance(v, float) else v for k, v in (params or {}).items()}
    args = {k: v.clone().requires_grad_(k in wrt) for k, v in ins.items()}
    outs = fn(**args, **params)
    outs = outs if isinstance(outs, dict) else {out: outs}
    c = {"name": name, "static": static, "params": params, "free": free}
    c["ins"] = {k: pack(v) for k, v in ins.items()}
    c["outs"] = {k: pack(v) for k, v in outs.items()}
    if wrt:
        src = Source("cotangent " + name)
        carry = carry or [k for k, v in outs.items() if v.is_floating_point()]
        seeds = {k: src.real(*outs[k].shape) for k in carry}
        total = sum((outs[k] * seeds[k]).sum() for k in carry)
        grads = torch.autograd.grad(total, [args[k] for k in wrt], allow_unused=True)
        zero = lambda g, k: torch.zeros_like(args[k]) if g is None else g
        c["cotangents"] = {k: pack(v) for k, v in seeds.items()}
        c["grads"] = {k: pack(zero(g, k)) for k, g in zip(wrt, grads)}
    return {k: v for k, v in c.items() if v}


def pack(t):
    data = t.detach().reshape(-1).tolist()
    return {"shape": list(t.shape), "data": [number(v) for v in data]}


def number(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "nan" if math.isnan(v) else ("inf" if v > 0 else "-inf")
    return v


SHAPES = [(7,), (3, 5), (2, 3, 4), (1,)]


def unary(name, fn, positive=False, **params):
    def cases():
        src = Source(name)
        for shape in SHAPES:
            x = src.positive(*shape) if positive else src.real(*shape)
            x[x == 0] = 1  # away from kinks
            yield case("x".join(map(str, shape)), lambda x, **p: fn(x, **p), {"x": x}, ["x"], params)

    OPS[name] = cases


unary("gelu", lambda x: F.gelu(x, approximate="tanh"))
unary("gelu_erf", F.gelu)
unary("relu", F.relu)
unary("tanh", torch.tanh)
unary("sigmoid", torch.sigmoid)
unary("silu", F.silu)
unary("exp", torch.exp)
unary("log", torch.log, positive=True)
unary("sqrt", torch.sqrt, positive=True)
unary("rsqrt", torch.rsqrt, positive=True)
unary("erf", torch.erf)
unary("abs", torch.abs)
unary("neg", torch.neg)
unary("square", torch.square)
unary("scale", lambda x, s: s * x, s=-1.75)
unary("add_scalar", lambda x, s: s + x, s=0.625)
unary("pow", lambda x, exponent: x**exponent, positive=True, exponent=2.5)
unary("clamp", lambda x, lo, hi: torch.clamp(x, lo, hi), lo=-1.0, hi=2.015625)
unary("copy", lambda x: x.clone())
unary("cast", lambda x: x.clone())

PAIRS = [((7,), (7,)), ((3, 5), (5,)), ((2, 3, 4), (3, 4)), ((2, 3, 4), ()), ((2, 1, 3), (2, 1, 3))]


def binary(name, fn, positive=False):
    def cases():
        src = Source(name)
        for sa, sb in PAIRS:
            a, b = src.real(*sa), src.positive(*sb) if positive else src.real(*sb)
            a = torch.where(a == b, a + 0.25, a)  # away from ties
            label = "x".join(map(str, sa)) + " with " + ("x".join(map(str, sb)) or "scalar")
            yield case(label, lambda a, b: fn(a, b), {"a": a, "b": b}, ["a", "b"])

    OPS[name] = cases


binary("add", torch.add)
binary("sub", torch.sub)
binary("mul", torch.mul)
binary("div", torch.div, positive=True)


binary("maximum", torch.maximum)
binary("minimum", torch.minimum)


@op
def residual_add():
    src = Source("residual_add")
    for shape in SHAPES:
        ins = {"y": src.real(*shape), "x": src.real(*shape)}
        yield case("x".join(map(str, shape)), lambda y, x: y + x, ins, ["y", "x"], out="sum")


@op
def bias_add():
    src = Source("bias_add")
    for rows, n in [((3,), 5), ((2, 3), 7), ((), 4)]:
        ins = {"y": src.real(*rows, n), "b": src.real(n)}
        yield case(f"rows {list(rows)}, {n} columns", lambda y, b: y + b, ins, ["y", "b"], out="sum")


@op
def add_broadcast_2d_3d():
    src = Source("add_broadcast")
    for b, l, d in [(2, 3, 5), (1, 1, 1), (3, 4, 2)]:
        ins = {"y": src.real(b, l, d), "a": src.real(b, d)}
        yield case(f"{b}x{l}x{d}", lambda y, a: y + a[:, None, :], ins, ["y", "a"], out="sum")


@op
def mask_zero():
    src = Source("mask_zero")
    for b, l, d in [(2, 3, 5), (1, 4, 1)]:
        ins = {"y": src.real(b, l, d), "mask": src.mask(b, l)}
        fn = lambda y, mask: torch.where(mask[:, :, None] != 0, y, 0.0)
        yield case(f"{b}x{l}x{d}", fn, ins, ["y"], out="z")


@op
def swiglu():
    src = Source("swiglu")
    for shape in SHAPES:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case("x".join(map(str, shape)), lambda a, b: F.silu(a) * b, ins, ["a", "b"])


@op
def fill():
    for shape in [(3, 5), (), (2, 1, 2)]:
        fn = lambda value: torch.full(shape, value)
        yield case(f"shape {list(shape)}", fn, {}, params={"value": 2.25}, free={"P": list(shape)})


ROWS = [(3, 5), (7,), (2, 3, 4), (4, 1)]


def rows(name, fn, grad=True, out="y"):
    def cases():
        src = Source(name)
        for shape in ROWS:
            x = src.real(*shape)
            yield case("x".join(map(str, shape)), lambda x: fn(x), {"x": x}, ["x"] if grad else [], out=out)

    OPS[name] = cases


rows("softmax", lambda x: F.softmax(x, -1))
rows("log_softmax", lambda x: F.log_softmax(x, -1))
rows("row_sum", lambda x: x.sum(-1))
rows("row_mean", lambda x: x.mean(-1))
rows("row_max", lambda x: x.amax(-1), grad=False)
rows("argmax", lambda x: x.argmax(-1), grad=False, out="index")
rows("sum", torch.sum)
rows("mean", torch.mean)
rows("max", torch.amax, grad=False)
rows("sum_sq", lambda x: (x * x).sum())
rows("l2_normalize", lambda x: F.normalize(x, dim=-1))


def normalise(x, gamma, beta, eps):
    mean = x.mean(-1)
    rstd = (x.var(-1, correction=0) + eps).rsqrt()
    return {"y": F.layer_norm(x, x.shape[-1:], gamma, beta, eps), "mean": mean, "rstd": rstd}


@op
def layernorm():
    src = Source("layernorm")
    for shape in [(3, 5), (7,), (2, 3, 4)]:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1]), "beta": src.real(shape[-1])}
        wrt = ["x", "gamma", "beta"]
        yield case("x".join(map(str, shape)), normalise, ins, wrt, {"eps": 1e-5}, carry=["y"])


@op
def rmsnorm():
    src = Source("rmsnorm")
    for shape in [(3, 5), (7,), (2, 3, 4)]:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1])}
        rstd = lambda x, eps: ((x * x).mean(-1) + eps).rsqrt()
        fn = lambda x, gamma, eps: {"y": F.rms_norm(x, x.shape[-1:], gamma, eps), "rstd": rstd(x, eps)}
        yield case("x".join(map(str, shape)), fn, ins, ["x", "gamma"], {"eps": 1e-5}, carry=["y"])


def entropy(logits, target, ignore_index, label_smoothing):
    flat, t = logits.reshape(-1, logits.shape[-1]), target.reshape(-1)
    loss = F.cross_entropy(flat, t, reduction="none", ignore_index=ignore_index, label_smoothing=label_smoothing)
    lse = torch.where(target == ignore_index, 0.0, logits.logsumexp(-1))
    return {"loss": loss.reshape(target.shape), "lse": lse}


def entropy_inputs(src, shape, ignored):
    target = src.ints(0, shape[-1], *shape[:-1])
    target.view(-1)[: ignored] = -100
    return {"logits": src.real(*shape), "target": target}


@op
def cross_entropy():
    src = Source("cross_entropy")
    for shape, ignored, smoothing in [((3, 5), 0, 0.0), ((4, 7), 2, 0.0), ((2, 3, 4), 1, 0.125), ((2, 3), 2, 0.0)]:
        params = {"ignore_index": -100, "label_smoothing": smoothing}
        name = "x".join(map(str, shape)) + f", {ignored} ignored, smoothing {smoothing}"
        yield case(name, entropy, entropy_inputs(src, shape, ignored), ["logits"], params, carry=["loss"])


def entropy_mean(logits, target, **params):
    count = (target != params["ignore_index"]).sum()
    return {"loss": entropy(logits, target, **params)["loss"].sum() / count.clamp(min=1), "count": count}


@op
def cross_entropy_mean():
    src = Source("cross_entropy_mean")
    for shape, ignored, smoothing in [((2, 3, 5), 0, 0.0), ((2, 4, 7), 3, 0.125), ((1, 3, 4), 3, 0.0)]:
        params = {"ignore_index": -100, "label_smoothing": smoothing}
        name = "x".join(map(str, shape)) + f", {ignored} ignored, smoothing {smoothing}"
        yield case(name, entropy_mean, entropy_inputs(src, shape, ignored), ["logits"], params, carry=["loss"])


@op
def perplexity():
    src = Source("perplexity")

    def fn(logits, target, ignore_index):
        mean = entropy_mean(logits, target, ignore_index=ignore_index, label_smoothing=0.0)
        return {"perplexity": mean["loss"].exp(), "count": mean["count"]}

    for shape, ignored in [((2, 3, 5), 0), ((6, 7), 2), ((3, 4), 3)]:
        name = "x".join(map(str, shape)) + f", {ignored} ignored"
        yield case(name, fn, entropy_inputs(src, shape, ignored), params={"ignore_index": -100})


@op
def accuracy():
    src = Source("accuracy")

    def fn(logits, target, ignore_index):
        counted = target != ignore_index
        hits = ((logits.argmax(-1) == target) & counted).sum()
        return {"accuracy": hits / counted.sum().clamp(min=1), "count": counted.sum()}

    for shape, ignored in [((8, 3), 0), ((2, 6, 2), 3), ((3, 4), 3)]:
        name = "x".join(map(str, shape)) + f", {ignored} ignored"
        yield case(name, fn, entropy_inputs(src, shape, ignored), params={"ignore_index": -100})


def cosine(a, b):
    norm = lambda v: (v * v).sum(-1).clamp(min=1e-12).sqrt()
    return (a * b).sum(-1) / (norm(a) * norm(b))


@op
def cosine_similarity():
    src = Source("cosine")
    for shape in ROWS:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case("x".join(map(str, shape)), cosine, ins, ["a", "b"])


@op
def kd_loss():
    src = Source("kd_loss")

    def fn(student, teacher, alpha, beta):
        mse, cos = ((student - teacher) ** 2).mean(-1), cosine(student, teacher)
        return {"mse": mse, "cos": cos, "loss": alpha * (1 - cos) + beta * mse}

    for shape in ROWS:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        params = {"alpha": 0.75, "beta": 0.5}
        yield case("x".join(map(str, shape)), fn, ins, ["student"], params, carry=["loss"])


@op
def kd_metrics_mean():
    src = Source("kd_metrics_mean")
    fn = lambda student, teacher: {"mse": ((student - teacher) ** 2).mean(), "cos": cosine(student, teacher).mean()}
    for shape in [(3, 5), (1, 4)]:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        yield case("x".join(map(str, shape)), fn, ins)


@op
def kl_distill():
    src = Source("kl_distill")

    def fn(student, teacher, temperature):
        s, t = F.log_softmax(student / temperature, -1), F.log_softmax(teacher / temperature, -1)
        return F.kl_div(s, t, reduction="none", log_target=True).sum(-1) * temperature**2

    for shape in ROWS:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        yield case("x".join(map(str, shape)), fn, ins, ["student"], {"temperature": 2.0}, out="loss")


@op
def bias_grad():
    src = Source("bias_grad")
    for rows, n in [((3,), 5), ((2, 3), 7), ((), 4)]:
        fn = lambda dy: dy.reshape(-1, dy.shape[-1]).sum(0)
        yield case(f"rows {list(rows)}, {n} columns", fn, {"dy": src.real(*rows, n)}, out="db")


@op
def masked_mean():
    src = Source("masked_mean")
    for b, l, h, empty in [(2, 3, 5, False), (3, 4, 2, True), (1, 1, 1, False)]:
        mask = src.mask(b, l)
        mask[0] = 0 if empty else 1

        def fn(x, mask):
            keep = (mask != 0)[:, :, None]
            return torch.where(keep, x, 0.0).sum(1) / keep.sum(1).clamp(min=1)

        yield case(f"{b}x{l}x{h}", fn, {"x": src.real(b, l, h), "mask": mask}, ["x"])


@op
def dot():
    src = Source("dot")
    for shape in SHAPES:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case("x".join(map(str, shape)), lambda a, b: (a * b).sum(), ins, ["a", "b"])


@op
def embedding():
    src = Source("embedding")
    for shape, v, d in [((7,), 4, 3), ((2, 3), 5, 2), ((), 3, 4)]:
        ins = {"ids": src.ints(0, v, *shape), "W": src.real(v, d)}
        yield case(f"ids {list(shape)}, table {v}x{d}", lambda ids, W: F.embedding(ids, W), ins, ["W"])


def conv_columns(x, taps, dilation, stride, pad_left, pad_right):
    x = F.pad(x.transpose(1, 2), (pad_left, pad_right))
    windows = F.unfold(x[:, :, None, :], (1, taps), dilation=(1, dilation), stride=(1, stride))
    return windows.transpose(1, 2)


@op
def im2col():
    src = Source("im2col")
    for b, l, c, k, dilation, stride, left, right in [
        (2, 5, 3, 3, 1, 1, 2, 0), (1, 8, 1, 3, 1, 2, 0, 0), (1, 4, 2, 1, 1, 2, 1, 1), (2, 7, 2, 2, 3, 1, 3, 1),
    ]:
        params = {"dilation": dilation, "stride": stride, "pad_left": left, "pad_right": right}
        fn = lambda x, **p: conv_columns(x, k, **p)
        name = f"{b}x{l}x{c}, {k} taps, dilation {dilation}, stride {stride}, pad {left} and {right}"
        yield case(name, fn, {"x": src.real(b, l, c)}, ["x"], params, free={"K": [k]}, out="cols")


@op
def pack_w_to_col():
    src = Source("pack_w_to_col")
    for o, c, k in [(3, 2, 4), (2, 3, 1)]:
        yield case(f"{o}x{c}x{k}", lambda W: W.reshape(o, c * k), {"W": src.real(o, c, k)}, ["W"], out="cols")


@op
def transpose():
    src = Source("transpose")
    for shape in [(3, 5), (2, 3, 4), (1, 7)]:
        yield case("x".join(map(str, shape)), lambda x: x.transpose(-1, -2), {"x": src.real(*shape)}, ["x"])


@op
def concat():
    src = Source("concat")
    for rows, widths in [((3,), [2, 1, 4]), ((2, 2), [3]), ((), [1, 2])]:
        ins = {f"x_{i + 1}": src.real(*rows, w) for i, w in enumerate(widths)}
        name = f"rows {list(rows)}, widths {widths}"
        yield case(name, lambda **x: torch.cat(list(x.values()), -1), ins, list(ins), static={"x": str(len(widths))})


@op
def fill_bias():
    src = Source("fill_bias")
    for m, n in [(3, 5), (1, 1)]:
        yield case(f"{m}x{n}", lambda b: b.expand(m, n).clone(), {"b": src.real(n)}, ["b"], free={"M": [m]})


@op
def global_norm_sq():
    src = Source("global_norm_sq")
    for shape in SHAPES:
        ins = {"g": src.real(*shape), "total": src.positive()}
        yield case("x".join(map(str, shape)), lambda g, total: total + (g * g).sum(), ins, static={"total": "with"})


@op
def embedding_backward_accumulate():
    src = Source("embedding_backward_accumulate")
    for shape, v, d in [((7,), 4, 3), ((2, 3), 5, 2), ((0,), 2, 2)]:
        ins = {"sum": src.real(v, d), "ids": src.ints(0, v, *shape), "dy": src.real(*shape, d)}
        fn = lambda sum, ids, dy: sum.index_add(0, ids.reshape(-1), dy.reshape(-1, d))
        yield case(f"ids {list(shape)}, table {v}x{d}", fn, ins, out="dW")


@op
def slice_():
    src = Source("slice")
    for shape, start, length in [((5, 3), 1, 3), ((2, 4, 2), 0, 2), ((3, 2), 3, 0)]:
        fn = lambda x, start, length: x[..., start : start + length, :]
        params = {"start": start, "length": length}
        yield case("x".join(map(str, shape)) + f", {length} from {start}", fn, {"x": src.real(*shape)}, ["x"], params)


@op
def pad():
    src = Source("pad")
    for shape, before, after in [((5, 3), 1, 2), ((2, 4, 2), 0, 1), ((3, 2), 0, 0)]:
        fn = lambda x, before, after, value: F.pad(x, (0, 0, before, after), value=value)
        params = {"before": before, "after": after, "value": -0.5}
        yield case("x".join(map(str, shape)) + f", {before} and {after}", fn, {"x": src.real(*shape)}, ["x"], params)


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


def main():
    here = pathlib.Path(__file__).parent
    for name, cases in OPS.items():
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases())
        head = json.dumps(f"PyTorch {torch.__version__.split('+')[0]}, float64")
        (here / f"{name}.json").write_text(f'{{"op":"{name}","source":{head},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
