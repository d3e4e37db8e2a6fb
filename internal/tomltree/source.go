package tomltree

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/kernelgen/kgen/gen/diag"
)

// Source is the text of a file without byte order mark and with LF line ends.
type Source struct {
	File  string
	Text  string
	lines []int // the offset of each line
}

// NewSource normalises the bytes of a file. It refuses what no editor should have written:
// UTF-16, invalid UTF-8, control characters and a carriage return that ends no
// line.
func NewSource(file string, src []byte) (*Source, diag.List) {
	s := &Source{File: file}
	var list diag.List
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		list.AddHint(diag.Pos{File: file, Line: 1, Col: 1}, "save it as UTF-8", "the file is UTF-16")
		return s, list
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	s.setText(string(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))))
	if off, msg := badByte(s.Text); msg != "" {
		list.Add(s.Pos(off), "%s", msg)
	}
	return s, list
}

func (s *Source) setText(text string) {
	s.Text = text
	s.lines = []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
}

func badByte(text string) (int, string) {
	for i, r := range text {
		switch {
		case r == 0:
			return i, "the file holds a NUL byte"
		case r == '\r':
			return i, "the file holds a carriage return that is not part of a line end"
		case r < ' ' && r != '\t' && r != '\n' || r == 0x7f:
			return i, fmt.Sprintf("the file holds the control character U+%04X", r)
		case r == utf8.RuneError:
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return i, "the file is not valid UTF-8"
			}
		}
	}
	return 0, ""
}

// Pos turns an offset into line and column.
func (s *Source) Pos(off int) diag.Pos {
	line := sort.SearchInts(s.lines, off+1)
	return diag.Pos{File: s.File, Line: line, Col: off - s.lines[line-1] + 1}
}

// Text is a key or a value of a file that knows where each of its bytes
// stands. The zero Text means that the file does not have it.
type Text struct {
	Value string

	src   *Source
	start int   // of the token, with its quote
	body  int   // of the first byte of Value
	offs  []int // of each byte of Value and of its end, where they are not consecutive
}

// IsSet reports whether the file holds the text; it may be empty all the same.
func (t Text) IsSet() bool { return t.src != nil }

// Pos returns where the key or value begins, at its quote if it has one.
func (t Text) Pos() diag.Pos {
	if t.src == nil {
		return diag.Pos{}
	}
	return t.src.Pos(t.start)
}

// At returns where byte i of Value stands in the file; i may be len(Value).
// Escapes, line continuations and line ends of a string are accounted for.
func (t Text) At(i int) diag.Pos {
	switch {
	case t.src == nil:
		return diag.Pos{}
	case t.offs != nil:
		return t.src.Pos(t.offs[i])
	}
	return t.src.Pos(t.body + i)
}

// NewText returns a text that stands alone at the start of the named file, for
// expressions that come from no file.
func NewText(file, value string) Text {
	s := &Source{File: file}
	s.setText(value)
	return Text{Value: value, src: s}
}
