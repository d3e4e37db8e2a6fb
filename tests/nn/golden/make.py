"""Golden values of the layers and models of package nn: PyTorch in float64.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python make.py

writes one NAME.json beside this file for each layer and model. The files are like
those of tests/golden: inputs and weights are given by rules and exact in f32, f16 and
bf16. Weights are inputs of a case, by the names that Params gives them; what a
constructor is told is among the parameters. All elements of results are written out.

PyTorch has channels before positions, so convolutions transpose.
"""

import json
import pathlib
import sys

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent.parent / "golden"))

import cases  # noqa: E402
from cases import Source, case  # noqa: E402

cases.wanted = cases.full
FILES = {}


def file(f):
    FILES[f.__name__] = f
    return f


class Weights(Source):
    """Weights and inputs small enough for deep models: odd multiples of 1/64 below 1/2."""

    def real(self, *shape):
        return self.make(shape, -16, 16, shift=1 / 64)

    def near_one(self, *shape):
        return self.make(shape, 24, 40)


def gelu(x):
    return F.gelu(x, approximate="tanh")


def weigh(name, fn, weights, ins, wrt=(), **params):
    """A case with gradients of all weights and of the inputs in wrt."""
    return case(name, lambda **all: fn(all), {**ins, **weights}, [*wrt, *weights], params)



@file
def linear():
    src = Source("nn linear")
    for lead, n_in, n_out, bias in [((2, 3), 5, 4, 1), ((1,), 1, 1, 1), ((7,), 33, 17, 1), ((3,), 8, 6, 0), ((2, 1), 3, 2, 0)]:
        weights = {"weight": src.real(n_out, n_in)} | ({"bias": src.real(n_out)} if bias else {})
        fn = lambda v: F.linear(v["x"], v["weight"], v.get("bias"))
        c = weigh(f"{list(lead)}, {n_in} to {n_out}", fn, weights, {"x": src.real(*lead, n_in)}, ["x"])
        yield c | {"params": {"in": n_in, "out": n_out, "bias": bool(bias)}}


def convolve(x, w, bias, dilation=1, stride=1, left=0, right=0):
    return F.conv1d(F.pad(x.transpose(1, 2), (left, right)), w, bias, stride, 0, dilation).transpose(1, 2)


@file
def conv1d():
    src = Source("nn conv1d")
    for b, l, n_in, n_out, k, dilation, stride, left, right, causal, bias in [
        (2, 7, 3, 4, 3, 1, 1, 0, 0, 1, 1),
        (2, 2, 3, 4, 3, 4, 1, 0, 0, 1, 1),  # shorter than its window
        (1, 9, 2, 3, 3, 2, 1, 0, 0, 1, 0),
        (1, 17, 5, 8, 2, 8, 1, 0, 0, 1, 1),
        (2, 8, 2, 3, 3, 1, 2, 1, 1, 0, 1),
        (2, 9, 2, 3, 3, 2, 3, 2, 0, 0, 1),
        (3, 5, 4, 6, 1, 1, 1, 0, 0, 0, 1),  # straight to the product
        (2, 4, 3, 5, 1, 1, 2, 1, 0, 0, 1),  # one tap that is not
        (2, 6, 3, 2, 1, 1, 1, 0, 0, 0, 0),
        (1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1),
    ]:
        pad = dilation * (k - 1) if causal else left
        weights = {"weight": src.real(n_out, n_in, k)} | ({"bias": src.real(n_out)} if bias else {})
        fn = lambda v: convolve(v["x"], v["weight"], v.get("bias"), dilation, stride, pad, right)
        c = weigh(f"{b}x{l}, {n_in} to {n_out}, {k} taps, dilation {dilation}, stride {stride}, pad {left} {right}, causal {causal}",
                  fn, weights, {"x": src.real(b, l, n_in)}, ["x"])
        yield c | {"params": {"in": n_in, "out": n_out, "kernel": k, "dilation": dilation, "stride": stride,
                              "left": left, "right": right, "causal": bool(causal), "bias": bool(bias)}}


