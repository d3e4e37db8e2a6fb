package main

import (
	"bytes"
	"compress/gzip"
	"index/suffixarray"
	"io"
	"os"
	"testing"
)

// corpus returns the texts of data in lower case, with single spaces for white space, as
// indices that find a sentence.
func corpus(t *testing.T) []*suffixarray.Index {
	t.Helper()
	book, err := os.Open("../../data/moby-dick.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	packed, err := os.Open("../../data/state-of-the-union.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	addresses, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var texts []*suffixarray.Index
	for _, r := range []io.Reader{book, addresses} {
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, suffixarray.New(bytes.ToLower(bytes.Join(bytes.Fields(text), []byte(" ")))))
	}
	return texts
}
