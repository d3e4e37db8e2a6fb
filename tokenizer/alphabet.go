package tokenizer

import "fmt"

// alphabet spells bytes as letters, as files do: a byte that is a printing
// character of Latin-1 as that character, the others, in order, as the characters
// from U+0100 on. The first 256 ids are the bytes in the order of their letters.
type alphabet struct {
	letter [256]rune  // of each byte
	id     [256]int32 // of each byte
	byte   [256]byte  // of each of these ids
}

var latin = newAlphabet()

func newAlphabet() *alphabet {
	a := &alphabet{}
	odd, id := rune(0x100), int32(0)
	for _, plain := range []bool{true, false} {
		for b := range 256 {
			if printing(b) != plain {
				continue
			}
			a.letter[b] = rune(b)
			if !plain {
				a.letter[b] = odd
				odd++
			}
			a.id[b], a.byte[id] = id, byte(b)
			id++
		}
	}
	return a
}

// printing reports whether a byte is a printing character of Latin-1, of which the
// soft hyphen is not one.
func printing(b int) bool {
	return b >= '!' && b <= '~' || b >= 0xa1 && b != 0xad
}

// spell returns the letters of a token's bytes.
func (a *alphabet) spell(token string) string {
	letters := make([]rune, len(token))
	for i := range len(token) {
		letters[i] = a.letter[token[i]]
	}
	return string(letters)
}

// unspell returns the bytes that letters stand for.
func (a *alphabet) unspell(letters string) (string, error) {
	token := make([]byte, 0, len(letters))
	for _, r := range letters {
		b, ok := a.unletter(r)
		if !ok {
			return "", fmt.Errorf("%q stands for no byte", r)
		}
		token = append(token, b)
	}
	return string(token), nil
}

// unletter returns the byte that a letter stands for.
func (a *alphabet) unletter(r rune) (byte, bool) {
	if r < 0x100 {
		return byte(r), printing(int(r))
	}
	// The other letters have the ids behind those of the printing bytes.
	if id := r - 0x100 + 188; id < 256 {
		return a.byte[id], true
	}
	return 0, false
}
