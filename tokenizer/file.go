package tokenizer

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kernelgen/kgen/internal/atomicfile"
)

// file is a tokenizer.json as Hugging Face's tokenizers read and write it, as far
// as a tokenizer of this package can be one.
type file struct {
	Version       string           `json:"version"`
	Truncation    jsontext.Value   `json:"truncation"`
	Padding       jsontext.Value   `json:"padding"`
	AddedTokens   []jsontext.Value `json:"added_tokens"`
	Normalizer    jsontext.Value   `json:"normalizer"`
	PreTokenizer  *byteLevel       `json:"pre_tokenizer"`
	PostProcessor jsontext.Value   `json:"post_processor"`
	Decoder       *byteLevel       `json:"decoder"`
	Model         bytePairModel    `json:"model"`
}

type byteLevel struct {
	Type           string `json:"type"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	TrimOffsets    bool   `json:"trim_offsets"`
	UseRegex       bool   `json:"use_regex"`
}

type bytePairModel struct {
	Type         string         `json:"type"`
	Dropout      *float64       `json:"dropout"`
	UnkToken     *string        `json:"unk_token"`
	WordPrefix   *string        `json:"continuing_subword_prefix"`
	WordSuffix   *string        `json:"end_of_word_suffix"`
	FuseUnk      bool           `json:"fuse_unk"`
	ByteFallback bool           `json:"byte_fallback"`
	IgnoreMerges bool           `json:"ignore_merges"`
	Vocab        vocab          `json:"vocab"`
	Merges       []mergeLetters `json:"merges"`
}

// vocab is the letters of each id; in the file an object of ids by letters.
type vocab []string

// MarshalJSONTo writes the tokens in the order of their ids.
func (v vocab) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for id, letters := range v {
		if err := enc.WriteToken(jsontext.String(letters)); err != nil {
			return err
		}
		if err := enc.WriteToken(jsontext.Int(int64(id))); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads tokens in any order; their ids must be 0, 1 and so on.
func (v *vocab) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var ids map[string]*int32
	if err := json.UnmarshalDecode(dec, &ids); err != nil {
		return err
	}
	tokens := make(vocab, len(ids))
	have := make([]bool, len(ids))
	for letters, id := range ids {
		switch {
		case id == nil || *id < 0 || int(*id) >= len(ids):
			return fmt.Errorf("the id of %q must be in [0, %d), the number of tokens", letters, len(ids))
		case have[*id]:
			return fmt.Errorf("the id %d is given to two tokens", *id)
		}
		tokens[*id], have[*id] = letters, true
	}
	*v = tokens
	return nil
}

// mergeLetters is the two halves of a merge: an array of two strings, or in files
// of older versions one string with a space between them.
type mergeLetters [2]string

// UnmarshalJSONFrom reads both forms.
func (m *mergeLetters) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '"' {
		return json.UnmarshalDecode(dec, (*[2]string)(m))
	}
	var both string
	if err := json.UnmarshalDecode(dec, &both); err != nil {
		return err
	}
	left, right, ok := strings.Cut(both, " ")
	if !ok {
		return fmt.Errorf("the merge %q must be two tokens with a space between them", both)
	}
	*m = mergeLetters{left, right}
	return nil
}

// Save writes the tokenizer as a tokenizer.json, as a whole or not at all.
func (t *Tokenizer) Save(path string) error {
	level := &byteLevel{Type: "ByteLevel", TrimOffsets: true, UseRegex: true}
	out := file{Version: "1.0", PreTokenizer: level, Decoder: level, Model: bytePairModel{Type: "BPE"}}
	for _, token := range t.tokens {
		out.Model.Vocab = append(out.Model.Vocab, latin.spell(token))
	}
	for _, m := range t.merges {
		out.Model.Merges = append(out.Model.Merges, mergeLetters{latin.spell(t.tokens[m.left]), latin.spell(t.tokens[m.right])})
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return fmt.Errorf("tokenizer: %w", err)
	}
	if err := json.MarshalWrite(f, out); err != nil {
		f.Discard()
		return fmt.Errorf("tokenizer: %s: %w", path, err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("tokenizer: %s: %w", path, err)
	}
	return nil
}

// Load reads a tokenizer.json of a byte-level BPE tokenizer: one that Save wrote,
// or Hugging Face's tokenizers. What this package does not do, such as added tokens
// or a normalizer, is an error.
func Load(path string) (*Tokenizer, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", path, err)
	}
	return t, nil
}

func decode(content []byte) (*Tokenizer, error) {
	var in file
	if err := json.Unmarshal(content, &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.Model.tokenizer()
}

// check refuses what would change the ids of a text in a way that this package does
// not know.
func (in *file) check() error {
	var errs []error
	refuse := func(wrong bool, what string) {
		if wrong {
			errs = append(errs, errors.New(what))
		}
	}
	m := &in.Model
	refuse(m.Type != "BPE", fmt.Sprintf("model is of type %q, must be BPE", m.Type))
	refuse(m.Dropout != nil && *m.Dropout != 0, "dropout is not supported")
	refuse(m.UnkToken != nil, "unk_token is not supported: every byte is a token")
	refuse(m.WordPrefix != nil && *m.WordPrefix != "", "continuing_subword_prefix is not supported")
	refuse(m.WordSuffix != nil && *m.WordSuffix != "", "end_of_word_suffix is not supported")
	refuse(m.IgnoreMerges, "ignore_merges is not supported")
	refuse(m.ByteFallback, "byte_fallback is not supported: every byte is a token")
	refuse(has(in.Normalizer), "normalizer is not supported: text comes back as it was")
	refuse(has(in.PostProcessor), "post_processor is not supported")
	refuse(has(in.Truncation), "truncation is not supported")
	refuse(has(in.Padding), "padding is not supported")
	refuse(len(in.AddedTokens) > 0, "added_tokens are not supported")
	p := in.PreTokenizer
	refuse(p == nil || p.Type != "ByteLevel" || p.AddPrefixSpace || !p.UseRegex, "pre_tokenizer must be ByteLevel with use_regex and without add_prefix_space")
	refuse(in.Decoder == nil || in.Decoder.Type != "ByteLevel", "decoder must be ByteLevel")
	return errors.Join(errs...)
}

// has reports whether a member is there and not null.
func has(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// tokenizer checks that the bytes come first and that each merge makes a token of
// tokens.
func (m *bytePairModel) tokenizer() (*Tokenizer, error) {
	tokens := make([]string, len(m.Vocab))
	ids := make(map[string]int32, len(tokens))
	for id, letters := range m.Vocab {
		token, err := latin.unspell(letters)
		if err != nil {
			return nil, fmt.Errorf("token %d, %q: %w", id, letters, err)
		}
		if token == "" {
			return nil, fmt.Errorf("token %d is empty", id)
		}
		tokens[id], ids[token] = token, int32(id)
	}
	for id, token := range bytesOnly() {
		if id >= len(tokens) || tokens[id] != token {
			return nil, fmt.Errorf("token %d must be %q: the first 256 are the bytes, in the order of their letters", id, latin.spell(token))
		}
	}
	merges := make([]merge, len(m.Merges))
	seen := make(map[pair]bool, len(merges))
	for rank, letters := range m.Merges {
		var side [3]int32
		for i, s := range []string{letters[0], letters[1], letters[0] + letters[1]} {
			token, err := latin.unspell(s)
			if err != nil {
				return nil, fmt.Errorf("merge %d of %q: %w", rank, letters, err)
			}
			id, ok := ids[token]
			if !ok {
				return nil, fmt.Errorf("merge %d of %q: %q is not a token", rank, letters, s)
			}
			side[i] = id
		}
		p := pair{side[0], side[1]}
		if seen[p] {
			return nil, fmt.Errorf("merge %d of %q is there before", rank, letters)
		}
		seen[p] = true
		merges[rank] = merge{p, side[2]}
	}
	return newTokenizer(tokens, merges), nil
}
