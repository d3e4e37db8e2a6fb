"""Losses and metrics. A mean over no rows is zero."""

import torch
import torch.nn.functional as F

from cases import LONG, ROWS, SIZES, Source, case, label, op
from rows import cosine, first_largest, mean


def entropy(logits, target, ignore_index, label_smoothing):
    flat, t = logits.reshape(target.numel(), -1) if logits.numel() else logits, target.reshape(-1)
    if logits.numel():
        loss = F.cross_entropy(flat, t, reduction="none", ignore_index=ignore_index, label_smoothing=label_smoothing)
    else:  # no class, so that no row is counted
        loss = flat.sum(-1)
    lse = torch.where(target == ignore_index, 0.0, logits.logsumexp(-1))
    return {"loss": loss.reshape(target.shape), "lse": lse}


def inputs(src, shape, ignored):
    return {"logits": src.real(*shape), "target": src.targets(shape[-1], ignored, *shape[:-1])}


ENTROPY = [
    ((4, 7), 0.5, 0.0), ((2, 3, 4), 0.25, 0.125), ((7,), 0, 0.0), *(((3, n), 0, 0.125) for n in SIZES), *(((n, 5), 0.25, 0.0) for n in SIZES),
    ((2, LONG), 0, 0.125), ((3, LONG), 0.5, 0.0),
]


@op
def cross_entropy():
    src = Source("cross_entropy")
    for shape, ignored, smoothing in ENTROPY:
        params = {"ignore_index": -100, "label_smoothing": smoothing}
        name = f"{label(shape)}, {ignored} ignored, smoothing {smoothing}"
        yield case(name, entropy, inputs(src, shape, ignored), ["logits"], params, carry=["loss"])


def entropy_mean(logits, target, **params):
    count = (target != params["ignore_index"]).sum()
    return {"loss": entropy(logits, target, **params)["loss"].sum() / count.clamp(min=1), "count": count}


@op
def cross_entropy_mean():
    src = Source("cross_entropy_mean")
    for shape, ignored, smoothing in ENTROPY:
        params = {"ignore_index": -100, "label_smoothing": smoothing}
        name = f"{label(shape)}, {ignored} ignored, smoothing {smoothing}"
        yield case(name, entropy_mean, inputs(src, shape, ignored), ["logits"], params, carry=["loss"])


@op
def perplexity():
    src = Source("perplexity")

    def fn(logits, target, ignore_index):
        average = entropy_mean(logits, target, ignore_index=ignore_index, label_smoothing=0.0)
        return {"perplexity": average["loss"].exp(), "count": average["count"]}

    for shape, ignored, _ in ENTROPY:
        name = f"{label(shape)}, {ignored} ignored"
        yield case(name, fn, inputs(src, shape, ignored), params={"ignore_index": -100})


@op
def accuracy():
    src = Source("accuracy")

    def fn(logits, target, ignore_index):
        counted = target != ignore_index
        hits = ((first_largest(logits) == target) & counted).sum()
        return {"accuracy": hits / counted.sum().clamp(min=1), "count": counted.sum()}

    for shape, ignored, _ in [*ENTROPY, ((8, 3), 0, 0), ((2, 200, 2), 0.25, 0)]:
        name = f"{label(shape)}, {ignored} ignored"
        yield case(name, fn, inputs(src, shape, ignored), params={"ignore_index": -100})


@op
def kd_loss():
    src = Source("kd_loss")

    def fn(student, teacher, alpha, beta):
        mse, cos = mean((student - teacher) ** 2, -1), cosine(student, teacher)
        return {"mse": mse, "cos": cos, "loss": alpha * (1 - cos) + beta * mse}

    for shape in ROWS:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        params = {"alpha": 0.75, "beta": 0.5}
        yield case(label(shape), fn, ins, ["student"], params, carry=["loss"])


@op
def kd_metrics_mean():
    src = Source("kd_metrics_mean")

    def fn(student, teacher):
        mse = mean((student - teacher) ** 2, -1)
        return {"mse": mean(mse, -1), "cos": mean(cosine(student, teacher), -1)}

    for shape in [s for s in ROWS if len(s) == 2]:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        yield case(label(shape), fn, ins)


@op
def kl_distill():
    src = Source("kl_distill")

    def fn(student, teacher, temperature):
        s, t = F.log_softmax(student / temperature, -1), F.log_softmax(teacher / temperature, -1)
        return F.kl_div(s, t, reduction="none", log_target=True).sum(-1) * temperature**2

    for shape in ROWS:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        yield case(label(shape), fn, ins, ["student"], {"temperature": 2.0}, out="loss")
