"""Row programs and reductions. A mean over nothing is zero."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import FLAT, LONG, OPS, ROWS, SIZES, Source, case, label, op


def mean(x, dim):
    return x.sum(dim) / max(x.shape[dim], 1)


def single(name, fn, shapes, grad=True, out="y"):
    """Cases of an op of one tensor."""

    def cases():
        src = Source(name)
        for shape in shapes:
            yield case(label(shape), lambda x: fn(x), {"x": src.real(*shape)}, ["x"] if grad else [], out=out)

    OPS[name] = cases


def first_largest(x):
    """torch.argmax may give any of several equal values."""
    if x.shape[-1] == 0:
        return torch.zeros(x.shape[:-1], dtype=torch.int64)
    return torch.tensor(np.argmax(x.detach().numpy(), -1))


def largest(x):
    return x.amax(-1) if x.shape[-1] else torch.full(x.shape[:-1], -torch.inf)


single("softmax", lambda x: F.softmax(x, -1), ROWS)
single("log_softmax", lambda x: F.log_softmax(x, -1), ROWS)
single("row_sum", lambda x: x.sum(-1), ROWS)
single("row_mean", lambda x: mean(x, -1), ROWS)
single("row_max", largest, ROWS, grad=False)
single("argmax", first_largest, ROWS, grad=False, out="index")
single("l2_normalize", lambda x: F.normalize(x, dim=-1), ROWS)
single("sum", torch.sum, FLAT)
single("mean", lambda x: x.sum() / max(x.numel(), 1), FLAT)
single("max", lambda x: largest(x.reshape(-1)), FLAT, grad=False)
single("sum_sq", lambda x: (x * x).sum(), FLAT)
single("count_nonfinite", lambda x: (~torch.isfinite(x)).sum(), FLAT, grad=False)


def normalise(x, gamma, beta, eps):
    centre = mean(x, -1)
    rstd = (mean((x - centre[..., None]) ** 2, -1) + eps).rsqrt()
    y = F.layer_norm(x, x.shape[-1:], gamma, beta, eps) if x.shape[-1] else x * gamma + beta
    return {"y": y, "mean": centre, "rstd": rstd}


@op
def layernorm():
    src = Source("layernorm")
    for shape in ROWS:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1]), "beta": src.real(shape[-1])}
        yield case(label(shape), normalise, ins, ["x", "gamma", "beta"], {"eps": 1e-5}, carry=["y"])


def activate(x, gamma, beta, eps):
    n = normalise(x, gamma, beta, eps)
    return {**n, "y": F.gelu(n["y"], approximate="tanh")}


@op
def layernorm_gelu():
    src = Source("layernorm_gelu")
    for shape in ROWS:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1]), "beta": src.real(shape[-1])}
        yield case(label(shape), activate, ins, ["x", "gamma", "beta"], {"eps": 1e-5}, carry=["y"])


@op
def rmsnorm():
    src = Source("rmsnorm")

    def fn(x, gamma, eps):
        y = F.rms_norm(x, x.shape[-1:], gamma, eps) if x.shape[-1] else x * gamma
        return {"y": y, "rstd": (mean(x * x, -1) + eps).rsqrt()}

    for shape in ROWS:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1])}
        yield case(label(shape), fn, ins, ["x", "gamma"], {"eps": 1e-5}, carry=["y"])


def cosine(a, b):
    norm = lambda v: (v * v).sum(-1).clamp(min=1e-12).sqrt()
    return (a * b).sum(-1) / (norm(a) * norm(b))


@op
def cosine_similarity():
    src = Source("cosine")
    for shape in ROWS:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case(label(shape), cosine, ins, ["a", "b"])


@op
def bias_grad():
    src = Source("bias_grad")
    for lead, n in [((2, 3), 7), ((), 4), *(((3,), n) for n in SIZES), *(((n,), 3) for n in SIZES), ((LONG,), 3), ((2, 1025), 33)]:
        fn = lambda dy: dy.reshape(-1, n).sum(0) if n else dy.new_zeros(0)
        yield case(f"rows {list(lead)}, {n} columns", fn, {"dy": src.real(*lead, n)}, out="db")


@op
def masked_mean():
    src = Source("masked_mean")

    def fn(x, mask):
        keep = (mask != 0)[:, :, None]
        return torch.where(keep, x, 0.0).sum(1) / keep.sum(1).clamp(min=1)

    for b, l, h in [(3, 4, 2), (1, 1, 1), (0, 2, 3), *((2, 3, n) for n in SIZES), *((2, n, 3) for n in SIZES), (1, LONG, 3)]:
        yield case(label((b, l, h)), fn, {"x": src.real(b, l, h), "mask": src.mask(b, l)}, ["x"])
    x, mask = src.real(2, 3, 5), src.zeros(2, 3)
    yield case("nothing kept", fn, {"x": x, "mask": mask.long()}, ["x"])


@op
def dot():
    src = Source("dot")
    for shape in FLAT:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case(label(shape), lambda a, b: (a * b).sum(), ins, ["a", "b"])
