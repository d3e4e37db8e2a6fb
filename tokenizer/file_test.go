package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// saved returns the file of a small tokenizer.
func saved(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := train(t, 259, "abcd abcd abcd").Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// change replaces a part of a text that must be there.
func change(t testing.TB, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in the file", old)
	}
	return strings.Replace(text, old, new, 1)
}

func TestLoadRefuses(t *testing.T) {
	whole := saved(t)
	for _, c := range []struct {
		name, old, new, want string
	}{
		{"cut", `]]}}`, ``, "unexpected EOF"},
		{"something behind", `]]}}`, `]]}}{}`, "after top-level value"},
		{"doubled member", `"version":"1.0"`, `"version":"1.0","version":"1.0"`, "duplicate"},
		{"unknown member", `"version":"1.0"`, `"version":"1.0","verison":"1.0"`, "verison"},
		{"another model", `"type":"BPE"`, `"type":"Unigram"`, "must be BPE"},
		{"normalizer", `"normalizer":null`, `"normalizer":{"type":"NFC"}`, "normalizer is not supported"},
		{"post processor", `"post_processor":null`, `"post_processor":{"type":"ByteLevel"}`, "post_processor is not supported"},
		{"truncation", `"truncation":null`, `"truncation":{"max_length":5}`, "truncation is not supported"},
		{"padding", `"padding":null`, `"padding":{"pad_id":0}`, "padding is not supported"},
		{"added tokens", `"added_tokens":[]`, `"added_tokens":[{"id":0,"content":"<s>"}]`, "added_tokens are not supported"},
		{"prefix space", `"add_prefix_space":false`, `"add_prefix_space":true`, "pre_tokenizer must be"},
		{"no pre_tokenizer", `"pre_tokenizer":{`, `"pre_tokenizer":null,"decoder":{`, "duplicate"},
		{"dropout", `"dropout":null`, `"dropout":0.1`, "dropout is not supported"},
		{"unknown token", `"unk_token":null`, `"unk_token":"?"`, "unk_token is not supported"},
		{"word prefix", `"continuing_subword_prefix":null`, `"continuing_subword_prefix":"##"`, "continuing_subword_prefix is not supported"},
		{"word suffix", `"end_of_word_suffix":null`, `"end_of_word_suffix":"</w>"`, "end_of_word_suffix is not supported"},
		{"byte fallback", `"byte_fallback":false`, `"byte_fallback":true`, "byte_fallback is not supported"},
		{"ignored merges", `"ignore_merges":false`, `"ignore_merges":true`, "ignore_merges is not supported"},
		{"doubled token", `"!":0,`, `"!":0,"!":0,`, "duplicate"},
		{"doubled id", `"!":0,`, `"!":1,`, "given to two tokens"},
		{"id beyond the size", `"!":0,`, `"!":259,`, "must be in [0, 259)"},
		{"negative id", `"!":0,`, `"!":-1,`, "must be in [0, 259)"},
		{"id null", `"!":0,`, `"!":null,`, "must be in [0, 259)"},
		{"id with fraction", `"!":0,`, `"!":0.5,`, "0.5"},
		{"bytes in another order", `"!":0,"\"":1,`, `"!":1,"\"":0,`, `token 0 must be "!"`},
		{"letter of no byte", `"abcd":258`, `"abcŐ":258`, `'Ő' stands for no byte`},
		{"space in a token", `"abcd":258`, `"ab d":258`, `' ' stands for no byte`},
		{"empty token", `"abcd":258`, `"":258`, `token 258 is empty`},
		{"merge that makes no token", `["ab","cd"]`, `["ab","ab"]`, `"abab" is not a token`},
		{"merge of no token", `["ab","cd"]`, `["abc","d"]`, `"abc" is not a token`},
		{"merge of three", `["ab","cd"]`, `["ab","c","d"]`, "array"},
		{"merge of one", `["ab","cd"]`, `["abcd"]`, "array"},
		{"merge without a space", `["ab","cd"]`, `"abcd"`, "with a space between"},
		{"merge twice", `["ab","cd"]`, `["ab","cd"],["ab","cd"]`, "is there before"},
		{"merge null", `["ab","cd"]`, `null`, "is not a token"},
		{"deep", `"model":{`, `"model":` + strings.Repeat("[", 20000), "unmarshal JSON array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokenizer.json")
			if err := os.WriteFile(path, []byte(change(t, whole, c.old, c.new)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want one with %q and the path", err, c.want)
			}
		})
	}
}

// Older files have the two halves of a merge in one string.
func TestLoadOldMerges(t *testing.T) {
	k, err := decode([]byte(change(t, saved(t), `["ab","cd"]`, `"ab cd"`)))
	if err != nil {
		t.Fatal(err)
	}
	if ids := k.Encode("abcd"); len(ids) != 1 || k.Token(ids[0]) != "abcd" {
		t.Errorf("abcd has the ids %v", ids)
	}
}

// A file that is taken gives a tokenizer that brings every text back.
func FuzzLoad(f *testing.F) {
	whole := saved(f)
	f.Add([]byte(whole), []byte("abcd abc"))
	f.Add([]byte(change(f, whole, `["ab","cd"]`, `"ab cd"`)), []byte("\xff\x00"))
	f.Add([]byte(change(f, whole, `"abcd":258`, `"abcĀ":258`)), []byte("abc\x00"))
	f.Fuzz(func(t *testing.T, content, text []byte) {
		k, err := decode(content)
		if err != nil {
			return
		}
		back, err := k.Decode(k.Encode(string(text)))
		if err != nil || string(back) != string(text) {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
	})
}
