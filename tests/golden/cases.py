"""What a golden case is made of: inputs by rule, the run, the JSON form."""

import math
import zlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
OPS = {}

# Extents around those of vectors, tiles and blocks, and one that is longer than
# the blocks in which sums run.
SIZES = [0, 1, 2, 3, 31, 32, 33, 255, 257, 1025, 4097]
LONG = 100003

STORED = 40  # elements; longer tensors are kept as rules, samples and sums
SAMPLES = 24
SUMS = 4


def op(f):
    """Register f, which yields the cases of the op of its name."""
    OPS[f.__name__.removesuffix("_")] = f
    return f


def words(seed, n):
    """The first n numbers of SplitMix64 (Steele, Lea and Flood, 2014) from a seed."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def values(rule, n):
    """What a rule gives: element i is (low + word i mod (high - low)) * unit + shift."""
    k = (words(rule["seed"], n) % np.uint64(rule["high"] - rule["low"])).astype(np.int64) + rule["low"]
    if "negative" in rule:
        k = np.where(k < 0, rule["negative"], k)
    return k * rule["unit"] + rule["shift"] if rule["unit"] != 1 else k


class Source:
    """A source of inputs, each by a rule with a seed of its own.

    Reals are odd multiples of 1/64 and never zero; evens are multiples of 1/32,
    so that none equals a real. All are below 4 in absolute value.
    """

    def __init__(self, name):
        self.seed = zlib.crc32(name.encode()) << 16

    def make(self, shape, low, high, unit=1 / 32, shift=0.0, **more):
        self.seed += 1
        rule = {"seed": self.seed, "low": low, "high": high, "unit": unit, "shift": shift, **more}
        t = torch.tensor(values(rule, math.prod(shape))).reshape(shape)
        t.rule = rule
        return t

    def real(self, *shape):
        return self.make(shape, -128, 128, shift=1 / 64)

    def even(self, *shape):
        return self.make(shape, -127, 128)

    def positive(self, *shape):
        return self.make(shape, 0, 128, shift=1 / 64)

    def positive_even(self, *shape):
        return self.make(shape, 1, 128)

    def zeros(self, *shape):
        return self.make(shape, 0, 1)

    def ints(self, low, high, *shape):
        return self.make(shape, low, high, unit=1)

    def mask(self, *shape):
        """Half zeros, and the numbers of 1 to 255."""
        return self.make(shape, -255, 256, unit=1, negative=0)

    def targets(self, classes, ignored, *shape):
        """Classes, of which a share is -100; all are where there are no classes."""
        low = -1 if classes == 0 else -math.ceil(classes * ignored / (1 - ignored)) if ignored else 0
        return self.make(shape, low, classes, unit=1, negative=-100)


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
    c["ins"] = {k: given(v) for k, v in ins.items()}
    c["outs"] = {k: wanted(v) for k, v in outs.items()}
    if wrt:
        src = Source("cotangent " + name)
        carry = carry or [k for k, v in outs.items() if v.is_floating_point()]
        seeds = {k: src.real(*outs[k].shape) for k in carry}
        total = sum((outs[k] * seeds[k]).sum() for k in carry)
        grads = torch.autograd.grad(total, [args[k] for k in wrt], allow_unused=True)
        zero = lambda g, k: torch.zeros_like(args[k]) if g is None else g
        c["cotangents"] = {k: given(v) for k, v in seeds.items()}
        c["grads"] = {k: wanted(zero(g, k)) for k, g in zip(wrt, grads)}
    return {k: v for k, v in c.items() if v}


def full(t):
    return {"shape": list(t.shape), "data": [number(v) for v in t.detach().reshape(-1).tolist()]}


def given(t):
    """An input: its rule when it is long."""
    if t.numel() <= STORED or not hasattr(t, "rule"):
        return full(t)
    return {"shape": list(t.shape), "rule": t.rule}


def wanted(t):
    """A result: samples and weighted sums when it is long and finite."""
    if t.numel() <= STORED or not t.isfinite().all():
        return full(t)
    flat = t.detach().reshape(-1).double().numpy()
    at = positions(len(flat))
    return {"shape": list(t.shape), "samples": flat[at].tolist(), "sums": [float(weights(k, len(flat)) @ flat) for k in range(SUMS)]}


def positions(n):
    """Where a result of n elements is sampled: at both ends, and anywhere."""
    return [0, n - 1, *(words(0, SAMPLES - 2) % np.uint64(n)).astype(int).tolist()]


def weights(k, n):
    """The weights of sum k: odd numbers from -255 to 255."""
    return values({"seed": k + 1, "low": -128, "high": 128, "unit": 2, "shift": 1}, n)


def number(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "nan" if math.isnan(v) else ("inf" if v > 0 else "-inf")
    return v


def label(shape):
    return "x".join(map(str, shape)) or "scalar"


SHAPES = [(3, 5), (2, 3, 4), (2, 1, 1, 3), (), *((n,) for n in SIZES)]
ROWS = [(2, 3, 4), (7,), *((3, n) for n in SIZES), *((n, 3) for n in (0, 33, 257, 1025)), (2, LONG)]
FLAT = [*SHAPES, (LONG,), (5, 3277)]
