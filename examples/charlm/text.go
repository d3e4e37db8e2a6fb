package main

import (
	"fmt"
	"os"
	"slices"
)

// corpus is a text as character ids, split into a part to learn from and a part
// held out.
type corpus struct {
	chars []rune         // the character of each id, in code point order
	ids   map[rune]int32 // the inverse
	train []int32
	held  []int32
}

// readCorpus reads a UTF-8 file; its last tenth is held out.
func readCorpus(path string) (*corpus, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("charlm: %w", err)
	}
	text := []rune(string(b))
	c := &corpus{chars: slices.Compact(slices.Sorted(slices.Values(text))), ids: map[rune]int32{}}
	for i, r := range c.chars {
		c.ids[r] = int32(i)
	}
	ids := make([]int32, len(text))
	for i, r := range text {
		ids[i] = c.ids[r]
	}
	cut := len(ids) - len(ids)/10
	c.train, c.held = ids[:cut], ids[cut:]
	return c, nil
}

// decode turns ids back into text.
func (c *corpus) decode(ids []int32) string {
	out := make([]rune, len(ids))
	for i, id := range ids {
		out[i] = c.chars[id]
	}
	return string(out)
}