@file
def layernorm():
    src = Source("nn layernorm")
    for shape in [(2, 3, 8), (1, 3), (5, 33)]:
        d = shape[-1]
        fn = lambda v: F.layer_norm(v["x"], (d,), v["weight"], v["bias"], 1e-5)
        c = weigh(f"{list(shape)}", fn, {"weight": src.real(d), "bias": src.real(d)}, {"x": src.real(*shape)}, ["x"])
        yield c | {"params": {"width": d}}


@file
def rmsnorm():
    src = Source("nn rmsnorm")
    for shape in [(2, 3, 8), (1, 2), (5, 33)]:
        d = shape[-1]
        fn = lambda v: F.rms_norm(v["x"], (d,), v["weight"], 1e-5)
        c = weigh(f"{list(shape)}", fn, {"weight": src.real(d)}, {"x": src.real(*shape)}, ["x"])
        yield c | {"params": {"width": d}}


@file
def gelu_():
    src = Source("nn gelu")
    yield weigh("[3 5]", lambda v: gelu(v["x"]), {}, {"x": src.real(3, 5)}, ["x"])


@file
def embedding():
    src = Source("nn embedding")
    for shape in [(2, 5), (1,), (3, 4)]:
        fn = lambda v: F.embedding(v["x"].long(), v["weight"])
        c = weigh(f"{list(shape)}", fn, {"weight": src.real(7, 3)}, {"x": src.ints(0, 7, *shape)})
        yield c | {"params": {"rows": 7, "width": 3}}


@file
def lora():
    src = Source("nn lora")
    for lead, n_in, n_out, rank, bias in [((2, 3), 5, 4, 2, 1), ((4,), 6, 3, 1, 0)]:
        weights = {"weight": src.real(n_out, n_in)} | ({"bias": src.real(n_out)} if bias else {})
        weights |= {"lora_a": src.real(n_in, rank), "lora_b": src.real(rank, n_out)}
        fn = lambda v: F.linear(v["x"], v["weight"], v.get("bias")) + 3 / rank * (v["x"] @ v["lora_a"] @ v["lora_b"])
        c = weigh(f"{list(lead)}, {n_in} to {n_out}, rank {rank}", fn, weights, {"x": src.real(*lead, n_in)}, ["x"])
        yield c | {"params": {"in": n_in, "out": n_out, "rank": rank, "alpha": 3, "bias": bool(bias)}}


@file
def residual():
    src = Source("nn residual")
    weights = {"weight": src.real(5, 5), "bias": src.real(5)}
    c = weigh("a linear layer of 5", lambda v: v["x"] + F.linear(v["x"], v["weight"], v["bias"]), weights, {"x": src.real(2, 3, 5)}, ["x"])
    yield c | {"params": {"width": 5}}


def block_weights(src, prefix, width, hidden, kernel):
    return {
        prefix + "norm.weight": src.near_one(width),
        prefix + "norm.bias": src.real(width),
        prefix + "conv1.weight": src.real(hidden, width, kernel),
        prefix + "conv1.bias": src.real(hidden),
        prefix + "conv2.weight": src.real(width, hidden, 1),
        prefix + "conv2.bias": src.real(width),
    }


def block(v, prefix, x, dilation):
    w = lambda name: v[prefix + name]
    h = F.layer_norm(x, (x.shape[-1],), w("norm.weight"), w("norm.bias"), 1e-5)
    h = gelu(convolve(h, w("conv1.weight"), w("conv1.bias"), dilation, left=dilation * (w("conv1.weight").shape[2] - 1)))
    y = x + convolve(h, w("conv2.weight"), w("conv2.bias"))
    return torch.where(v["mask"][..., None] != 0, y, 0.0) if "mask" in v else y


def stack(v, prefix, x, dilations):
    for i, d in enumerate(dilations):
        x = block(v, f"{prefix}blocks.{i}.", x, d)
    return x


def stack_weights(src, prefix, s):
    weights = {}
    for i in range(len(s["dilations"])):
        weights |= block_weights(src, f"{prefix}blocks.{i}.", s["width"], s["hidden"], s["kernel"])
    return weights


def mask(*lengths):
    n = max(lengths)
    t = torch.tensor([[1.0 if l < have else 0.0 for l in range(n)] for have in lengths])
    return t.to(torch.int64)


