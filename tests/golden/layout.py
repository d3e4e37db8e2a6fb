"""Ops that move values: layouts, lookups, windows."""

import torch
import torch.nn.functional as F

from cases import LONG, SIZES, Source, case, label, op


@op
def fill():
    for shape in [(), (3, 5), (2, 1, 2), *((n,) for n in SIZES), (LONG,)]:
        fn = lambda value: torch.full(shape, value)
        yield case(label(shape), fn, {}, params={"value": 2.25}, free={"P": list(shape)})


@op
def fill_bias():
    src = Source("fill_bias")
    for m, n in [*((3, n) for n in SIZES), *((n, 3) for n in SIZES), (LONG, 3)]:
        yield case(label((m, n)), lambda b: b.expand(m, n).clone(), {"b": src.real(n)}, ["b"], free={"M": [m]})


@op
def transpose():
    src = Source("transpose")
    for shape in [(2, 3, 4), (2, 2, 33, 31), *((3, n) for n in SIZES), *((n, 3) for n in SIZES), (65, 257), (1025, 257)]:
        yield case(label(shape), lambda x: x.transpose(-1, -2), {"x": src.real(*shape)}, ["x"])


@op
def concat():
    src = Source("concat")
    for lead, widths in [
        ((3,), [2, 1, 4]), ((2, 2), [3]), ((), [1, 2]), *(((2,), [n, 3]) for n in SIZES), *(((2,), [3, n]) for n in SIZES),
        *(((n,), [2, 1]) for n in SIZES), *(((2,), [1 + i % 2 for i in range(n)]) for n in range(4, 9)), ((3,), [257, 0, 33, 1, 255, 31, 3, 65]),
        ((LONG,), [2, 1]),
    ]:
        ins = {f"x_{i + 1}": src.real(*lead, w) for i, w in enumerate(widths)}
        name = f"rows {list(lead)}, widths {widths}"
        yield case(name, lambda **x: torch.cat(list(x.values()), -1), ins, list(ins), static={"x": str(len(widths))})


@op
def slice_():
    src = Source("slice")
    for shape, start, length in [
        ((5, 3), 1, 3), ((2, 4, 2), 0, 2), ((3, 2), 3, 0), ((0, 2), 0, 0), *(((n, 3), n // 3, n // 2) for n in SIZES),
        *(((5, n), 1, 3) for n in SIZES), ((LONG, 3), 17, 99001),
    ]:
        fn = lambda x, start, length: x[..., start : start + length, :]
        params = {"start": start, "length": length}
        yield case(f"{label(shape)}, {length} from {start}", fn, {"x": src.real(*shape)}, ["x"], params)


@op
def pad():
    src = Source("pad")
    for shape, before, after in [
        ((2, 4, 2), 0, 1), ((3, 2), 0, 0), *(((n, 3), n // 2, 2) for n in SIZES), *(((5, n), 1, 2) for n in SIZES), ((LONG, 3), 17, 19),
    ]:
        fn = lambda x, before, after, value: F.pad(x, (0, 0, before, after), value=value)
        params = {"before": before, "after": after, "value": -0.5}
        yield case(f"{label(shape)}, {before} and {after}", fn, {"x": src.real(*shape)}, ["x"], params)


TABLES = [
    ((2, 3), 5, 2), ((), 3, 4), ((0,), 4, 3), ((0,), 0, 2), *(((n,), 7, 3) for n in SIZES), *(((5,), n, 3) for n in SIZES if n),
    *(((5,), 4, n) for n in SIZES), ((4097,), 3, 5), ((LONG,), 7, 3), ((33,), LONG, 3),
]


@op
def embedding():
    src = Source("embedding")
    for shape, v, d in TABLES:
        ins = {"ids": src.ints(0, max(v, 1), *shape), "W": src.real(v, d)}
        yield case(f"ids {list(shape)}, table {v}x{d}", lambda ids, W: W[ids], ins, ["W"])


@op
def embedding_backward_accumulate():
    src = Source("embedding_backward_accumulate")
    for shape, v, d in TABLES:
        ins = {"sum": src.real(v, d), "ids": src.ints(0, max(v, 1), *shape), "dy": src.real(*shape, d)}
        fn = lambda sum, ids, dy: sum.index_add(0, ids.reshape(-1), dy.reshape(ids.numel(), d))
        yield case(f"ids {list(shape)}, table {v}x{d}", fn, ins, out="dW")


@op
def embedding_concat():
    src = Source("embedding_concat")
    for lead, l, v, d in [
        ((2,), 2, 3, 2), ((2, 2), 3, 4, 2), ((), 3, 4, 3), ((0,), 2, 3, 2), *(((n,), 2, 7, 3) for n in SIZES), *(((2,), n, 7, 3) for n in SIZES),
        *(((2,), 2, n, 3) for n in SIZES if n), *(((3,), 2, 4, n) for n in SIZES),
    ]:
        ins = {"ids": src.ints(0, v, *lead, l), "W": src.real(v, d)}
        fn = lambda ids, W: F.embedding(ids, W).reshape(*lead, l * d)
        yield case(f"ids {[*lead, l]}, table {v}x{d}", fn, ins, ["W"])


def conv_columns(x, taps, dilation, stride, pad_left, pad_right):
    x = F.pad(x, (0, 0, pad_left, pad_right))
    places = (x.shape[1] - dilation * (taps - 1) - 1) // stride + 1
    at = torch.arange(places)[:, None] * stride + torch.arange(taps) * dilation
    return x[:, at, :].transpose(2, 3).reshape(x.shape[0], places, x.shape[2] * taps)


@op
def im2col():
    src = Source("im2col")
    for b, l, c, k, dilation, stride, left, right in [
        (2, 5, 3, 3, 1, 1, 2, 0), (1, 8, 1, 3, 1, 2, 0, 0), (1, 4, 2, 1, 1, 2, 1, 1), (2, 7, 2, 2, 3, 1, 3, 1),
        (0, 4, 2, 3, 1, 1, 0, 0), (2, 0, 3, 2, 1, 1, 2, 0), (1, 6, 1, 3, 1, 5, 0, 0), (1, 7, 2, 7, 1, 1, 0, 0),
        *((2, 5, n, 3, 2, 1, 4, 0) for n in SIZES), *((2, n, 3, 2, 2, 3, 2, 1) for n in SIZES), *((1, 33, 2, n, 1, 2, n, 1) for n in SIZES[1:-2]), (1, LONG, 3, 2, 1, 1, 1, 0),
    ]:
        params = {"dilation": dilation, "stride": stride, "pad_left": left, "pad_right": right}
        fn = lambda x, **p: conv_columns(x, k, **p)
        name = f"{b}x{l}x{c}, {k} taps, dilation {dilation}, stride {stride}, pad {left} and {right}"
        yield case(name, fn, {"x": src.real(b, l, c)}, ["x"], params, free={"K": [k]}, out="cols")


@op
def pack_w_to_col():
    src = Source("pack_w_to_col")
    for o, c, k in [(3, 2, 4), (2, 3, 1), *((2, 3, n) for n in SIZES), *((2, n, 3) for n in SIZES), *((n, 2, 3) for n in SIZES), (LONG, 2, 3)]:
        fn = lambda W: W.reshape(o, c * k).clone()
        yield case(label((o, c, k)), fn, {"W": src.real(o, c, k)}, ["W"], out="cols")
