package tokenizer

import (
	"fmt"
	"math"
)

// MaxSize is the largest number of tokens.
const MaxSize = math.MaxInt32

// A Tokenizer turns text into ids and back. It does not change: it may be used from
// several goroutines.
type Tokenizer struct {
	tokens []string       // the bytes of each id
	merges []merge        // in order of rank
	ranks  map[pair]int32 // the merge of two ids
	whole  map[string]int32
}

// pair is two ids side by side.
type pair struct{ left, right int32 }

// merge makes one id of two.
type merge struct {
	pair
	id int32
}

// bytesOnly returns the tokens that every tokenizer begins with.
func bytesOnly() []string {
	tokens := make([]string, 256)
	for id, b := range latin.byte {
		tokens[id] = string([]byte{b})
	}
	return tokens
}

// newTokenizer makes a tokenizer of tokens, the bytes first, and merges, each of
// which makes a token of what earlier ones or bytes made.
func newTokenizer(tokens []string, merges []merge) *Tokenizer {
	t := &Tokenizer{tokens: tokens, merges: merges, ranks: make(map[pair]int32, len(merges)), whole: make(map[string]int32, len(tokens))}
	for rank, m := range merges {
		t.ranks[m.pair] = int32(rank)
	}
	// A word that is a token is not merged again each time.
	var s scratch
	for id, token := range tokens {
		if ids := t.mergeWord(&s, nil, token); len(ids) == 1 && int(ids[0]) == id {
			t.whole[token] = int32(id)
		}
	}
	return t
}

// Size returns the number of tokens: ids are less than it.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// Token returns the bytes of an id, which must be one.
func (t *Tokenizer) Token(id int32) string { return t.tokens[id] }

// Decode returns the bytes that ids stand for.
func (t *Tokenizer) Decode(ids []int32) ([]byte, error) {
	var text []byte
	for i, id := range ids {
		if id < 0 || int(id) >= len(t.tokens) {
			return nil, fmt.Errorf("tokenizer: ids[%d] is %d, must be in [0, %d)", i, id, len(t.tokens))
		}
		text = append(text, t.tokens[id]...)
	}
	return text, nil
}
