"""The cases in PyTorch, as its users write them: eager functions, autograd,
fused optimisers."""

import numpy as np
import torch
import torch.nn.functional as F

from inputs import Inputs

VERSION = torch.__version__
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
DROPOUT = 0.1
WINDOW = 3
RANK = 16


def set_threads(n):
    torch.set_num_threads(n)


def prepare(op, dtype, dims):
    """A function that computes the case once and returns its results."""
    make = OPS.get(op)
    if make is None:
        return None
    inputs = Inputs(torch.from_numpy, lambda a: torch.from_numpy(a).to(DTYPES[dtype]))
    return make(inputs, *dims)


def magnitudes(results):
    return [r.double().abs().mean().item() for r in results]


def forward(f, *args):
    """Calls f without recording gradients."""

    def call():
        with torch.no_grad():
            return [f(*args)]

    return call


def backward(f, *args, wrt=None, cotangent=None):
    """The gradient of f alone; f has run before."""
    wrt = args if wrt is None else wrt
    for a in wrt:
        a.requires_grad_()
    y = f(*args)
    return lambda: torch.autograd.grad(y, wrt, cotangent, retain_graph=True)


def both(f, *args, wrt=None, cotangent=None):
    """f and its gradient."""
    wrt = args if wrt is None else wrt
    for a in wrt:
        a.requires_grad_()

    def call():
        y = f(*args)
        return [y.detach(), *torch.autograd.grad(y, wrt, cotangent)]

    return call


def unary(f):
    return lambda i, *d: forward(f, i.values(*d))


def positive(f):
    return lambda i, *d: forward(f, i.positive(*d))


def binary(f):
    return lambda i, *d: forward(f, i.values(*d), i.positive(*d))


def of_values(f):
    return lambda i, *d: forward(f, i.values(*d), i.values(*d))


def of_positive(f):
    return lambda i, *d: forward(f, i.positive(*d), i.positive(*d))


def unary_grad(f, run=backward):
    return lambda i, *d: run(f, i.values(*d), cotangent=i.values(*d))


def binary_grad(f, run=backward):
    return lambda i, *d: run(f, i.values(*d), i.positive(*d), cotangent=i.values(*d))


def gelu(x):
    return F.gelu(x, approximate="tanh")


def softmax(x):
    return F.softmax(x, dim=-1)


def log_softmax(x):
    return F.log_softmax(x, dim=-1)


def swiglu(a, b):
    return F.silu(a) * b


def layernorm(x, gamma, beta):
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5)


def rmsnorm(x, gamma):
    return F.rms_norm(x, (x.shape[-1],), gamma, 1e-5)


def masked_mean(x, mask):
    m = mask.unsqueeze(-1).to(x.dtype)
    return (x * m).sum(1) / m.sum(1).clamp(min=1)


def im2col(x):
    b, length, c = x.shape
    return F.pad(x, (0, 0, WINDOW - 1, 0)).unfold(1, WINDOW, 1).reshape(b, length, c * WINDOW)


def kl_distill(s, t):
    return 4 * F.kl_div(log_softmax(s / 2), log_softmax(t / 2), log_target=True, reduction="none").sum(-1)


def kd_loss(s, t):
    return 0.5 * (1 - F.cosine_similarity(s, t, dim=-1)) + 0.25 * (s - t).square().mean(-1)


def cross_entropy(x, target):
    return F.cross_entropy(x, target, reduction="none")


def matmul_bias_gelu(x, w, bias):
    return gelu(torch.addmm(bias, x, w))


def lora(x, w, down, up):
    return x @ w + 0.5 * ((x @ down) @ up)


def product(f, transposed=False):
    """A product of the inputs x, w and, if f takes it, a bias."""

    def make(i, m, n, k):
        x = i.values(m, k)
        w = i.values(k, n)
        if transposed:
            w = i.values(n, k)
        bias = i.values(n)
        return forward(f, x, w, bias)

    return make


def linear_grad(run):
    def make(i, m, n, k):
        x, w, bias, dy = i.values(m, k), i.values(n, k), i.values(n), i.values(m, n)
        return run(F.linear, x, w, bias, cotangent=dy)

    return make


