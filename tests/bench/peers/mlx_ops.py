"""The cases in MLX on the CPU, as its users write them: array functions,
mx.fast, mx.vjp, and an mx.eval for each call."""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

from inputs import Inputs

VERSION = mx.__version__
DTYPES = {"f32": mx.float32, "bf16": mx.bfloat16, "f16": mx.float16}
DROPOUT = 0.1
WINDOW = 3
RANK = 16


def set_threads(n):
    """The threads of the BLAS come from the environment; the rest has one."""
    mx.set_default_device(mx.cpu)


def prepare(op, dtype, dims):
    """A function that computes the case once and returns its results."""
    make = OPS.get(op)
    if make is None:
        return None
    inputs = Inputs(mx.array, lambda a: mx.array(a).astype(DTYPES[dtype]))
    return make(inputs, *dims)


def magnitudes(results):
    return [mx.mean(mx.mean(mx.abs(r.astype(mx.float32)), axis=-1)).item() if r.ndim > 0 else abs(r.item()) for r in results]


def forward(f, *args):
    mx.eval(*args)

    def call():
        y = f(*args)
        mx.eval(y)
        return [y]

    return call


def both(f, *args, cotangent=None):
    """f and its gradient."""
    mx.eval(*args, cotangent)

    def call():
        y, grads = mx.vjp(f, args, [cotangent])
        mx.eval(*y, *grads)
        return [*y, *grads]

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


def unary_both(f):
    return lambda i, *d: both(f, i.values(*d), cotangent=i.values(*d))


def softmax(x):
    return mx.softmax(x, axis=-1, precise=True)  # accumulates in f32


def swiglu(a, b):
    return nn.silu(a) * b


def layernorm(x, gamma, beta):
    return mx.fast.layer_norm(x, gamma, beta, 1e-5)


def rmsnorm(x, gamma):
    return mx.fast.rms_norm(x, gamma, 1e-5)


def masked_mean(x, mask):
    m = mask[..., None].astype(x.dtype)
    return (x * m).sum(1) / mx.maximum(m.sum(1), 1)


def im2col(x):
    b, length, c = x.shape
    p = mx.pad(x, ((0, 0), (WINDOW - 1, 0), (0, 0)))
    return mx.stack([p[:, k : k + length] for k in range(WINDOW)], axis=-1).reshape(b, length, c * WINDOW)


def kl_distill(s, t):
    return 4 * nn.losses.kl_div_loss(nn.log_softmax(s / 2), nn.log_softmax(t / 2), axis=-1, reduction="none")


def kd_loss(s, t):
    return 0.5 * (1 - nn.losses.cosine_similarity_loss(s, t, axis=-1)) + 0.25 * mx.square(s - t).mean(-1)


def cross_entropy(x, target):
    return nn.losses.cross_entropy(x, target)


def matmul_bias_gelu(x, w, bias):
    return nn.gelu_approx(mx.addmm(bias, x, w))


def lora(x, w, down, up):
    return x @ w + 0.5 * ((x @ down) @ up)


def linear(x, w, bias):
    return mx.addmm(bias, x, w.T)


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


def linear_both(i, m, n, k):
    x, w, bias, dy = i.values(m, k), i.values(n, k), i.values(n), i.values(m, n)
    return both(linear, x, w, bias, cotangent=dy)


def cross_entropy_both(i, r, v):
    x, t, dloss = i.values(r, v), i.ids(v, r), i.values32(r)
    return both(partial(cross_entropy, target=t), x, cotangent=dloss.astype(x.dtype))


def embedding(i, n, v, d):
    ids = i.ids(v, n)
    return forward(lambda ids, w: w[ids], ids, i.values(v, d))


def optimiser(make, state):
    """A step of an optimiser; its results are the weights and its state."""

    def prepare(i, *d):
        g, w = i.values(*d), i.values(*d)
        opt = make()
        params = {"w": w}
        mx.eval(g, w)

        def call():
            params.update(opt.apply_gradients({"w": g}, params))
            results = [params["w"], *(opt.state["w"][s] for s in state)]
            mx.eval(results, opt.state)
            return results

        return call

    return prepare


