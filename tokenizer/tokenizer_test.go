package tokenizer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const book = "../data/moby-dick.txt"

func readBook(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func train(t testing.TB, size int, texts ...string) *Tokenizer {
	t.Helper()
	k, err := Train(slices.Values(texts), size)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// words cuts a text.
func words(text string) []string {
	var list []string
	for len(text) > 0 {
		n := word(text)
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"I'll say, it's 12 o'clock!":   "I|'ll| say|,| it|'s| 12| o|'|clock|!",
		"we'RE 'dun' '":                "we|'|RE| '|dun|'| '",
		"a  b":                         "a| | b",
		"a \n b":                       "a| \n| b",
		"a\n\nb":                       "a|\n|\n|b",
		"  \t":                         "  \t",
		" ":                            " ",
		"x ":                           "x| ",
		"näïve ½ x²":                   "näïve| ½| x|²",
		"日本語 テスト":                      "日本語| テスト",
		"a\u00a0b":                     "a|\u00a0|b",
		"a\u2003\u2003b":               "a|\u2003|\u2003|b",
		"👍🏽 ok":                        "👍🏽| ok",
		"e\u0301 e":                    "e|\u0301| e",
		"a\xff\xfeb \xc3":              "a|\xff\xfe|b| \xc3",
		"!'s":                          "!'|s",
		"\r\n":                         "\r\n",
		"\x00\x01a":                    "\x00\x01|a",
		strings.Repeat("a", 100) + "1": strings.Repeat("a", 100) + "|1",
	} {
		if got := strings.Join(words(text), "|"); got != want {
			t.Errorf("%q is cut into %q, want %q", text, got, want)
		}
	}
}

func TestTrainByHand(t *testing.T) {
	// " l" stands 10 times. Of what is left "ow" stands 5 times, and " l" before it 4.
	// Then (e,r), (e,s), (i,e), (s,t) and two more stand 3 times; e comes before the
	// others, and r before s.
	k := train(t, 260, "low low low low low lest lest lest lier lier lier")
	var got []string
	for id := 256; id < k.Size(); id++ {
		got = append(got, k.Token(int32(id)))
	}
	if want := []string{" l", "ow", " low", "er"}; !slices.Equal(got, want) {
		t.Errorf("the tokens are %q, want %q", got, want)
	}
}

func TestTrainEnds(t *testing.T) {
	for _, c := range []struct {
		text string
		size int
		want int
	}{
		{"", 1000, 256},
		{"a b c", 1000, 258}, // " b" and " c"
		{"abcd", 1000, 259},
		{"abcd", 257, 257},
		{"abcd", 256, 256},
	} {
		if got := train(t, c.size, c.text).Size(); got != c.want {
			t.Errorf("%q gives %d tokens of %d, want %d", c.text, got, c.size, c.want)
		}
	}
	for _, size := range []int{-1, 0, 255, MaxSize + 1} {
		if _, err := Train(slices.Values([]string{"a"}), size); err == nil {
			t.Errorf("a size of %d is taken", size)
		}
	}
}

func TestTrainIsDeterministic(t *testing.T) {
	text := readBook(t)
	first := train(t, 2000, text)
	second := train(t, 2000, text)
	if !slices.Equal(first.tokens, second.tokens) || !slices.Equal(first.merges, second.merges) {
		t.Error("the same text gives two tokenizers")
	}
	// Words count, not where one text ends and the next begins.
	cut := strings.Index(text, " Ishmael.")
	parts := train(t, 2000, text[cut:], text[:cut])
	if !slices.Equal(first.merges, parts.merges) {
		t.Error("the same words in another order give another tokenizer")
	}
}

func TestDecodeRefuses(t *testing.T) {
	k := train(t, 300, "abcabc")
	for _, id := range []int32{-1, int32(k.Size()), 1 << 30} {
		_, err := k.Decode([]int32{0, id})
		if err == nil || !strings.Contains(err.Error(), "ids[1] is ") {
			t.Errorf("id %d: %v, want an error that says where", id, err)
		}
	}
}

// mergeSlowly is the definition of merging: of all pairs in the word the one whose
// merge has the lowest rank is merged, at its first place, until there is none.
func mergeSlowly(k *Tokenizer, word string) []int32 {
	var ids []int32
	for i := range len(word) {
		ids = append(ids, latin.id[word[i]])
	}
	for {
		best, at := int32(-1), 0
		for i := range len(ids) - 1 {
			if rank, ok := k.ranks[pair{ids[i], ids[i+1]}]; ok && (best < 0 || rank < best) {
				best, at = rank, i
			}
		}
		if best < 0 {
			return ids
		}
		ids = slices.Replace(ids, at, at+2, k.merges[best].id)
	}
}

// Whatever the bytes: they come back, the words are the text, and the ids are those
// of the definition.
func FuzzEncode(f *testing.F) {
	k := train(f, 2000, readBook(f)[:200_000], strings.Repeat("aaaaaaa bbbbbbb ababab 日本語日本 \xff\xfe\xff\xfe ", 50))
	for _, s := range []string{"", "Call me Ishmael.", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abababababab aaabbb", "\xff\xfe\x00", "日本語日本日", " \n\t  x", "it's we'll '"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := string(data)
		ids := k.Encode(text)
		back, err := k.Decode(ids)
		if err != nil {
			t.Fatal(err)
		}
		if string(back) != text {
			t.Fatalf("%q came back as %q", text, back)
		}
		var want []int32
		for _, w := range words(text) {
			want = append(want, mergeSlowly(k, w)...)
		}
		if !slices.Equal(ids, want) {
			t.Fatalf("%q has the ids %v, want %v", text, ids, want)
		}
	})
}

// A word of 256 KiB takes a moment. Time that grows with its square would be more
// than the limit by far.
func TestLongWord(t *testing.T) {
	k := train(t, 1000, readBook(t))
	text := strings.Repeat("thewhale", 1<<15)
	start := time.Now()
	ids := k.Encode(text)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("%d bytes took %v", len(text), took)
	}
	if back, err := k.Decode(ids); err != nil || string(back) != text {
		t.Errorf("the text does not come back: %v", err)
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tokenizer.json")
	for _, size := range []int{256, 1500} {
		k := train(t, size, readBook(t))
		if err := k.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.tokens, k.tokens) || !slices.Equal(got.merges, k.merges) {
			t.Errorf("a tokenizer of %d tokens is another when it is loaded", size)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v, want one file", entries)
	}
}