@file
def tcn_block():
    for name, b, l, dilation, kernel, masked in [
        ("unmasked", 2, 9, 2, 3, None), ("masked", 3, 6, 1, 3, (6, 2, 0)), ("shorter than its window", 1, 2, 8, 3, None), ("one position", 1, 1, 1, 2, None),
    ]:
        src = Weights("nn tcn_block " + name)
        ins = {"x": Source("nn tcn_block x " + name).real(b, l, 6)} | ({"mask": mask(*masked)} if masked else {})
        c = weigh(name, lambda v: block(v, "", v["x"], dilation), block_weights(src, "", 6, 10, kernel), ins, ["x"])
        yield c | {"params": {"width": 6, "hidden": 10, "kernel": kernel, "dilation": dilation}}


MODELS = [
    ("full", 2, 12, (12, 12), {"width": 8, "hidden": 12, "kernel": 3, "dilations": [1, 2, 4]}),
    ("padded, one text empty", 3, 9, (9, 4, 0), {"width": 8, "hidden": 12, "kernel": 3, "dilations": [1, 2]}),
    ("batch of 1, shorter than the receptive field", 1, 3, (3,), {"width": 5, "hidden": 7, "kernel": 3, "dilations": [1, 2, 4]}),
    ("odd sizes", 2, 17, (17, 1), {"width": 33, "hidden": 31, "kernel": 2, "dilations": [8]}),
    ("all masked", 2, 4, (0, 0, 4), {"width": 4, "hidden": 6, "kernel": 3, "dilations": [1]}),
]


def model_params(s, **more):
    shape = {k: v for k, v in s.items() if k != "dilations"}
    return {"params": shape | more, "free": {"dilations": s["dilations"]}}


@file
def text_encoder():
    for tanh in (0, 1):
        for name, b, l, lengths, s in MODELS:
            src = Weights("nn text_encoder " + name)
            m = mask(*lengths)[:b]
            weights = {"embedding.weight": src.real(11, s["width"])} | stack_weights(src, "stack.", s)
            weights |= {"out.weight": src.real(6, s["width"]), "out.bias": src.real(6)}

            def fn(v):
                x = stack(v, "stack.", F.embedding(v["ids"].long(), v["embedding.weight"]), s["dilations"])
                counted = v["mask"][..., None] != 0
                mean = torch.where(counted, x, 0.0).sum(1) / counted.sum(1).clamp(min=1)
                y = F.linear(mean, v["out.weight"], v["out.bias"])
                return torch.tanh(y) if tanh else y

            ins = {"ids": src.ints(0, 11, b, l), "mask": m}
            yield weigh(f"{name}, tanh {tanh}", fn, weights, ins) | model_params(s, vocab=11, out=6, tanh=bool(tanh))


@file
def text_decoder():
    for n_cond, masked in ((0, 0), (3, 1)):
        for name, b, l, lengths, s in MODELS:
            src = Weights("nn text_decoder " + name)
            weights = {"embedding.weight": src.real(11, s["width"])}
            if n_cond:
                weights |= {"cond.weight": src.real(s["width"], n_cond), "cond.bias": src.real(s["width"])}
            weights |= stack_weights(src, "stack.", s) | {"out.weight": src.real(11, s["width"]), "out.bias": src.real(11)}

            def fn(v):
                x = F.embedding(v["ids"].long(), v["embedding.weight"])
                if n_cond:
                    x = x + F.linear(v["cond"], v["cond.weight"], v["cond.bias"])[:, None]
                return F.linear(stack(v, "stack.", x, s["dilations"]), v["out.weight"], v["out.bias"])

            ins = {"ids": src.ints(0, 11, b, l)} | ({"cond": src.real(b, n_cond)} if n_cond else {})
            ins |= {"mask": mask(*lengths)[:b]} if masked else {}
            yield weigh(f"{name}, condition {n_cond}", fn, weights, ins, ["cond"] if n_cond else []) | model_params(s, vocab=11, cond=n_cond)


def main():
    for old in HERE.glob("*.json"):
        old.unlink()
    for name, made in FILES.items():
        name = name.removesuffix("_")
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in made())
        source = json.dumps(f"PyTorch {torch.__version__.split('+')[0]}, float64")
        (HERE / f"{name}.json").write_text(f'{{"op":"{name}","source":{source},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