def matmul_bias_gelu_grad(i, m, n, k):
    x, w, bias, dy = i.values(m, k), i.values(k, n), i.values(n), i.values(m, n)
    return backward(matmul_bias_gelu, x, w, bias, cotangent=dy)


def layernorm_grad(run):
    return lambda i, r, d: run(layernorm, i.values(r, d), i.values(d), i.values(d), cotangent=i.values(r, d))


def rmsnorm_grad(run):
    return lambda i, r, d: run(rmsnorm, i.values(r, d), i.values(d), cotangent=i.values(r, d))


def targets(i, r, v):
    return i.ids(v, r).long()


def cross_entropy_grad(run):
    def make(i, r, v):
        x, t, dloss = i.values(r, v), targets(i, r, v), i.values32(r)
        return run(cross_entropy, x, t, wrt=[x], cotangent=dloss.to(x.dtype))

    return make


def embedding(i, n, v, d):
    ids = i.ids(v, n)
    return forward(F.embedding, ids, i.values(v, d))


def embedding_backward(i, n, v, d):
    ids, w, dy = i.ids(v, n), i.values(v, d), i.values(n, d)
    return backward(F.embedding, ids, w, wrt=[w], cotangent=dy)


def masked_mean_grad(i, b, length, h):
    x, mask, dy = i.values(b, length, h), i.mask(b, length), i.values(b, h)
    return backward(masked_mean, x, mask, wrt=[x], cotangent=dy)


def optimiser(make, state):
    """A step of an optimiser; its results are the weights and its state."""

    def prepare(i, *d):
        g, w = i.values(*d), i.values(*d)
        p = torch.nn.Parameter(w)
        p.grad = g
        opt = make([p])

        def call():
            opt.step()
            return [p.detach(), *(opt.state[p][s] for s in state)]

        return call

    return prepare


