"""The character model of examples/charlm in PyTorch: the same sizes, starting weights
of the same distributions, batches, schedule and optimiser, all in float32.

    python3 charlm.py TEXT [STEPS] [cuda]

trains for a moment and prints the number of weights and the losses.
"""
import math
import sys
import time

import numpy
import torch
import torch.nn.functional as F

CONTEXT, EMBED, HIDDEN = 16, 32, 512
BATCH, STEPS, PEAK, WARMUP, DECAY = 256, 6000, 2e-3, 200, 0.01


def corpus(path):
    """The part of a text that is learnt from, as numbers of characters, and how many
    characters there are."""
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    chars = sorted(set(text))
    number = {c: i for i, c in enumerate(chars)}
    ids = numpy.array([number[c] for c in text], dtype=numpy.int32)
    return ids[: len(ids) - len(ids) // 10], len(chars)


def rate(step):
    """The learning rate of a step, from 1."""
    if step < WARMUP:
        return PEAK * step / WARMUP
    x = (step - WARMUP) / (STEPS - WARMUP)
    return PEAK * (0.02 + 0.98 * (1 + math.cos(math.pi * x)) / 2)


def weights(vocab, device):
    """embed, gamma, beta, w1, b1, w2, b2"""
    wide = CONTEXT * EMBED
    made = [
        torch.randn(vocab, EMBED),
        torch.ones(wide), torch.zeros(wide),
        torch.randn(wide, HIDDEN) / math.sqrt(wide), torch.zeros(HIDDEN),
        torch.randn(HIDDEN, vocab) / math.sqrt(HIDDEN), torch.zeros(vocab),
    ]
    return [w.to(device).requires_grad_() for w in made]


def loss(embed, gamma, beta, w1, b1, w2, b2, ids, targets):
    """The mean cross entropy of ids[BATCH, CONTEXT] and targets[BATCH]."""
    x = F.embedding(ids, embed).flatten(1)
    x = F.layer_norm(x, gamma.shape, gamma, beta)
    h = F.gelu(torch.addmm(b1, x, w1), approximate="tanh")
    return F.cross_entropy(torch.addmm(b2, h, w2), targets)


class Trainer:
    """A step draws a batch on the host, copies it to the device, trains on it and
    reads its loss back, as ours does."""

    def __init__(self, text, vocab, device, compiled=None, made=None):
        self.text, self.device = text, device
        self.p = weights(vocab, device) if made is None else made
        self.random = numpy.random.default_rng(1)
        self.loss = loss if compiled is None else torch.compile(loss, **compiled)
        decayed = [self.p[3], self.p[5]]
        others = [self.p[i] for i in (0, 1, 2, 4, 6)]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}],
            betas=(0.9, 0.99), eps=1e-8, fused=True)

    def draw(self):
        at = self.random.integers(len(self.text) - CONTEXT, size=BATCH)
        return self.text[at[:, None] + numpy.arange(CONTEXT + 1)]

    def step(self, n, windows=None):
        if windows is None:
            windows = self.draw()
        windows = torch.from_numpy(windows.astype(numpy.int64))
        ids = windows[:, :CONTEXT].contiguous().to(self.device)
        targets = windows[:, CONTEXT].contiguous().to(self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = rate(n)
        torch.compiler.cudagraph_mark_step_begin()
        value = self.loss(*self.p, ids, targets)
        value.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return value.item()


def measure(path, device, compiled=None, warm=300, steps=4000):
    """Steps per second, and the mean loss of the last hundred steps."""
    text, vocab = corpus(path)
    trainer = Trainer(text, vocab, device, compiled)
    for n in range(1, warm + 1):
        trainer.step(n)
    start = time.perf_counter()
    losses = [trainer.step(n) for n in range(warm + 1, warm + steps + 1)]
    took = time.perf_counter() - start
    return steps / took, sum(losses[-100:]) / len(losses[-100:])


if __name__ == "__main__":
    text, vocab = corpus(sys.argv[1])
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    trainer = Trainer(text, vocab, "cuda" if "cuda" in sys.argv[3:] else "cpu")
    print(sum(p.numel() for p in trainer.p), "weights,", vocab, "characters")
    print(" ".join(f"{trainer.step(n):.4f}" for n in range(1, steps + 1)))
