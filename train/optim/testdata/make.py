"""Golden values of optimiser steps: PyTorch's AdamW, SGD and clip_grad_norm_ in float64.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python make.py

writes golden.json beside this file: for each case the initial parameters, the gradients
of each step, which are exact in bfloat16 and float16, the rates, and what PyTorch makes of
them after each step, with the norm that clip_grad_norm_ found.
"""

import json
import pathlib

import numpy as np
import torch

STEPS = 5
SHAPES = {"weight": (3, 4), "bias": (3,)}

# name, method, its arguments, largest norm or 0, (factor of the rate, decay) of weight and bias
CASES = [
    ("adamw", "adamw", dict(betas=(0.9, 0.999), eps=1e-8), 0, [(1, 0), (1, 0)]),
    ("adamw groups", "adamw", dict(betas=(0.8, 0.95), eps=1e-6), 0, [(1, 0.1), (0.5, 0)]),
    ("adamw clipped", "adamw", dict(betas=(0.9, 0.99), eps=1e-3), 1.5, [(1, 0.01), (2, 0.02)]),
    ("adamw without a first moment", "adamw", dict(betas=(0.0, 0.9), eps=1e-8), 0, [(1, 0.5), (1, 0)]),
    ("sgd", "sgd", dict(), 0, [(1, 0), (1, 0)]),
    ("sgd momentum", "sgd", dict(momentum=0.9), 0, [(1, 0.1), (0.25, 0)]),
    ("sgd nesterov clipped", "sgd", dict(momentum=0.75, nesterov=True), 2, [(1, 0.05), (1, 0.05)]),
]


def numbers(rng, shape, low, high, unit):
    return rng.integers(low, high, size=shape, endpoint=True) * unit


def run(seed, name, method, kwargs, max_norm, groups):
    rng = np.random.default_rng(seed)
    params = {k: torch.tensor(numbers(rng, s, -64, 64, 1 / 64), requires_grad=True) for k, s in SHAPES.items()}
    initial = {k: p.detach().flatten().tolist() for k, p in params.items()}
    make = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[method]
    optimizer = make(
        [dict(params=[p], weight_decay=decay) for p, (_, decay) in zip(params.values(), groups)], lr=1, **kwargs
    )
    steps = []
    for i in range(STEPS):
        rate = 2.0 ** -(4 + i % 3)
        grads = {k: numbers(rng, s, -15, 15, 1 / 8) for k, s in SHAPES.items()}
        for k, p in params.items():
            p.grad = torch.tensor(grads[k])
        norm = torch.nn.utils.clip_grad_norm_(params.values(), max_norm or float("inf"))
        for group, (factor, _) in zip(optimizer.param_groups, groups):
            group["lr"] = rate * factor
        optimizer.step()
        steps.append(
            dict(
                rate=rate,
                grads={k: g.flatten().tolist() for k, g in grads.items()},
                norm=norm.item(),
                want={k: p.detach().flatten().tolist() for k, p in params.items()},
            )
        )
    kwargs = {k: list(v) if isinstance(v, tuple) else v for k, v in kwargs.items()}
    return dict(name=name, method=method, **kwargs, max_norm=max_norm, groups=groups, initial=initial, steps=steps)


cases = [run(i, *c) for i, c in enumerate(CASES)]
path = pathlib.Path(__file__).parent / "golden.json"
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
