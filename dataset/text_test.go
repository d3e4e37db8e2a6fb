package dataset

import (
	"slices"
	"strings"
	"testing"
)

func TestReadText(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "\ufeffabc\r\n": "abc\r\n", "日本": "日本"} {
		got, err := ReadText(put(t, "text.txt", []byte(text)), byteIDs)
		if err != nil || !slices.Equal(got, byteIDs(nil, want)) {
			t.Errorf("%q gives %v, %v", text, got, err)
		}
	}
	path := put(t, "text.txt", []byte("a\nb\nc\xe9d"))
	_, err := ReadText(path, byteIDs)
	if want := path + ":3: byte 5 is 0xe9, which is no UTF-8"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestWindows(t *testing.T) {
	for _, c := range []struct {
		text           string
		length, stride int
		want           string
	}{
		{"", 3, 3, ""},
		{"a", 3, 3, ""},
		{"ab", 3, 3, "ab"},
		{"abcd", 3, 3, "abcd"},
		{"abcde", 3, 3, "abcd|de"},
		{"abcdefg", 3, 3, "abcd|defg"},
		{"abcdefgh", 3, 3, "abcd|defg|gh"},
		{"abc", 1, 1, "ab|bc"},
		{"abcdefg", 3, 1, "abcd|bcde|cdef|defg"},
		{"abcdefg", 3, 2, "abcd|cdef|efg"},
		{"abcdefgh", 3, 2, "abcd|cdef|efgh"},
		{"abc", 3, 1, "abc"},
	} {
		w, err := NewWindows(byteIDs(nil, c.text), c.length, c.stride)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range samples(t, w) {
			b := make([]byte, len(s.IDs))
			for i, id := range s.IDs {
				b[i] = byte(id)
			}
			got = append(got, string(b))
			if err := s.check(0); err != nil || slices.Contains(s.Mask, 0) {
				t.Errorf("sample %v: %v", s, err)
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q in windows of %d, one every %d, gives %q, want %q", c.text, c.length, c.stride, got, c.want)
		}
	}
	for _, c := range [][2]int{{0, 0}, {3, 0}, {3, 4}, {3, -1}} {
		if _, err := NewWindows(nil, c[0], c[1]); err == nil {
			t.Errorf("windows of %d ids, one every %d, are taken", c[0], c[1])
		}
	}
}
