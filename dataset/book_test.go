package dataset

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/tokenizer"
)

// A real text, through a tokenizer trained on it and shuffled batches, comes back
// whole.
func TestBook(t *testing.T) {
	const book = "../data/moby-dick.txt"
	text, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	k, err := tokenizer.Train(slices.Values([]string{string(text)}), 2000)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := ReadText(book, k.AppendEncode)
	if err != nil {
		t.Fatal(err)
	}
	const length = 64
	w, err := NewWindows(ids, length, length)
	if err != nil {
		t.Fatal(err)
	}
	l := loader(t, w, Config{Batch: 32, Shuffle: true, Seed: 9})
	pieces := make([][]int32, w.Len())
	var b Batch
	for {
		err := l.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for row, i := range b.Samples {
			n := w.Tokens(i) - 1 // the last id is the next piece's first
			pieces[i] = slices.Clone(b.IDs[row*b.Width:][:n])
		}
	}
	got, err := k.Decode(append(slices.Concat(pieces...), ids[len(ids)-1]))
	if err != nil || string(got) != string(text) {
		t.Errorf("%d bytes come back of %d: %v", len(got), len(text), err)
	}
}
