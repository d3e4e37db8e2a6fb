"""Row programs, losses and reductions."""

import torch
import torch.nn.functional as F

from cases import OPS, ROWS, SHAPES, Source, case, op


def rows(name, fn, grad=True, out="y"):
    def cases():
        src = Source(name)
        for shape in ROWS:
            x = src.real(*shape)
            yield case("x".join(map(str, shape)), lambda x: fn(x), {"x": x}, ["x"] if grad else [], out=out)

    OPS[name] = cases


rows("softmax", lambda x: F.softmax(x, -1))
rows("log_softmax", lambda x: F.log_softmax(x, -1))
rows("row_sum", lambda x: x.sum(-1))
rows("row_mean", lambda x: x.mean(-1))
rows("row_max", lambda x: x.amax(-1), grad=False)
rows("argmax", lambda x: x.argmax(-1), grad=False, out="index")
rows("sum", torch.sum)
rows("mean", torch.mean)
rows("max", torch.amax, grad=False)
rows("sum_sq", lambda x: (x * x).sum())
rows("l2_normalize", lambda x: F.normalize(x, dim=-1))


def normalise(x, gamma, beta, eps):
    mean = x.mean(-1)
    rstd = (x.var(-1, correction=0) + eps).rsqrt()
    return {"y": F.layer_norm(x, x.shape[-1:], gamma, beta, eps), "mean": mean, "rstd": rstd}


@op
def layernorm():
    src = Source("layernorm")
    for shape in [(3, 5), (7,), (2, 3, 4)]:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1]), "beta": src.real(shape[-1])}
        wrt = ["x", "gamma", "beta"]
        yield case("x".join(map(str, shape)), normalise, ins, wrt, {"eps": 1e-5}, carry=["y"])


@op
def rmsnorm():
    src = Source("rmsnorm")
    for shape in [(3, 5), (7,), (2, 3, 4)]:
        ins = {"x": src.real(*shape), "gamma": src.real(shape[-1])}
        rstd = lambda x, eps: ((x * x).mean(-1) + eps).rsqrt()
        fn = lambda x, gamma, eps: {"y": F.rms_norm(x, x.shape[-1:], gamma, eps), "rstd": rstd(x, eps)}
        yield case("x".join(map(str, shape)), fn, ins, ["x", "gamma"], {"eps": 1e-5}, carry=["y"])


def entropy(logits, target, ignore_index, label_smoothing):
    flat, t = logits.reshape(-1, logits.shape[-1]), target.reshape(-1)
    loss = F.cross_entropy(flat, t, reduction="none", ignore_index=ignore_index, label_smoothing=label_smoothing)
    lse = torch.where(target == ignore_index, 0.0, logits.logsumexp(-1))
    return {"loss": loss.reshape(target.shape), "lse": lse}


def entropy_inputs(src, shape, ignored):
    target = src.ints(0, shape[-1], *shape[:-1])
    target.view(-1)[: ignored] = -100
    return {"logits": src.real(*shape), "target": target}


@op
def cross_entropy():
    src = Source("cross_entropy")
    for shape, ignored, smoothing in [((3, 5), 0, 0.0), ((4, 7), 2, 0.0), ((2, 3, 4), 1, 0.125), ((2, 3), 2, 0.0)]:
        params = {"ignore_index": -100, "label_smoothing": smoothing}
        name = "x".join(map(str, shape)) + f", {ignored} ignored, smoothing {smoothing}"
        yield case(name, entropy, entropy_inputs(src, shape, ignored), ["logits"], params, carry=["loss"])


def entropy_mean(logits, target, **params):
    count = (target != params["ignore_index"]).sum()
    return {"loss": entropy(logits, target, **params)["loss"].sum() / count.clamp(min=1), "count": count}


@op
def cross_entropy_mean():
    src = Source("cross_entropy_mean")
    for shape, ignored, smoothing in [((2, 3, 5), 0, 0.0), ((2, 4, 7), 3, 0.125), ((1, 3, 4), 3, 0.0)]:
        params = {"ignore_index": -100, "label_smoothing": smoothing}
        name = "x".join(map(str, shape)) + f", {ignored} ignored, smoothing {smoothing}"
        yield case(name, entropy_mean, entropy_inputs(src, shape, ignored), ["logits"], params, carry=["loss"])


