package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is cut into words before pairs are merged, so that no token goes across the
// end of a word. A word is what matches first of
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// the expression that GPT-2 has. A byte that is no UTF-8 counts as a symbol.

type class uint8

const (
	symbol class = iota
	letter
	number
	space
)

var classOf = func() (table [utf8.RuneSelf]class) {
	for r := range table {
		table[r] = wideClass(rune(r))
	}
	return table
}()

func wideClass(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return symbol
}

// first returns the class and the bytes of the first character of a text that is
// not empty.
func first(text string) (class, int) {
	if b := text[0]; b < utf8.RuneSelf {
		return classOf[b], 1
	}
	r, n := utf8.DecodeRuneInString(text)
	return wideClass(r), n
}

// run returns how many bytes at the start of a text are characters of a class.
func run(text string, c class) int {
	n := 0
	for n < len(text) {
		d, size := first(text[n:])
		if d != c {
			break
		}
		n += size
	}
	return n
}

// contractions are the ends of English words that are words of their own.
var contractions = []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}

// word returns how many bytes the first word of a text has, which is not empty.
func word(text string) int {
	if text[0] == '\'' {
		for _, s := range contractions {
			if strings.HasPrefix(text, s) {
				return len(s)
			}
		}
	}
	c, size := first(text)
	if c != space {
		return size + run(text[size:], c)
	}
	if text[0] == ' ' && len(text) > 1 {
		if d, _ := first(text[1:]); d != space {
			return 1 + run(text[1:], d)
		}
	}
	n := run(text, space)
	if n == len(text) || n == size {
		return n
	}
	// The last space belongs to what follows.
	_, last := utf8.DecodeLastRuneInString(text[:n])
	return n - last
}
