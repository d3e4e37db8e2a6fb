package tomltree

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal reads a '...' string, or with three quotes a multi-line one.
func (x *indexer) literal(quotes int) Text {
	t := x.open(quotes)
	end := strings.Index(x.s[x.i:], strings.Repeat("'", quotes))
	if end < 0 {
		x.fail("string not closed")
		return t
	}
	x.i += end
	x.extraQuotes('\'', quotes)
	t.Value = x.s[t.body:x.i]
	x.i += quotes
	return t
}

// open passes the opening quotes and, in a multi-line string, a line end right
// after them.
func (x *indexer) open(quotes int) Text {
	t := Text{src: x.src, start: x.i}
	x.i += quotes
	if quotes == 3 && x.has("\n") {
		x.i++
	}
	t.body = x.i
	return t
}

// extraQuotes passes the one or two quotes that a multi-line string may end
// with before its closing three.
func (x *indexer) extraQuotes(q byte, quotes int) {
	for n := 0; quotes == 3 && n < 2 && x.i+3 < len(x.s) && x.s[x.i+3] == q; n++ {
		x.i++
	}
}

// basic reads a "..." string, or with three quotes a multi-line one.
func (x *indexer) basic(quotes int) Text {
	t := x.open(quotes)
	var b strings.Builder
	var offs []int
	put := func(off int, s string) {
		b.WriteString(s)
		for range len(s) {
			offs = append(offs, off)
		}
	}
	escaped := false
	closing := strings.Repeat(`"`, quotes)
	for x.err == nil && !x.has(closing) {
		if x.i >= len(x.s) || quotes == 1 && x.s[x.i] == '\n' {
			x.fail("string not closed")
			return t
		}
		at := x.i
		if x.s[at] == '\\' {
			escaped = true
			put(at, x.escape())
			continue
		}
		put(at, x.s[at:at+1])
		x.i++
	}
	if x.err != nil {
		return t
	}
	from := x.i
	x.extraQuotes('"', quotes)
	for ; from < x.i; from++ {
		put(from, `"`)
	}
	t.Value = b.String()
	if escaped {
		t.offs = append(offs, x.i)
	}
	x.i += quotes
	return t
}

var simpleEscapes = map[byte]string{
	'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`,
}

// escape reads an escape sequence and returns what it stands for; a backslash
// before a line end stands for nothing and takes all blanks after it.
func (x *indexer) escape() string {
	x.i++
	if x.i >= len(x.s) {
		x.fail("escape not finished")
		return ""
	}
	c := x.s[x.i]
	switch c {
	case ' ', '\t', '\n':
		x.i += len(x.s[x.i:]) - len(strings.TrimLeft(x.s[x.i:], " \t\n"))
		return ""
	case 'x':
		return x.codePoint(2)
	case 'u':
		return x.codePoint(4)
	case 'U':
		return x.codePoint(8)
	}
	s, ok := simpleEscapes[c]
	if !ok {
		x.fail("unknown escape")
		return ""
	}
	x.i++
	return s
}

func (x *indexer) codePoint(digits int) string {
	x.i++
	if x.i+digits > len(x.s) {
		x.fail("escape not finished")
		return ""
	}
	n, err := strconv.ParseUint(x.s[x.i:x.i+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		x.fail("escape is no character")
		return ""
	}
	x.i += digits
	return string(rune(n))
}
