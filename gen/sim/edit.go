package sim

import (
	"sort"
	"strings"
)

// edit replaces the bytes [pos, end) of a source. The new text has no newline
// beyond those it replaces, so lines keep their numbers.
type edit struct {
	pos, end int
	text     string
}

// edits is a set of replacements of one source that do not overlap.
type edits []edit

func (e *edits) replace(pos, end int, text string) { *e = append(*e, edit{pos, end, text}) }

// blank replaces [pos, end) by spaces, newlines kept.
func (e *edits) blank(text []byte, pos, end int) {
	blanked := []byte(strings.Repeat(" ", end-pos))
	for i, c := range text[pos:end] {
		if c == '\n' {
			blanked[i] = '\n'
		}
	}
	e.replace(pos, end, string(blanked))
}

// apply gives the edited text.
func (e edits) apply(text []byte) []byte {
	sort.SliceStable(e, func(i, j int) bool { return e[i].pos < e[j].pos })
	var out []byte
	at := 0
	for _, x := range e {
		out = append(out, text[at:x.pos]...)
		out = append(out, x.text...)
		at = x.end
	}
	return append(out, text[at:]...)
}

// original maps a column of the edited text, on a line, to the column of the
// source: inside a replacement it is the replacement's start.
func (e edits) original(l *lexed, line, col int) int {
	if line < 1 || line > len(l.lines) {
		return col
	}
	start := l.lines[line-1]
	shift := 0 // edited minus original, up to here
	for _, x := range e {
		if at, _ := l.position(x.pos); at != line || strings.Contains(x.text, "\n") {
			continue
		}
		first := x.pos - start + 1 + shift
		if col < first {
			break
		}
		if col < first+len(x.text) {
			return x.pos - start + 1
		}
		shift += len(x.text) - (x.end - x.pos)
	}
	return col - shift
}
