package sim

import (
	"bytes"
	"sort"
	"strings"
)

type tokenKind uint8

const (
	identToken tokenKind = iota
	numberToken
	stringToken
	punctToken
)

// token is one token of a source, at the bytes [pos, end).
type token struct {
	kind     tokenKind
	text     string
	pos, end int
	macro    bool // inside the body of a #define
}

func (t token) is(text string) bool { return t.kind != stringToken && t.text == text }

// directive is one preprocessor line other than the body of a #define.
type directive struct {
	text string
	pos  int
}

// lexed is a source as tokens, without comments and white space.
type lexed struct {
	text       []byte
	tokens     []token
	directives []directive
	lines      []int // the offset at which each line starts
}

// position gives the line and column, both from 1, of a byte.
func (l *lexed) position(pos int) (line, col int) {
	line = sort.Search(len(l.lines), func(i int) bool { return l.lines[i] > pos })
	return line, pos - l.lines[line-1] + 1
}

// Longer tokens first; ">>" stays two tokens, for template arguments.
var longPuncts = []string{"...", "<<=", "::", "->", "&&", "||", "<<", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "##"}

func lex(text []byte) *lexed {
	l := &lexed{text: text, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			l.lines = append(l.lines, i+1)
		}
	}
	for pos := 0; pos < len(text); {
		pos = l.next(pos, len(text), false)
	}
	return l
}

// next reads one token, comment or directive at pos and returns where it ends.
func (l *lexed) next(pos, end int, macro bool) int {
	c := l.text[pos]
	rest := l.text[pos:end]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\':
		return pos + 1
	case bytes.HasPrefix(rest, []byte("//")):
		return pos + lineLength(rest)
	case bytes.HasPrefix(rest, []byte("/*")):
		if i := bytes.Index(rest[2:], []byte("*/")); i >= 0 {
			return pos + i + 4
		}
		return end
	case c == '#' && !macro && l.startsLine(pos):
		return l.directive(pos)
	case isLetter(c):
		return l.add(identToken, pos, pos+span(rest, func(b byte) bool { return isLetter(b) || isDigit(b) }), macro)
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return l.add(numberToken, pos, pos+numberLength(rest), macro)
	case c == '"' || c == '\'':
		return l.add(stringToken, pos, pos+quotedLength(rest), macro)
	}
	for _, p := range longPuncts {
		if bytes.HasPrefix(rest, []byte(p)) {
			return l.add(punctToken, pos, pos+len(p), macro)
		}
	}
	return l.add(punctToken, pos, pos+1, macro)
}

func (l *lexed) add(kind tokenKind, pos, end int, macro bool) int {
	l.tokens = append(l.tokens, token{kind, string(l.text[pos:end]), pos, end, macro})
	return end
}

func (l *lexed) startsLine(pos int) bool {
	for pos--; pos >= 0 && l.text[pos] != '\n'; pos-- {
		if l.text[pos] != ' ' && l.text[pos] != '\t' {
			return false
		}
	}
	return true
}

// directive takes a whole preprocessor line with its continuations. The body
// of a #define is code: it becomes tokens.
func (l *lexed) directive(pos int) int {
	end := pos
	for {
		end += lineLength(l.text[end:])
		if end >= len(l.text) || !bytes.HasSuffix(bytes.TrimRight(l.text[pos:end], "\r"), []byte("\\")) {
			break
		}
		end++
	}
	text := strings.TrimSpace(string(l.text[pos+1 : end]))
	l.directives = append(l.directives, directive{text, pos})
	if strings.HasPrefix(text, "define") {
		at := pos + bytes.Index(l.text[pos:end], []byte("define")) + len("define")
		for at < end {
			at = l.next(at, end, true)
		}
	}
	return end
}

func lineLength(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}

func span(b []byte, in func(byte) bool) int {
	n := 0
	for n < len(b) && in(b[n]) {
		n++
	}
	return n
}

// numberLength follows the preprocessor's rule for numbers: letters, digits,
// dots, and a sign after an exponent's letter.
func numberLength(b []byte) int {
	hex := len(b) > 1 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X')
	n := 0
	for n < len(b) {
		c := b[n]
		sign := (c == '+' || c == '-') && n > 0 && isExponent(b[n-1], hex)
		if !sign && !isLetter(c) && !isDigit(c) && c != '.' {
			break
		}
		n++
	}
	return n
}

func isExponent(c byte, hex bool) bool {
	if hex {
		return c == 'p' || c == 'P'
	}
	return c == 'e' || c == 'E'
}

func quotedLength(b []byte) int {
	for n := 1; n < len(b) && b[n] != '\n'; n++ {
		if b[n] == '\\' {
			n++
		} else if b[n] == b[0] {
			return n + 1
		}
	}
	return len(b[:1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
