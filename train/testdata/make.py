"""Golden values of a combined training: PyTorch in float64.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python make.py

writes golden.json beside this file: what each step measures when an encoder and a decoder
that share their last block are trained in turn, two steps of distillation and one of
prediction. Weights, samples and the order of both follow from rules, which golden_test.go
has too. Here a step is one batch; there it is two micro-batches.
"""

import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.set_default_dtype(torch.float64)

VOCAB, WIDTH, HIDDEN, KERNEL, DILATIONS, VECTOR = 13, 8, 12, 3, (1, 2), 6
SAMPLES, ROWS, MICRO, STEPS, TURN = 7, 2, 2, 9, "AAB"
ALPHA, BETA, MAX_NORM, DECAY = 1.5, 4.0, 0.75, 0.1
PEAK, FLOOR, WARMUP = 0.05, 0.005, 2


class Block(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.conv1 = nn.Conv1d(WIDTH, HIDDEN, KERNEL, dilation=dilation)
        self.conv2 = nn.Conv1d(HIDDEN, WIDTH, 1)
        self.pad = dilation * (KERNEL - 1)

    def forward(self, x, mask):
        h = F.pad(self.norm(x).transpose(1, 2), (self.pad, 0))
        h = self.conv2(F.gelu(self.conv1(h), approximate="tanh")).transpose(1, 2)
        return (x + h) * mask[:, :, None]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.blocks = nn.ModuleList(Block(d) for d in DILATIONS)
        self.out = nn.Linear(WIDTH, VECTOR)

    def forward(self, ids, mask):
        x = self.embedding(ids)
        for b in self.blocks:
            x = b(x, mask)
        return self.out((x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True))


class Decoder(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.cond = nn.Linear(VECTOR, WIDTH)
        self.blocks = nn.ModuleList([Block(d) for d in DILATIONS[:-1]] + [last])
        self.out = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids, cond, mask):
        x = self.embedding(ids) + self.cond(cond)[:, None]
        for b in self.blocks:
            x = b(x, mask)
        return self.out(x)


def initialise(params):
    """Gives each parameter the values of the rule, in the precision of the masters."""
    with torch.no_grad():
        for number, (name, p) in enumerate(params):
            i = np.arange(p.numel())
            values = 0.4 * np.sin(1 + 1.3 * number + 0.7 * i) + (1 if name.endswith("norm.weight") else 0)
            p.copy_(torch.tensor(values.astype(np.float32).astype(np.float64).reshape(p.shape)))


def sample(i):
    length = 3 + i * 5 % 7
    ids = [(i * i + 7 * k + k * k // 5) % VOCAB for k in range(length)]
    return ids, np.sin(0.9 * i + 0.5 * np.arange(VECTOR)).astype(np.float32)


def batch(numbers):
    samples = [sample(i) for i in numbers]
    width = max(len(sample(i)[0]) for i in range(SAMPLES))
    ids, mask = np.zeros((len(samples), width), int), np.zeros((len(samples), width))
    for row, (text, _) in enumerate(samples):
        ids[row, : len(text)], mask[row, : len(text)] = text, 1
    return torch.tensor(ids), torch.tensor(mask), torch.tensor(np.array([v for _, v in samples], dtype=np.float64))


def stream():
    """Micro-batches, epoch after epoch."""
    while True:
        for at in range(0, SAMPLES, ROWS):
            yield list(range(at, min(at + ROWS, SAMPLES)))


def rate(step):
    if step < WARMUP:
        return PEAK * step / WARMUP
    if step >= STEPS:
        return FLOOR
    return FLOOR + (PEAK - FLOOR) * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))) / 2


def adamw(m):
    free = [p for n, p in m.named_parameters() if n.endswith("bias") or n.endswith("norm.weight")]
    rest = [p for n, p in m.named_parameters() if not (n.endswith("bias") or n.endswith("norm.weight"))]
    groups = [dict(params=free, weight_decay=0), dict(params=rest, weight_decay=DECAY)]
    return torch.optim.AdamW(groups, lr=1, betas=(0.9, 0.999), eps=1e-8)


def distil(encoder, numbers):
    ids, mask, teacher = batch(numbers)
    student = encoder(ids, mask)
    norms = student.square().sum(1).clamp(min=1e-12).sqrt() * teacher.square().sum(1).clamp(min=1e-12).sqrt()
    cosine, mse = (student * teacher).sum(1) / norms, (student - teacher).square().mean(1)
    loss = (ALPHA * (1 - cosine) + BETA * mse).mean()
    return loss, dict(kd_loss=loss.item(), cosine=cosine.mean().item(), mse=mse.mean().item())


def predict(decoder, numbers):
    ids, mask, vectors = batch(numbers)
    logits = decoder(ids[:, :-1], vectors, mask[:, :-1])
    targets = torch.where(mask[:, 1:] > 0, ids[:, 1:], -100)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    return loss, dict(ce_loss=loss.item())


def main():
    encoder = Encoder()
    decoder = Decoder(encoder.blocks[-1])
    own = [("decoder." + n, p) for n, p in decoder.named_parameters() if not n.startswith(f"blocks.{len(DILATIONS) - 1}.")]
    initialise([("encoder." + n, p) for n, p in encoder.named_parameters()] + own)
    phases = {
        "A": (encoder, adamw(encoder), stream(), distil),
        "B": (decoder, adamw(decoder), stream(), predict),
    }
    steps = []
    for step in range(1, STEPS + 1):
        phase = TURN[(step - 1) % len(TURN)]
        m, optimizer, data, objective = phases[phase]
        loss, values = objective(m, sum((next(data) for _ in range(MICRO)), []))
        optimizer.zero_grad()
        loss.backward()
        norm = torch.sqrt(sum(p.grad.square().sum() for p in m.parameters()))
        for p in m.parameters():
            p.grad *= min(1, MAX_NORM / norm.item())
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.step()
        steps.append(dict(phase=phase, values=dict(values, gradient_norm=norm.item(), rate=rate(step))))
    path = pathlib.Path(__file__).parent / "golden.json"
    path.write_text(json.dumps(dict(torch=torch.__version__, steps=steps), indent=1) + "\n")


main()
