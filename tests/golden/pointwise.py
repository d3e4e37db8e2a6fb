"""Elementwise and broadcast ops."""

import numpy as np
import torch
import torch.nn.functional as F

from cases import LONG, OPS, SHAPES, SIZES, Source, case, f32, label, op


INF, NAN = float("inf"), float("nan")
# What every storage type holds, to both ends.
ENDS = [v * s for v in (INF, 0.0, 2.0**-24, 2.0**-14, 1.0, 16.0, 64.0, 128.0, 10240.0) for s in (1, -1)] + [NAN]


def unary(name, fn, positive=False, ends=True, **params):
    """Cases of an op of one tensor. ends has its values where torch's are those
    of the limit, as GELU's are not at -inf."""

    def cases():
        src = Source(name)
        if ends:
            yield case("ends of the range", lambda x, **p: fn(x, **p), {"x": torch.tensor(ENDS)}, [], params)
        for shape in [*SHAPES, (LONG,)]:
            x = src.positive(*shape) if positive else src.real(*shape)
            yield case(label(shape), lambda x, **p: fn(x, **p), {"x": x}, ["x"], params)

    OPS[name] = cases


unary("gelu", lambda x: F.gelu(x, approximate="tanh"), ends=False)
unary("gelu_erf", F.gelu, ends=False)
unary("relu", F.relu)
unary("tanh", torch.tanh)
unary("sigmoid", torch.sigmoid)
unary("silu", F.silu, ends=False)
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
unary("clamp", lambda x, lo, hi: torch.clamp(x, lo, hi), lo=-1.0, hi=2.03125)
unary("copy", lambda x: x.clone())
unary("cast", lambda x: x.clone())

PAIRS = [
    *(((n,), (n,)) for n in SIZES), *(((3, n), (n,)) for n in SIZES), *(((n, 3), (3,)) for n in SIZES),
    *(((n,), ()) for n in (0, 1, 33, 4097)), ((2, 3, 4), (3, 4)), ((2, 3, 4), ()), ((2, 1, 3), (2, 1, 3)),
    ((LONG,), (LONG,)), ((LONG, 3), (3,)), ((LONG,), ()),
]


def binary(name, fn, positive=False):
    def cases():
        src = Source(name)
        a = torch.tensor(ENDS)
        b = a.roll(5)
        yield case("ends of the range", lambda a, b: fn(a, b), {"a": a, "b": b})
        yield case("ends of the range, all with all", lambda a, b: fn(a, b), {"a": a[:, None].repeat(1, len(a)), "b": a})
        for sa, sb in PAIRS:
            a, b = src.real(*sa), src.positive_even(*sb) if positive else src.even(*sb)
            yield case(f"{label(sa)} with {label(sb)}", lambda a, b: fn(a, b), {"a": a, "b": b}, ["a", "b"])

    OPS[name] = cases


binary("add", torch.add)
binary("sub", torch.sub)
binary("mul", torch.mul)
binary("div", torch.div, positive=True)
binary("maximum", torch.maximum)
binary("minimum", torch.minimum)


def pair(name, fn, first, second, out="y"):
    """Cases of an op of two tensors of equal shape."""

    def cases():
        src = Source(name)
        for shape in [*SHAPES, (LONG,)]:
            ins = {first: src.real(*shape), second: src.real(*shape)}
            yield case(label(shape), lambda **x: fn(*x.values()), ins, list(ins), out=out)

    OPS[name] = cases


pair("residual_add", torch.add, "y", "x", out="sum")
pair("swiglu", lambda a, b: F.silu(a) * b, "a", "b")


@op
def bias_add():
    src = Source("bias_add")
    shapes = [((2, 3), 7), ((), 4), *(((3,), n) for n in SIZES), *(((n,), 3) for n in SIZES), ((LONG,), 3)]
    for lead, n in shapes:
        ins = {"y": src.real(*lead, n), "b": src.real(n)}
        yield case(f"rows {list(lead)}, {n} columns", lambda y, b: y + b, ins, ["y", "b"], out="sum")


THREE = [(1, 1, 1), (3, 4, 2), *((2, 3, n) for n in SIZES), *((2, n, 3) for n in SIZES), (0, 2, 3)]


@op
def add_broadcast_2d_3d():
    src = Source("add_broadcast")
    for b, l, d in [*THREE, (2, 3, LONG)]:
        ins = {"y": src.real(b, l, d), "a": src.real(b, d)}
        yield case(label((b, l, d)), lambda y, a: y + a[:, None, :], ins, ["y", "a"], out="sum")


@op
def mask_zero():
    src = Source("mask_zero")
    for b, l, d in THREE:
        ins = {"y": src.real(b, l, d), "mask": src.mask(b, l)}
        fn = lambda y, mask: torch.where(mask[:, :, None] != 0, y, 0.0)
        yield case(label((b, l, d)), fn, ins, ["y"], out="z")


def philox(seed, counters):
    """The first word of Philox4x32-10 (Salmon et al., 2011) at 64-bit counters."""
    mask = np.uint64(0xFFFFFFFF)
    c = [counters & mask, counters >> np.uint64(32), np.zeros_like(counters), np.zeros_like(counters)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [p1 >> np.uint64(32) ^ c[1] ^ np.uint64(k0), p1 & mask, p0 >> np.uint64(32) ^ c[3] ^ np.uint64(k1), p0 & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0]


# The first of the published known answers: counter 0, key 0.
assert philox(0, np.zeros(1, np.uint64))[0] == 0x6627E8D5


@op
def dropout():
    src = Source("dropout")
    for shape, p, seed, offset in [
        *(((n,), 0.375, 0x9E3779B97F4A7, 2**32 - 100) for n in SIZES), ((2, 3, 4), 0.5, 7, 0), ((33,), 0.0, 1, 2), ((LONG,), 0.25, 3, 5),
    ]:
        counters = np.arange(np.prod(shape, dtype=int), dtype=np.uint64) + np.uint64(offset)
        keep = torch.tensor((philox(seed, counters) >> np.uint64(8)) * 2.0**-24 >= f32(p)).reshape(shape)
        fn = lambda x, p, **_: torch.where(keep, x / (1 - p), 0.0)
        params = {"p": p, "seed": seed, "offset": offset}
        yield case(f"{label(shape)}, p {p}", fn, {"x": src.real(*shape)}, ["x"], params)
