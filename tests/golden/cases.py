"""What a golden case is made of: deterministic inputs, the run, the JSON form."""

import math

import numpy as np
import torch

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
ROWS = [(3, 5), (7,), (2, 3, 4), (4, 1)]
