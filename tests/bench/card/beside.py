"""Runs what card measures in PyTorch, eager and compiled, and prints both beside the
share of the copy bandwidth of the card (matrix products: TFLOP/s).

    python3 beside.py BINARY
"""
import json
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

ROWS, COLS, CLASSES = 16384, 4096, 32768


def median(f, runs=21):
    for _ in range(3):
        f()
    times = []
    for _ in range(runs):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        f()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def cases(dtype):
    r = lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype)
    x, y, gamma, beta = r(ROWS, COLS), r(ROWS, COLS), r(COLS), r(COLS)
    ids = torch.randint(CLASSES, (ROWS,), device="cuda")
    table, logits, w, bias = r(CLASSES, COLS), r(4096, CLASSES), r(4096, 4096), r(4096)
    gelu = lambda t: F.gelu(t, approximate="tanh")
    yield "gelu", gelu, (x,)
    yield "add", lambda a, b: a + b, (x, y)
    yield "softmax", lambda t: F.softmax(t, -1), (x,)
    yield "layernorm", lambda t, g, b: F.layer_norm(t, (COLS,), g, b), (x, gamma, beta)
    xg, gg, bg = x.clone().requires_grad_(), gamma.clone().requires_grad_(), beta.clone().requires_grad_()
    z = F.layer_norm(xg, (COLS,), gg, bg)
    yield "layernorm backward", lambda: torch.autograd.grad(z, (xg, gg, bg), y, retain_graph=True), None
    yield "embedding", lambda i, t: F.embedding(i, t), (ids, table)
    yield "cross entropy", lambda l, i: F.cross_entropy(l, i, reduction="none"), (logits, ids[:4096])
    yield "matmul bias gelu 4096", lambda a, w, b: gelu(F.linear(a, w, b)), (x[:4096].contiguous(), w, bias)


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    a = torch.empty(1 << 28, device="cuda", dtype=torch.float32)
    b = torch.empty_like(a)
    copy = 2 * a.numel() * 4 / median(lambda: b.copy_(a)) / 1e6
    print(f"copy: {copy:.0f} GB/s")
    del a, b
    torch.cuda.empty_cache()
    ours = {}
    for text in subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        l = json.loads(text)
        ours[l["op"], l["type"]] = l
    x = torch.zeros(64, device="cuda")

    def chain():
        y = x
        for _ in range(1000):
            y = y + x
    for what in ("all", "sync"):
        l = ours["1000 adds of 64, " + what, "f32"]
        print(f"1000 adds of 64, {what}: {l['ms']:.3f} us an op; PyTorch eager {median(chain):.2f}")
    print(f"{'':28}{'ours ms':>9}{'share':>8}{'eager':>8}{'compiled':>9}")
    for name, dtype in ("f32", torch.float32), ("f16", torch.float16):
        for op, f, args in cases(dtype):
            l = ours[op, name]
            eager = median(lambda: f(*args) if args else f())
            compiled = float("nan")
            if args:
                g = torch.compile(f)
                compiled = median(lambda: g(*args))
            if l["flops"]:
                rate = lambda ms: f"{l['flops'] / ms / 1e9:.0f}T"
            else:
                rate = lambda ms: f"{100 * l['bytes'] / ms / 1e6 / copy:.0f}%"
            print(f"{op + ' ' + name:28}{l['ms']:9.3f}{rate(l['ms']):>8}{rate(eager):>8}{rate(compiled):>9}")
        torch.cuda.empty_cache()


main()
