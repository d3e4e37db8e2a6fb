package tokenizer

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/internal/pytest"
)

// theirs defines make(size), a tokenizer of Hugging Face's like those of this
// package, not trained yet.
const theirs = `
import json, sys, time
from tokenizers import Tokenizer, models, trainers, pre_tokenizers, decoders
def make(size):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    return t, trainers.BpeTrainer(vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()
`

// oddTexts returns texts of fragments that words are cut at.
func oddTexts() []string {
	fragments := []string{
		" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u3000", "\u0085", "'", "'s", "'ll", "'S", "’s", "a", "Zé", "ß", "0", "٣", "½", "Ⅷ",
		"!", "...", "—", "_", "€", "日本", "ü", "e\u0301", "👍🏽", "\u200b", "\u200d", "\ufeff", "\x00", "\x7f", "whale", "The", "ing", "1851",
	}
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 2000)
	for i := range texts {
		for range 1 + r.IntN(12) {
			texts[i] += fragments[r.IntN(len(fragments))]
		}
	}
	return texts
}

// Hugging Face's tokenizers, trained on the same text, have the same tokens and
// merges; they load the file, give the same ids, and the text comes back.
func TestPython(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	texts := append(oddTexts(), readBook(t))
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	k := train(t, 5000, readBook(t), strings.Join(texts[:2000], "\n"))
	ours := filepath.Join(dir, "ours.json")
	if err := k.Save(ours); err != nil {
		t.Fatal(err)
	}
	odd := write("odd.txt", []byte(strings.Join(texts[:2000], "\n")))
	got := pytest.Run(t, theirs+`
ours, theirs, book, odd, texts = sys.argv[1:]
t, trainer = make(5000)
t.train_from_iterator([read(book), read(odd)], trainer)
t.save(theirs)
u = Tokenizer.from_file(ours)
a, b = json.loads(t.to_str())["model"], json.loads(u.to_str())["model"]
assert a["vocab"] == b["vocab"], "other tokens"
assert a["merges"] == b["merges"], "other merges"
ids = []
for text in json.load(open(texts)):
    ids.append(u.encode(text).ids)
    assert u.decode(ids[-1]) == text, text
print(json.dumps(ids))
`, ours, filepath.Join(dir, "theirs.json"), book, odd, write("texts.json", list))
	var ids [][]int32
	if err := json.Unmarshal([]byte(got), &ids); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(filepath.Join(dir, "theirs.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		for name, k := range map[string]*Tokenizer{"ours": k, "theirs": loaded} {
			if got := k.Encode(text); !slices.Equal(got, ids[i]) {
				t.Fatalf("%s: %.80q has the ids %v, Python's are %v", name, text, got, ids[i])
			}
		}
	}
}

// The figures are megabytes of text a second, and how many times those of Hugging
// Face's tokenizers on one thread in the same run, the best of three.
func BenchmarkBook(b *testing.B) {
	text := readBook(b)
	const size = 8000
	var theirTimes struct{ Train, Encode float64 }
	if err := json.Unmarshal([]byte(pytest.Run(b, `
import os
os.environ["RAYON_NUM_THREADS"] = "1"
`+theirs+`
text = read(sys.argv[1])
best = {"Train": 1e9, "Encode": 1e9}
for _ in range(3):
    t, trainer = make(int(sys.argv[2]))
    start = time.perf_counter()
    t.train_from_iterator([text], trainer)
    best["Train"] = min(best["Train"], time.perf_counter() - start)
    start = time.perf_counter()
    t.encode(text)
    best["Encode"] = min(best["Encode"], time.perf_counter() - start)
print(json.dumps(best))
`, book, "8000")), &theirTimes); err != nil {
		b.Fatal(err)
	}
	report := func(b *testing.B, name string, theirs float64, run func()) {
		b.Run(name, func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				run()
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(len(text))/1e6/best.Seconds(), "MB/s")
			b.ReportMetric(theirs/best.Seconds(), "×tokenizers")
		})
	}
	k := train(b, size, text)
	report(b, "train", theirTimes.Train, func() { train(b, size, text) })
	report(b, "encode", theirTimes.Encode, func() { k.Encode(text) })
}