@op
def perplexity():
    src = Source("perplexity")

    def fn(logits, target, ignore_index):
        mean = entropy_mean(logits, target, ignore_index=ignore_index, label_smoothing=0.0)
        return {"perplexity": mean["loss"].exp(), "count": mean["count"]}

    for shape, ignored in [((2, 3, 5), 0), ((6, 7), 2), ((3, 4), 3)]:
        name = "x".join(map(str, shape)) + f", {ignored} ignored"
        yield case(name, fn, entropy_inputs(src, shape, ignored), params={"ignore_index": -100})


@op
def accuracy():
    src = Source("accuracy")

    def fn(logits, target, ignore_index):
        counted = target != ignore_index
        hits = ((logits.argmax(-1) == target) & counted).sum()
        return {"accuracy": hits / counted.sum().clamp(min=1), "count": counted.sum()}

    for shape, ignored in [((8, 3), 0), ((2, 6, 2), 3), ((3, 4), 3)]:
        name = "x".join(map(str, shape)) + f", {ignored} ignored"
        yield case(name, fn, entropy_inputs(src, shape, ignored), params={"ignore_index": -100})


def cosine(a, b):
    norm = lambda v: (v * v).sum(-1).clamp(min=1e-12).sqrt()
    return (a * b).sum(-1) / (norm(a) * norm(b))


@op
def cosine_similarity():
    src = Source("cosine")
    for shape in ROWS:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case("x".join(map(str, shape)), cosine, ins, ["a", "b"])


@op
def kd_loss():
    src = Source("kd_loss")

    def fn(student, teacher, alpha, beta):
        mse, cos = ((student - teacher) ** 2).mean(-1), cosine(student, teacher)
        return {"mse": mse, "cos": cos, "loss": alpha * (1 - cos) + beta * mse}

    for shape in ROWS:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        params = {"alpha": 0.75, "beta": 0.5}
        yield case("x".join(map(str, shape)), fn, ins, ["student"], params, carry=["loss"])


@op
def kd_metrics_mean():
    src = Source("kd_metrics_mean")
    fn = lambda student, teacher: {"mse": ((student - teacher) ** 2).mean(), "cos": cosine(student, teacher).mean()}
    for shape in [(3, 5), (1, 4)]:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        yield case("x".join(map(str, shape)), fn, ins)


@op
def kl_distill():
    src = Source("kl_distill")

    def fn(student, teacher, temperature):
        s, t = F.log_softmax(student / temperature, -1), F.log_softmax(teacher / temperature, -1)
        return F.kl_div(s, t, reduction="none", log_target=True).sum(-1) * temperature**2

    for shape in ROWS:
        ins = {"student": src.real(*shape), "teacher": src.real(*shape)}
        yield case("x".join(map(str, shape)), fn, ins, ["student"], {"temperature": 2.0}, out="loss")


@op
def bias_grad():
    src = Source("bias_grad")
    for rows, n in [((3,), 5), ((2, 3), 7), ((), 4)]:
        fn = lambda dy: dy.reshape(-1, dy.shape[-1]).sum(0)
        yield case(f"rows {list(rows)}, {n} columns", fn, {"dy": src.real(*rows, n)}, out="db")


@op
def masked_mean():
    src = Source("masked_mean")
    for b, l, h, empty in [(2, 3, 5, False), (3, 4, 2, True), (1, 1, 1, False)]:
        mask = src.mask(b, l)
        mask[0] = 0 if empty else 1

        def fn(x, mask):
            keep = (mask != 0)[:, :, None]
            return torch.where(keep, x, 0.0).sum(1) / keep.sum(1).clamp(min=1)

        yield case(f"{b}x{l}x{h}", fn, {"x": src.real(b, l, h), "mask": mask}, ["x"])


@op
def dot():
    src = Source("dot")
    for shape in SHAPES:
        ins = {"a": src.real(*shape), "b": src.real(*shape)}
        yield case("x".join(map(str, shape)), lambda a, b: (a * b).sum(), ins, ["a", "b"])
