package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// window is the number of bytes of a source line that are shown around a
// position, so that a line of a megabyte does not fill the terminal.
const window = 100

// Render writes the diagnostics in order of position: path:line:col: message,
// then the source line and a caret under the column. Source gives the bytes of
// a file, or nil when they are unknown; it may be nil itself.
func Render(w io.Writer, list List, source func(file string) []byte) error {
	var b bytes.Buffer
	for _, d := range list.Sorted() {
		if p := d.Pos.String(); p != "" {
			fmt.Fprintf(&b, "%s: ", p)
		}
		fmt.Fprintf(&b, "%s\n", d.Msg)
		if line, ok := sourceLine(d.Pos, source); ok {
			writeCaret(&b, line, d.Pos.Col)
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "\thint: %s\n", d.Hint)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func sourceLine(p Pos, source func(string) []byte) (string, bool) {
	if source == nil || !p.IsValid() {
		return "", false
	}
	rest := source(p.File)
	for n := 1; n < p.Line; n++ {
		_, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return "", false
		}
		rest = after
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return strings.TrimSuffix(string(line), "\r"), len(rest) > 0
}

// writeCaret prints the part of the line around byte column col and a caret
// below it. The padding repeats the tabs of the line, so that the caret stands
// right for any tab width.
func writeCaret(b *bytes.Buffer, line string, col int) {
	at := min(max(col-1, 0), len(line))
	line, at = clip(line, at)
	fmt.Fprintf(b, "\t%s\n\t", printable(line))
	for _, r := range line[:at] {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteString("^\n")
}

// clip cuts a long line to a window around byte at and returns the new place.
func clip(line string, at int) (string, int) {
	if len(line) <= 2*window {
		return line, at
	}
	lo, hi := max(at-window, 0), min(at+window, len(line))
	for lo > 0 && !utf8.RuneStart(line[lo]) {
		lo--
	}
	for hi < len(line) && !utf8.RuneStart(line[hi]) {
		hi++
	}
	head, tail := "", ""
	if lo > 0 {
		head = "..."
	}
	if hi < len(line) {
		tail = "..."
	}
	return head + line[lo:hi] + tail, at - lo + len(head)
}

// printable replaces what would upset a terminal: control characters and bytes
// that are not UTF-8, one sign for each, so that columns keep their place.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r == 0x7f || r == utf8.RuneError) {
			return '?'
		}
		return r
	}, s)
}