OPS = {
    "add": binary(torch.add),
    "sub": binary(torch.sub),
    "mul": binary(torch.mul),
    "div": binary(torch.div),
    "maximum": binary(torch.maximum),
    "minimum": binary(torch.minimum),
    "scale": unary(lambda x: x * 1.5),
    "add_scalar": unary(lambda x: x + 1.5),
    "neg": unary(torch.neg),
    "abs": unary(torch.abs),
    "exp": unary(torch.exp),
    "log": positive(torch.log),
    "sqrt": positive(torch.sqrt),
    "rsqrt": positive(torch.rsqrt),
    "square": unary(torch.square),
    "tanh": unary(torch.tanh),
    "sigmoid": unary(torch.sigmoid),
    "silu": unary(F.silu),
    "relu": unary(F.relu),
    "erf": unary(torch.erf),
    "pow": positive(lambda x: x**1.7),
    "clamp": unary(lambda x: x.clamp(-1, 1)),
    "gelu": unary(gelu),
    "gelu_erf": unary(F.gelu),
    "swiglu": binary(swiglu),
    "residual_add": binary(torch.add),
    "bias_add": lambda i, r, d: forward(torch.add, i.values(r, d), i.values(d)),
    "dropout": unary(lambda x: F.dropout(x, DROPOUT)),
    "copy": unary(torch.clone),
    "cast_to_bf16": unary(lambda x: x.to(torch.bfloat16)),
    "fill": lambda i, *d: forward(lambda: torch.full(d, 1.5)),
    "transpose": unary(lambda x: x.t().contiguous()),
    "concat": lambda i, r, d: forward(lambda a, b: torch.cat((a, b), -1), i.values(r, d // 2), i.values(r, d // 2)),
    "slice": unary(lambda x: x[:, 3 : x.shape[1] - 5].contiguous()),
    "pad": unary(lambda x: F.pad(x, (0, 0, 3, 5))),
    "add_broadcast_2d_3d": lambda i, b, n, d: forward(lambda y, a: y + a[:, None], i.values(b, n, d), i.values(b, d)),
    "mask_zero": lambda i, b, n, d: forward(
        lambda y, m: y.masked_fill(m[..., None] == 0, 0), i.values(b, n, d), i.mask(b, n)
    ),
    "im2col": unary(im2col),
    "embedding": embedding,
    "softmax": unary(softmax),
    "log_softmax": unary(log_softmax),
    "layernorm": lambda i, r, d: forward(layernorm, i.values(r, d), i.values(d), i.values(d)),
    "rmsnorm": lambda i, r, d: forward(rmsnorm, i.values(r, d), i.values(d)),
    "l2_normalize": unary(lambda x: F.normalize(x, dim=-1)),
    "row_sum": unary(lambda x: x.sum(-1)),
    "row_mean": unary(lambda x: x.mean(-1)),
    "row_max": unary(lambda x: x.amax(-1)),
    "argmax": unary(lambda x: x.argmax(-1)),
    "cosine_similarity": binary(lambda a, b: F.cosine_similarity(a, b, dim=-1)),
    "cross_entropy": lambda i, r, v: forward(cross_entropy, i.values(r, v), targets(i, r, v)),
    "kl_distill": of_values(kl_distill),
    "kd_loss": of_values(kd_loss),
    "sum": positive(torch.sum),
    "mean": positive(torch.mean),
    "max": positive(torch.max),
    "sum_sq": positive(lambda x: x.square().sum()),
    "count_nonfinite": positive(lambda x: (~torch.isfinite(x)).sum()),
    "dot": of_positive(lambda a, b: torch.dot(a.flatten(), b.flatten())),
    "bias_grad": unary(lambda dy: dy.sum(0)),
    "masked_mean": lambda i, b, n, h: forward(masked_mean, i.values(b, n, h), i.mask(b, n)),
    "matmul_nn": product(lambda x, w, _: x @ w),
    "matmul_nt": product(lambda x, w, _: x @ w.t(), transposed=True),
    "matmul_tn": lambda i, m, n, k: forward(lambda x, w: x.t() @ w, i.values(k, m), i.values(k, n)),
    "matmul_bias": product(lambda x, w, bias: torch.addmm(bias, x, w)),
    "linear": product(F.linear, transposed=True),
    "matmul_bias_gelu": product(matmul_bias_gelu),
    "gelu_matmul_bias": product(lambda x, w, bias: torch.addmm(bias, gelu(x), w)),
    "lora": lambda i, m, n, k: forward(lora, i.values(m, k), i.values(k, n), i.values(k, RANK), i.values(RANK, n)),
    "sgd": optimiser(lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9, fused=True), ["momentum_buffer"]),
    "adam": optimiser(lambda p: torch.optim.Adam(p, lr=1e-3, fused=True), ["exp_avg", "exp_avg_sq"]),
    "adamw": optimiser(lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01, fused=True), ["exp_avg", "exp_avg_sq"]),
    "gelu_grad": unary_grad(gelu),
    "gelu_erf_grad": unary_grad(F.gelu),
    "silu_grad": unary_grad(F.silu),
    "relu_grad": unary_grad(F.relu),
    "tanh_grad": unary_grad(torch.tanh),
    "sigmoid_grad": unary_grad(torch.sigmoid),
    "mul_grad": binary_grad(torch.mul),
    "swiglu_grad": binary_grad(swiglu),
    "scale_grad": unary_grad(lambda x: x * 1.5),
    "softmax_grad": unary_grad(softmax),
    "log_softmax_grad": unary_grad(log_softmax),
    "layernorm_grad": layernorm_grad(backward),
    "rmsnorm_grad": rmsnorm_grad(backward),
    "cross_entropy_grad": cross_entropy_grad(backward),
    "masked_mean_grad": masked_mean_grad,
    "embedding_backward": embedding_backward,
    "col2im": lambda i, b, n, c: backward(im2col, i.values(b, n, c), cotangent=i.values(b, n, c * WINDOW)),
    "matmul_grad": lambda i, m, n, k: backward(
        torch.matmul, i.values(m, k), i.values(k, n), cotangent=i.values(m, n)
    ),
    "linear_grad": linear_grad(backward),
    "matmul_bias_gelu_grad": matmul_bias_gelu_grad,
    "gelu and gradient": unary_grad(gelu, both),
    "tanh and gradient": unary_grad(torch.tanh, both),
    "softmax and gradient": unary_grad(softmax, both),
    "swiglu and gradient": binary_grad(swiglu, both),
    "layernorm and gradient": layernorm_grad(both),
    "rmsnorm and gradient": rmsnorm_grad(both),
    "cross_entropy and gradient": cross_entropy_grad(both),
    "linear and gradient": linear_grad(both),
}
