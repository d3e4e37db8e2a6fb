"""Runs what `bench card` measures in PyTorch, eager and compiled, and prints both beside the
share of the copy bandwidth of the card (matrix products: TFLOP/s). Then it trains the
character model of examples/charlm on both sides, where the program charlm lies beside
bench.

    python3 beside.py BENCH [TEXT]
"""
import json
import os
import re
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

import charlm

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


def layernorm_backward(dy, x, mean, rstd, gamma):
    """The gradients of a layer normalisation, for torch.compile to fuse: dx, dgamma, dbeta."""
    d, n = dy.float(), (x.float() - mean) * rstd
    g = d * gamma.float()
    dx = rstd * (g - g.mean(-1, keepdim=True) - n * (g * n).mean(-1, keepdim=True))
    return dx.to(x.dtype), (d * n).sum(0).to(x.dtype), d.sum(0).to(x.dtype)


def layernorm_backward_eager(dy, x, mean, rstd, gamma):
    return torch.ops.aten.native_layer_norm_backward(dy, x, gamma.shape, mean, rstd, gamma, gamma, [True, True, True])


def cases(dtype):
    """Name, the function for eager, that for torch.compile, and their arguments."""
    r = lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype)
    x, y, gamma, beta = r(ROWS, COLS), r(ROWS, COLS), r(COLS), r(COLS)
    ids = torch.randint(CLASSES, (ROWS,), device="cuda")
    table, logits, w, bias = r(CLASSES, COLS), r(4096, CLASSES), r(4096, 4096), r(4096)
    gelu = lambda t: F.gelu(t, approximate="tanh")
    both = lambda name, f, *args: (name, f, f, args)
    yield both("gelu", gelu, x)
    yield both("add", lambda a, b: a + b, x, y)
    yield both("softmax", lambda t: F.softmax(t, -1), x)
    yield both("layernorm", lambda t, g, b: F.layer_norm(t, (COLS,), g, b), x, gamma, beta)
    yield both("layernorm gelu", lambda t, g, b: gelu(F.layer_norm(t, (COLS,), g, b)), x, gamma, beta)
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, (COLS,), gamma, beta, 1e-5)
    yield "layernorm backward", layernorm_backward_eager, layernorm_backward, (y, x, mean, rstd, gamma)
    yield both("embedding", lambda i, t: F.embedding(i, t), ids, table)
    yield both("cross entropy", lambda l, i: F.cross_entropy(l, i, reduction="none"), logits, ids[:4096])
    yield both("matmul bias gelu 4096", lambda a, w, b: gelu(F.linear(a, w, b)), x[:4096].contiguous(), w, bias)


def ours_per_second(program, text):
    """Steps per second of examples/charlm: what a longer training takes beyond a short
    one, so that opening the card and compiling kernels do not count."""
    def run(steps):
        out = subprocess.run([program, "-cuda", "-data", text, "-steps", str(steps)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
        held, chars = re.search(r"^held-out: (\S+) nats/char .* (\d+) chars/s$", out, re.M).groups()
        return steps * charlm.BATCH / float(chars), held
    run(1)
    short, long = 1000, 5000
    before, _ = run(short)
    after, held = run(long)
    return (long - short) / (after - before), held


def measured(command):
    """What bench prints, by operation and type."""
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    return {(l["op"], l["type"]): l for l in map(json.loads, lines)}


def models(program, text):
    print("character model, float32:")
    rate, held = ours_per_second(program, text)
    print(f"{'ours':28}{rate:9.0f} steps/s, held out {held} nats/char after 5000 steps")
    for name, compiled in (("PyTorch eager", None), ("PyTorch compiled", {}), ("PyTorch compiled, graphs", {"mode": "reduce-overhead"})):
        rate, loss = charlm.measure(text, "cuda", compiled)
        print(f"{name:28}{rate:9.0f} steps/s, training loss {loss:.2f} at the end")


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    a = torch.empty(1 << 28, device="cuda", dtype=torch.float32)
    b = torch.empty_like(a)
    copy = 2 * a.numel() * 4 / median(lambda: b.copy_(a)) / 1e6
    print(f"copy: {copy:.0f} GB/s")
    del a, b
    torch.cuda.empty_cache()
    ours, generated = measured([sys.argv[1], "card"]), measured([sys.argv[1], "card", "-generated"])
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
        for op, f, g, args in cases(dtype):
            l = ours[op, name]
            eager = median(lambda: f(*args))
            g = torch.compile(g)
            compiled = median(lambda: g(*args))
            if l["flops"]:
                rate = lambda ms: f"{l['flops'] / ms / 1e9:.0f}T"
            else:
                rate = lambda ms: f"{100 * l['bytes'] / ms / 1e6 / copy:.0f}%"
            print(f"{op + ' ' + name:28}{l['ms']:9.3f}{rate(l['ms']):>8}{rate(eager):>8}{rate(compiled):>9}")
            if l["flops"]:
                l = generated[op, name]
                print(f"{'  by a generated kernel':28}{l['ms']:9.3f}{rate(l['ms']):>8}")
        torch.cuda.empty_cache()
    program = os.path.join(os.path.dirname(sys.argv[1]), "charlm")
    if os.path.exists(program):
        models(program, sys.argv[2] if len(sys.argv) > 2 else "data/moby-dick.txt")


if __name__ == "__main__":
    main()
