package sim

import (
	"sort"
	"strings"
)

// mathMode is how free the compiler is with floats.
type mathMode string

// The modes; fast is the default.
const (
	fastMath    mathMode = "fast"
	relaxedMath mathMode = "relaxed"
	safeMath    mathMode = "safe"
)

// mathScope is a `#pragma METAL fp math_mode`, which holds from its place to the
// end of the block around it.
type mathScope struct {
	from, to int
	mode     mathMode
}

// mathScopes are those of a source, in order.
func (s *source) mathScopes() []mathScope {
	var list []mathScope
	for _, d := range s.directives {
		words := strings.Fields(d.text)
		if len(words) < 4 || words[0] != "pragma" || !strings.EqualFold(words[1], "METAL") || words[2] != "fp" {
			continue
		}
		mode, ok := strings.CutPrefix(strings.Join(words[3:], ""), "math_mode(")
		if mode, closed := strings.CutSuffix(mode, ")"); ok && closed {
			list = append(list, mathScope{d.pos, s.blockEnd(d.pos), mathMode(mode)})
		}
	}
	return list
}

// blockEnd is where the innermost block around a byte ends.
func (s *source) blockEnd(pos int) int {
	depth := 0
	for i := sort.Search(len(s.code), func(i int) bool { return s.code[i].pos >= pos }); i < len(s.code); i++ {
		switch t := s.code[i]; {
		case t.macro:
		case t.is("{"):
			depth++
		case t.is("}"):
			if depth == 0 {
				return t.pos
			}
			depth--
		}
	}
	return len(s.text)
}

// modeAt is the math mode of a byte: that of the last pragma whose block holds it.
func modeAt(scopes []mathScope, pos int) mathMode {
	mode := fastMath
	for _, m := range scopes {
		if m.from <= pos && pos < m.to {
			mode = m.mode
		}
	}
	return mode
}

// fastOnly marks, in the stand-in's headers, a warning about fast math alone.
const fastOnly = "fast math: "

const noNaN = "fast math takes NaN and infinity as absent, so that this may be folded away: write #pragma METAL fp math_mode(safe)"

// kept drops warnings about fast math where another mode holds.
func (s *source) kept(list []Finding) []Finding {
	scopes := s.mathScopes()
	var out []Finding
	for _, f := range list {
		text, aboutFast := strings.CutPrefix(f.Text, fastOnly)
		if aboutFast && modeAt(scopes, s.offset(f.Line, f.Col)) != fastMath {
			continue
		}
		f.Text = text
		if aboutFast && text == "NaN" {
			f.Text = noNaN
		}
		out = append(out, f)
	}
	return out
}

// offset is the byte of a line and column.
func (l *lexed) offset(line, col int) int {
	if line < 1 || line > len(l.lines) {
		return 0
	}
	return l.lines[line-1] + col - 1
}

// infinityWarnings are about comparisons with what fast math takes as absent.
func (s *source) infinityWarnings(f *findings) {
	scopes := s.mathScopes()
	for i, t := range s.code {
		if !t.is("==") && !t.is("!=") {
			continue
		}
		next := i + 1
		if next < len(s.code) && s.code[next].is("-") {
			next++
		}
		if next < len(s.code) && notFinite[s.code[next].text] || i > 0 && notFinite[s.code[i-1].text] {
			if modeAt(scopes, t.pos) == fastMath {
				f.warn(t.pos, "%s", noNaN)
			}
		}
	}
}

var notFinite = set("INFINITY", "NAN", "HUGE_VALF", "HUGE_VALH")
