"""The models of main.go in PyTorch:

    models.py SHAPE WEIGHTS THREADS

SHAPE is JSON, WEIGHTS a file of float32 in the order of our parameters. Requests are
lines of JSON on standard input: {"do": "steps", "n": N} takes steps and answers with their
losses, {"do": "measure", "seconds": S} with the shortest time of one.

A convolution is Conv1d, which wants channels before positions; of the ways tried (the
last convolution as a linear layer, windows laid out as rows) it is the fastest here.
"""

import gc
import json
import sys
from time import perf_counter

import numpy
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.norm = nn.LayerNorm(c["Width"])
        self.conv1 = nn.Conv1d(c["Width"], c["Hidden"], c["Kernel"], dilation=dilation)
        self.conv2 = nn.Conv1d(c["Hidden"], c["Width"], 1)
        self.pad = dilation * (c["Kernel"] - 1)

    def forward(self, x):
        h = F.pad(self.norm(x).transpose(1, 2), (self.pad, 0))
        h = self.conv2(F.gelu(self.conv1(h), approximate="tanh"))
        return x + h.transpose(1, 2)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        if c["Vocab"]:
            self.embedding = nn.Embedding(c["Vocab"], c["Width"])
        self.blocks = nn.Sequential(*(Block(c, d) for d in c["Dilations"]))
        if c["Vocab"]:
            self.out = nn.Linear(c["Width"], c["Vocab"])


def texts(c, start):
    i = numpy.arange(c["Batch"])[:, None]
    k = numpy.arange(c["Length"])[None] + start
    return torch.tensor((i * i + 7 * k + k * k // 5) % c["Vocab"])


def loss_of(c, m):
    if c["Vocab"]:
        ids, targets = texts(c, 0), texts(c, 1)
        return lambda: F.cross_entropy(m.out(m.blocks(m.embedding(ids))).flatten(0, 1), targets.flatten())
    n = c["Batch"] * c["Length"] * c["Width"]
    x = torch.tensor(numpy.arange(n) % 1013 % 17 / 8 - 1, dtype=torch.float32).reshape(c["Batch"], c["Length"], c["Width"])
    return lambda: m.blocks(x).square().mean()


def main():
    c = json.loads(sys.argv[1])
    torch.set_num_threads(int(sys.argv[3]))
    m = Model(c)
    values, at = numpy.fromfile(sys.argv[2], dtype="<f4"), 0
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(torch.from_numpy(values[at : at + p.numel()]).reshape(p.shape))
            at += p.numel()
    assert at == len(values), f"{at} weights, {len(values)} given"
    loss = loss_of(c, m)
    optimizer = torch.optim.AdamW(m.parameters(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        v = loss()
        v.backward()
        optimizer.step()
        return v.item()

    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "steps":
            print(json.dumps({"losses": [step() for _ in range(request["n"])]}), flush=True)
            continue
        gc.disable()
        best, end = float("inf"), perf_counter() + request["seconds"]
        while perf_counter() < end:
            start = perf_counter()
            step()
            best = min(best, perf_counter() - start)
        gc.enable()
        print(json.dumps({"best": best}), flush=True)


main()
