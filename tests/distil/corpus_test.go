package main

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

// corpus returns the texts of data with single spaces for white space.
func corpus(t *testing.T) []string {
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
	var texts []string
	for _, r := range []io.Reader{book, addresses} {
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, strings.Join(strings.Fields(string(text)), " "))
	}
	return texts
}
