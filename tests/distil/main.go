// Distil is the part of make.py, beside it, that is the project's own: it trains a
// tokenizer on sentences and writes samples as EFB1.
//
//	go run ./tests/distil FROM TO
//
// reads corpus.txt, a sentence a line, and train.jsonl and validation.jsonl (text and
// target) in the folder FROM, and writes tokenizer.json, train.efb and validation.efb
// into TO.
package main

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/tokenizer"
)

// vocabulary is the number of tokens. Nearly all words of the corpus are whole tokens.
const vocabulary = 16384

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: distil FROM TO, see make.py")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "distil:", err)
		os.Exit(1)
	}
}

// pack makes the files of a folder from those of another.
func pack(from, to string) error {
	corpus, err := os.ReadFile(filepath.Join(from, "corpus.txt"))
	if err != nil {
		return err
	}
	k, err := tokenizer.Train(lines(corpus), vocabulary)
	if err != nil {
		return err
	}
	if err := k.Save(filepath.Join(to, "tokenizer.json")); err != nil {
		return err
	}
	for _, split := range []string{"train", "validation"} {
		src, err := dataset.OpenJSONL(filepath.Join(from, split+".jsonl"), k.AppendEncode)
		if err != nil {
			return err
		}
		if err := copyEFB(filepath.Join(to, split+".efb"), src); err != nil {
			return err
		}
		if err := src.Close(); err != nil {
			return err
		}
	}
	return nil
}

// lines returns the lines of a text, one after the other.
func lines(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(text) {
			if !yield(string(bytes.TrimSuffix(line, []byte("\n")))) {
				return
			}
		}
	}
}

// copyEFB writes all samples of a source to a file.
func copyEFB(path string, src dataset.Source) error {
	w, err := dataset.CreateEFB(path, src.Dim())
	if err != nil {
		return err
	}
	defer w.Discard()
	var s dataset.Sample
	for i := range src.Len() {
		if err := src.Read(i, &s); err != nil {
			return err
		}
		if err := w.Write(&s); err != nil {
			return err
		}
	}
	return w.Commit()
}
