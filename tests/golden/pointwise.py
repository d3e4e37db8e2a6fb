"""Elementwise, layout and index ops."""

import torch
import torch.nn.functional as F

from cases import OPS, SHAPES, Source, case, op


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
