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
	out := bytes.Clone(text)
	if left, ok := l.leftOut(); ok {
		for _, b := range left {
			l.blankCode(out, b)
		}
		return out, nil
	}
	kept, err := keptLines(ctx, cc, l)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if !b.holdsAny(kept) {
			l.blankCode(out, b)
		}
	}
	return out, nil
}

// leftOut are the branches that the conditionals leave out, where these do no more than
// ask for names that nothing defines; else ok is false, and the preprocessor must say.
func (l *lexed) leftOut() (list []branch, ok bool) {
	type open struct {
		line      int
		kept, els bool // els: of the #else
	}
	var stack []open
	for _, d := range l.directives {
		line, _ := l.position(d.pos)
		words := strings.Fields(d.text)
		switch {
		case len(words) == 0:
		case words[0] == "include" && len(words) == 2 && strings.HasPrefix(words[1], "<metal_"), words[0] == "pragma":
		case len(words) == 2 && (words[0] == "ifdef" || words[0] == "ifndef") && strings.HasPrefix(words[1], generatedMacro):
			stack = append(stack, open{line + 1, words[0] == "ifndef", false})
		case d.text == "else" && len(stack) > 0 && !stack[len(stack)-1].els:
			top := &stack[len(stack)-1]
			if !top.kept {
				list = append(list, branch{top.line, line})
			}
			*top = open{line + 1, !top.kept, true}
		case d.text == "endif" && len(stack) > 0:
			if top := stack[len(stack)-1]; !top.kept {
				list = append(list, branch{top.line, line})
			}
			stack = stack[:len(stack)-1]
		default:
			return nil, false
		}
	}
	return list, len(stack) == 0
}

// generatedMacro is what the names of the macros begin with that generated sources ask
// for and a host defines.
const generatedMacro = "KG_"

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
