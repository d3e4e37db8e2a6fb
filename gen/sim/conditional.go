package sim

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// versionMacros are what conditional code of Metal asks for; lang.h defines the
// same.
var versionMacros = []string{"-D__METAL__=1", "-D__METAL_MACOS__=1", "-D__METAL_VERSION__=310", "-D__HAVE_BFLOAT__=1"}

// active blanks the lines of a source that its conditionals leave out, so that
// the rules see what the compiler sees.
func active(ctx context.Context, cc string, text []byte) ([]byte, error) {
	l := lex(text)
	branches := l.branches()
	if len(branches) == 0 {
		return text, nil
	}
	kept, err := keptLines(ctx, cc, l)
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(text)
	for _, b := range branches {
		if !b.holdsAny(kept) {
			l.blankCode(out, b)
		}
	}
	return out, nil
}

// branch is the lines between two conditional directives, both excluded.
type branch struct{ from, to int }

func (b branch) holdsAny(lines map[int]bool) bool {
	for n := b.from; n < b.to; n++ {
		if lines[n] {
			return true
		}
	}
	return false
}

// branches are those of all #if, #elif and #else of a source.
func (l *lexed) branches() []branch {
	var list []branch
	var open []int // the first line of each branch that is open
	for _, d := range l.directives {
		line, _ := l.position(d.pos)
		word := d.text[:span([]byte(d.text), isLetter)]
		if strings.HasPrefix(word, "el") || word == "endif" {
			if len(open) == 0 {
				continue
			}
			list = append(list, branch{open[len(open)-1], line})
			open = open[:len(open)-1]
		}
		if strings.HasPrefix(word, "if") || strings.HasPrefix(word, "el") {
			open = append(open, line+1)
		}
	}
	return list
}

var lineMarker = regexp.MustCompile(`^# (\d+) "([^"]*)"`)

// keptLines are the lines that the preprocessor leaves code of.
func keptLines(ctx context.Context, cc string, l *lexed) (map[int]bool, error) {
	cmd := exec.CommandContext(ctx, cc, append([]string{"-E", "-x", "c++", "-undef", "-nostdinc", "-w", "-"}, versionMacros...)...)
	cmd.Stdin = bytes.NewReader(l.withoutIncludes())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("preprocessor: %w: %s", err, firstLine(stderr.String()))
	}
	kept := map[int]bool{}
	inSource, line := false, 0
	for _, text := range strings.Split(string(out), "\n") {
		if m := lineMarker.FindStringSubmatch(text); m != nil {
			inSource = m[2] == "<stdin>"
			line, _ = strconv.Atoi(m[1])
			continue
		}
		if inSource && strings.TrimSpace(text) != "" {
			kept[line] = true
		}
		line++
	}
	return kept, nil
}

func (l *lexed) withoutIncludes() []byte {
	out := bytes.Clone(l.text)
	for _, d := range l.directives {
		if strings.HasPrefix(d.text, "include") {
			blankBytes(out[d.pos : d.pos+lineLength(out[d.pos:])])
		}
	}
	return out
}

// blankCode blanks the lines of a branch in out, its directives apart.
func (l *lexed) blankCode(out []byte, b branch) {
	directive := map[int]bool{}
	for _, d := range l.directives {
		line, _ := l.position(d.pos)
		for range strings.Count(d.text, "\n") + 1 {
			directive[line] = true
			line++
		}
	}
	for n := b.from; n < b.to; n++ {
		if start := l.lines[n-1]; !directive[n] {
			blankBytes(out[start : start+lineLength(out[start:])])
		}
	}
}

func blankBytes(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}
