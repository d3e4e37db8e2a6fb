"""The baseline of distillation: ridge regression on bags of words.

    python3 -m venv .venv && .venv/bin/pip install numpy tokenizers
    .venv/bin/python tests/distil/ridge.py

reads data/distil, prints what stands in baseline.txt beside this file, and writes
it there. A sentence is the counts of its words, which are runs of letters and
digits in lower case; the teacher's vector of a sentence is predicted from them.

The counts are taken as they are, and weighted by inverse document frequency with
rows of length 1. The strength of the penalty comes from the training split alone:
a tenth of it, chosen by the seed, is left out, and the penalty with the greatest
mean cosine there is taken for all of it.
"""

import hashlib
import pathlib
import re
import struct
import sys

import numpy as np
import tokenizers

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data" / "distil"
SEED = 1851
KINDS = ["counts", "idf"]
PENALTIES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]


def read(path):
    """Reads EFB1 (docs/formats.md): ids of each sample, and targets [N, D]."""
    data = path.read_bytes()
    magic, count, dim = struct.unpack_from("<4sII", data)
    assert magic == b"EFB1", path
    ids, targets, at = [], np.empty((count, dim), np.float32), 12
    for i in range(count):
        (n,) = struct.unpack_from("<I", data, at)
        ids.append(np.frombuffer(data, "<u4", n, at + 4).tolist())
        targets[i] = np.frombuffer(data, "<f4", dim, at + 4 + 5 * n)
        at += 4 + 5 * n + 4 * dim
    assert at == len(data), path
    return ids, targets.astype(np.float64)


def words(texts):
    return [re.findall(r"[^\W_]+", t.lower()) for t in texts]


def counts(bags, vocabulary):
    """Counts [N, V] of the words that the vocabulary has."""
    x = np.zeros((len(bags), len(vocabulary)))
    for row, bag in zip(x, bags):
        for word in bag:
            if word in vocabulary:
                row[vocabulary[word]] += 1
    return x


def features(kind, train, other):
    """Weights counts by what the training rows know. Rows of idf have length 1."""
    if kind == "counts":
        return train, other
    idf = np.log((1 + len(train)) / (1 + (train > 0).sum(0))) + 1
    scaled = [x * idf for x in (train, other)]
    return [x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12) for x in scaled]


def ridge(x, y, other):
    """Predictions for other rows, for each penalty. The intercept bears none.

    With X and Y centred, W = Xᵀ(XXᵀ + λI)⁻¹Y; one eigendecomposition serves all λ.
    """
    mean, offset = x.mean(0), y.mean(0)
    x, other = x - mean, other - mean
    values, vectors = np.linalg.eigh(x @ x.T)
    left, right = other @ x.T @ vectors, vectors.T @ (y - offset)
    return [offset + (left / (np.maximum(values, 0) + p)) @ right for p in PENALTIES]


def unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)


def cosine(predicted, target):
    return float((unit(predicted) * unit(target)).sum(1).mean())


def retrieval(predicted, target, k):
    """The part of rows whose own target is among the k that are nearest by cosine."""
    scores = unit(predicted) @ unit(target).T
    own = np.diag(scores)[:, None]
    return float(((scores > own).sum(1) < k).mean())


def choose(kind, x, y):
    """The penalty with the greatest mean cosine on a tenth of the training split."""
    order = np.random.default_rng(SEED).permutation(len(x))
    inner, outer = order[: len(x) // 10], order[len(x) // 10 :]
    fitted, tested = features(kind, x[outer], x[inner])
    return int(np.argmax([cosine(p, y[inner]) for p in ridge(fitted, y[outer], tested)]))


def main():
    tokenizer = tokenizers.Tokenizer.from_file(str(DATA / "tokenizer.json"))
    (ids, y), (held_ids, held) = read(DATA / "train.efb"), read(DATA / "validation.efb")
    bags = words(tokenizer.decode_batch(ids))
    vocabulary = {w: i for i, w in enumerate(sorted({w for bag in bags for w in bag}))}
    x, other = counts(bags, vocabulary), counts(words(tokenizer.decode_batch(held_ids)), vocabulary)

    predictions = {"mean of training": np.repeat(y.mean(0)[None], len(held), 0)}
    for kind in KINDS:
        penalty = choose(kind, x, y)
        fitted, tested = features(kind, x, other)
        predictions[f"ridge, {kind}, penalty {PENALTIES[penalty]}"] = ridge(fitted, y, tested)[penalty]

    lines = [
        "$ python tests/distil/ridge.py",
        f"{len(y)} sentences to train with, {len(held)} held out, {len(vocabulary)} words, targets of {y.shape[1]} elements",
        *[f"{split}.efb: SHA-256 {hashlib.sha256((DATA / f'{split}.efb').read_bytes()).hexdigest()}" for split in ["train", "validation"]],
        "",
        f"{'':<28}  cosine  retrieval@1  retrieval@10",
    ]
    for name, p in predictions.items():
        lines.append(f"{name:<28}  {cosine(p, held):6.4f}  {retrieval(p, held, 1):11.3f}  {retrieval(p, held, 10):12.3f}")
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    (HERE / "baseline.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
