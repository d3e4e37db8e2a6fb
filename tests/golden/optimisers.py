"""Optimiser steps: one step of torch.optim from a state of its own."""

import torch

from cases import LONG, OPS, SIZES, Source, case, f32, label, op


def steps(name, make, slots, **params):
    """Cases of an optimiser: the step that follows some steps, with its state as input."""

    def cases():
        src = Source(name)
        values = {k: f32(v) if isinstance(v, float) else v for k, v in params.items()}
        for shape, before in [((7,), 0), ((3, 5), 2), ((1,), 99999), *(((n,), n % 7) for n in SIZES), ((LONG,), 3)]:
            state = {k: kind(src)(*shape) if before else src.zeros(*shape) for k, kind in slots.items()}
            w, g = src.real(*shape), src.real(*shape)
            outs = {"w": w, **state}
            if w.numel():
                outs = dict(zip(outs, one_step(make, w, g, state, before, values)))
            scaled = src.make(shape, 0, 1)
            scaled.copy_(g * 16)
            scaled.rule = {**g.rule, "unit": g.rule["unit"] * 16, "shift": g.rule["shift"] * 16}
            ins = {"g": scaled, **scalars(params, before + 1, 0), "w": w, **state}
            outs["shadow"] = outs["w"]
            yield case(f"{label(shape)}, step {before + 1}", lambda **_: outs, ins, params=params, static={"shadow": "with"})
        w, state = src.real(5), {k: kind(src)(5) for k, kind in slots.items()}
        ins = {"g": src.real(5), **scalars(params, 3, 1), "w": w, **state}
        kept = {"w": w, **state, "shadow": w}
        yield case("a step to skip", lambda **_: kept, ins, params=params, static={"shadow": "with"})

    OPS[name] = cases


def scalars(params, step, skip):
    """The gradient is 16 times what the step is to see."""
    one = lambda v: torch.tensor(v)
    counted = {"step": one(step)} if "beta1" in params else {}
    return {"inv_scale": one(0.125), "clip": one(0.5), "skip": one(skip), **counted}


def one_step(make, w, g, state, before, values):
    """Weights and state after a step."""
    weights = w.clone().requires_grad_()
    optimiser, names = make([weights], values)
    if before:
        optimiser.state[weights] = {"step": torch.tensor(float(before)), **{n: v.clone() for n, v in zip(names, state.values())}}
    weights.grad = g.clone()
    optimiser.step()
    return [weights.detach(), *(optimiser.state[weights][n] for n in names)]


def moments(optimiser):
    def make(w, p):
        o = optimiser(w, lr=p["lr"], betas=(p["beta1"], p["beta2"]), eps=p["eps"], weight_decay=p["weight_decay"])
        return o, ["exp_avg", "exp_avg_sq"]

    return make


def velocity(w, p):
    o = torch.optim.SGD(w, lr=p["lr"], momentum=p["momentum"], weight_decay=p["weight_decay"], nesterov=p["nesterov"])
    return o, ["momentum_buffer"]


real, positive = (lambda src: src.real), (lambda src: src.positive)
ADAM = dict(lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.1)
steps("adamw", moments(torch.optim.AdamW), {"m": real, "v": positive}, **ADAM)
steps("adam", moments(torch.optim.Adam), {"m": real, "v": positive}, **ADAM)
steps("sgd", velocity, {"v": real}, lr=0.01, momentum=0.875, weight_decay=0.1, nesterov=True)


@op
def global_norm_sq():
    src = Source("global_norm_sq")
    for i, shape in enumerate([(3, 5), (2, 3, 4), (), *((n,) for n in SIZES), (LONG,), (5, 3277), (3,)]):
        g = src.real(*shape)
        if i % 3:
            ins = {"g": g, "total": src.positive()}
            yield case(label(shape), lambda g, total: total + (g * g).sum(), ins, static={"total": "with"})
        else:
            yield case(label(shape) + ", no total", lambda g: (g * g).sum(), {"g": g}, static={"total": "without"})


@op
def clip_factor():
    inf = float("inf")
    for name, norm_sq, max_norm in [
        ("above the largest norm", 16.0, 0.5), ("below it", 16.0, 4.0), ("at it", 16.0, 2.0), ("no largest norm", 16.0, 0.0),
        ("nothing", 0.0, 1.0), ("overflow", inf, 0.0), ("not a number", float("nan"), 1.0),
    ]:

        def fn(norm_sq, inv_scale, max_norm):
            norm = norm_sq.sqrt() * inv_scale
            clip = max_norm / norm if max_norm > 0 and norm > max_norm else torch.ones_like(norm)
            return {"clip": clip, "skip": (~torch.isfinite(norm)).long()}

        yield case(name, fn, {"norm_sq": torch.tensor(norm_sq), "inv_scale": torch.tensor(0.5)}, params={"max_norm": max_norm})


@op
def step_count():
    most = 2**31 - 1
    for name, skip, step, new in [
        ("the first step", 0, 0, 1), ("a later step", 0, 41, 42), ("a step to skip", 1, 41, 41), ("any flag but 0", -3, 41, 41),
        ("the first step, skipped", 1, 0, 0), ("the last number", 0, most - 1, most), ("at the last number", 0, most, most),
    ]:
        ins = {"skip": torch.tensor(skip), "step": torch.tensor(step)}
        yield case(name, lambda **_: {"step": torch.tensor(new)}, ins)