OPS = {
    "add": binary(mx.add),
    "sub": binary(mx.subtract),
    "mul": binary(mx.multiply),
    "div": binary(mx.divide),
    "maximum": binary(mx.maximum),
    "minimum": binary(mx.minimum),
    "scale": unary(lambda x: x * 1.5),
    "add_scalar": unary(lambda x: x + 1.5),
    "neg": unary(mx.negative),
    "abs": unary(mx.abs),
    "exp": unary(mx.exp),
    "log": positive(mx.log),
    "sqrt": positive(mx.sqrt),
    "rsqrt": positive(mx.rsqrt),
    "square": unary(mx.square),
    "tanh": unary(mx.tanh),
    "sigmoid": unary(mx.sigmoid),
    "silu": unary(nn.silu),
    "relu": unary(nn.relu),
    "erf": unary(mx.erf),
    "pow": positive(lambda x: x**1.7),
    "clamp": unary(lambda x: mx.clip(x, -1, 1)),
    "gelu": unary(nn.gelu_approx),
    "gelu_erf": unary(nn.gelu),
    "swiglu": binary(swiglu),
    "residual_add": binary(mx.add),
    "bias_add": lambda i, r, d: forward(mx.add, i.values(r, d), i.values(d)),
    "dropout": unary(nn.Dropout(DROPOUT)),
    "copy": unary(lambda x: mx.contiguous(mx.array(x))),
    "cast_to_bf16": unary(lambda x: x.astype(mx.bfloat16)),
    "fill": lambda i, *d: forward(lambda: mx.contiguous(mx.full(d, 1.5))),
    "transpose": unary(lambda x: mx.contiguous(x.T)),
    "concat": lambda i, r, d: forward(
        lambda a, b: mx.concatenate((a, b), axis=-1), i.values(r, d // 2), i.values(r, d // 2)
    ),
    "slice": unary(lambda x: mx.contiguous(x[:, 3 : x.shape[1] - 5])),
    "pad": unary(lambda x: mx.pad(x, ((0, 0), (3, 5), (0, 0)))),
    "add_broadcast_2d_3d": lambda i, b, n, d: forward(lambda y, a: y + a[:, None], i.values(b, n, d), i.values(b, d)),
    "mask_zero": lambda i, b, n, d: forward(
        lambda y, m: mx.where(m[..., None] != 0, y, 0), i.values(b, n, d), i.mask(b, n)
    ),
    "im2col": unary(im2col),
    "embedding": embedding,
    "softmax": unary(softmax),
    "log_softmax": unary(nn.log_softmax),
    "layernorm": lambda i, r, d: forward(layernorm, i.values(r, d), i.values(d), i.values(d)),
    "rmsnorm": lambda i, r, d: forward(rmsnorm, i.values(r, d), i.values(d)),
    "l2_normalize": unary(lambda x: x / mx.maximum(mx.linalg.norm(x, axis=-1, keepdims=True), 1e-12)),
    "row_sum": unary(lambda x: x.sum(-1)),
    "row_mean": unary(lambda x: x.mean(-1)),
    "row_max": unary(lambda x: x.max(-1)),
    "argmax": unary(lambda x: x.argmax(-1)),
    "cosine_similarity": binary(lambda a, b: nn.losses.cosine_similarity_loss(a, b, axis=-1)),
    "cross_entropy": lambda i, r, v: forward(cross_entropy, i.values(r, v), i.ids(v, r)),
    "kl_distill": of_values(kl_distill),
    "kd_loss": of_values(kd_loss),
    "sum": positive(mx.sum),
    "mean": positive(mx.mean),
    "max": positive(mx.max),
    "sum_sq": positive(lambda x: mx.square(x).sum()),
    "count_nonfinite": positive(lambda x: (~mx.isfinite(x)).sum()),
    "dot": of_positive(lambda a, b: mx.inner(a.flatten(), b.flatten())),
    "bias_grad": unary(lambda dy: dy.sum(0)),
    "masked_mean": lambda i, b, n, h: forward(masked_mean, i.values(b, n, h), i.mask(b, n)),
    "matmul_nn": product(lambda x, w, _: x @ w),
    "matmul_nt": product(lambda x, w, _: x @ w.T, transposed=True),
    "matmul_tn": lambda i, m, n, k: forward(lambda x, w: x.T @ w, i.values(k, m), i.values(k, n)),
    "matmul_bias": product(lambda x, w, bias: mx.addmm(bias, x, w)),
    "linear": product(linear, transposed=True),
    "matmul_bias_gelu": product(matmul_bias_gelu),
    "gelu_matmul_bias": product(lambda x, w, bias: mx.addmm(bias, nn.gelu_approx(x), w)),
    "lora": lambda i, m, n, k: forward(lora, i.values(m, k), i.values(k, n), i.values(k, RANK), i.values(RANK, n)),
    "sgd": optimiser(lambda: optim.SGD(1e-3, momentum=0.9), ["v"]),
    "adam": optimiser(lambda: optim.Adam(1e-3, bias_correction=True), ["m", "v"]),
    "adamw": optimiser(lambda: optim.AdamW(1e-3, weight_decay=0.01, bias_correction=True), ["m", "v"]),
    "gelu and gradient": unary_both(nn.gelu_approx),
    "tanh and gradient": unary_both(mx.tanh),
    "softmax and gradient": unary_both(softmax),
    "swiglu and gradient": lambda i, *d: both(swiglu, i.values(*d), i.positive(*d), cotangent=i.values(*d)),
    "layernorm and gradient": lambda i, r, d: both(
        layernorm, i.values(r, d), i.values(d), i.values(d), cotangent=i.values(r, d)
    ),
    "rmsnorm and gradient": lambda i, r, d: both(rmsnorm, i.values(r, d), i.values(d), cotangent=i.values(r, d)),
    "cross_entropy and gradient": cross_entropy_both,
    "linear and gradient": linear_both,
}
