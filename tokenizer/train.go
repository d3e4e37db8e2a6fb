package tokenizer

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Train makes a tokenizer of a number of tokens, at least the 256 bytes: the pair
// of tokens that is most frequent within the words of the texts becomes a token,
// until there are enough or no word has two tokens left. Of pairs that are equally
// frequent the one with lower ids comes first, so the same texts give the same
// tokenizer.
func Train(texts iter.Seq[string], size int) (*Tokenizer, error) {
	if size < 256 || size > MaxSize {
		return nil, fmt.Errorf("tokenizer: size %d must be in [256, %d]", size, MaxSize)
	}
	t := trainer{counts: map[pair]*pairCount{}, ids: map[string]int32{}}
	for _, token := range bytesOnly() {
		t.add(token)
	}
	t.count(texts)
	for len(t.tokens) < size && len(t.next) > 0 {
		top := t.next.pop()
		count := t.counts[top.pair]
		switch {
		case count.n < 1:
		case count.n < top.n:
			// Some of it went into other tokens since.
			t.next.push(frequent{top.pair, count.n})
		default:
			t.merge(top.pair)
		}
	}
	return newTokenizer(t.tokens, t.merges), nil
}

type trainer struct {
	tokens []string
	ids    map[string]int32 // the inverse
	merges []merge
	words  []trainWord
	counts map[pair]*pairCount
	next   heap[frequent]
	grown  []pair // pairs that became more and are not in next as what they are
}

// trainWord is a word that the texts have so many times.
type trainWord struct {
	ids []int32
	n   int64
}

// pairCount is how often a pair is in the texts, and in which words, some of which
// may not have it any more or be named twice.
type pairCount struct {
	n     int64
	words []int32
	grown bool
}

// frequent is a pair as frequent as it was when it was noted.
type frequent struct {
	pair
	n int64
}

func (f frequent) before(g frequent) bool {
	switch {
	case f.n != g.n:
		return f.n > g.n
	case f.left != g.left:
		return f.left < g.left
	}
	return f.right < g.right
}

// add returns the id of a token, a new one if it is new.
func (t *trainer) add(token string) int32 {
	id, ok := t.ids[token]
	if !ok {
		id = int32(len(t.tokens))
		t.tokens = append(t.tokens, token)
		t.ids[token] = id
	}
	return id
}

// count counts the words of the texts and the pairs of bytes in them.
func (t *trainer) count(texts iter.Seq[string]) {
	seen := map[string]*int64{}
	for text := range texts {
		for len(text) > 0 {
			n := word(text)
			if p, ok := seen[text[:n]]; ok {
				*p++
			} else {
				one := int64(1)
				seen[strings.Clone(text[:n])] = &one
			}
			text = text[n:]
		}
	}
	for _, w := range slices.Sorted(maps.Keys(seen)) {
		ids := make([]int32, len(w))
		for i := range len(w) {
			ids[i] = latin.id[w[i]]
		}
		t.words = append(t.words, trainWord{ids, *seen[w]})
		for i := range len(ids) - 1 {
			t.change(pair{ids[i], ids[i+1]}, *seen[w], len(t.words)-1)
		}
	}
	t.noteGrown()
}

// change counts n more or less of a pair in a word.
func (t *trainer) change(p pair, n int64, word int) {
	c := t.counts[p]
	if c == nil {
		c = &pairCount{}
		t.counts[p] = c
	}
	c.n += n
	if n < 0 {
		return
	}
	c.words = append(c.words, int32(word))
	if !c.grown {
		c.grown = true
		t.grown = append(t.grown, p)
	}
}

// noteGrown puts the pairs that became more where the most frequent is looked for.
func (t *trainer) noteGrown() {
	for _, p := range t.grown {
		c := t.counts[p]
		c.grown = false
		t.next.push(frequent{p, c.n})
	}
	t.grown = t.grown[:0]
}

// merge makes a token of a pair, in all words.
func (t *trainer) merge(p pair) {
	id := t.add(t.tokens[p.left] + t.tokens[p.right])
	t.merges = append(t.merges, merge{p, id})
	c := t.counts[p]
	for _, w := range c.words {
		t.mergeIn(int(w), p, id)
	}
	c.n, c.words = 0, nil
	t.noteGrown()
}

// mergeIn makes a token of a pair in one word, and counts the pairs beside it anew.
func (t *trainer) mergeIn(w int, p pair, id int32) {
	ids, n := t.words[w].ids, t.words[w].n
	j := 0
	for i := 0; i < len(ids); i++ {
		if ids[i] != p.left || i+1 == len(ids) || ids[i+1] != p.right {
			ids[j] = ids[i]
			j++
			continue
		}
		if j > 0 {
			t.change(pair{ids[j-1], p.left}, -n, w)
			t.change(pair{ids[j-1], id}, n, w)
		}
		if i+2 < len(ids) {
			t.change(pair{p.right, ids[i+2]}, -n, w)
			t.change(pair{id, ids[i+2]}, n, w)
		}
		ids[j] = id
		j++
		i++
	}
	t.words[w].ids = ids[:j]
}
