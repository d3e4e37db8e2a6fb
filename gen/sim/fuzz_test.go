package sim

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
)

// FuzzSource reads any text as the check and the runner read a source: nothing panics,
// every token and finding lies in the text, and what is written for clang has the lines
// of the source.
func FuzzSource(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.metal"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		blank, from := withoutOrigins(text)
		s := parse(blank)
		checkTokens(t, s)
		found := allFindings(s)
		for _, x := range found {
			if x.Line < 1 || x.Line > len(s.lines) || x.Col < 1 || x.Text == "" {
				t.Errorf("finding out of the text: %s", x)
			}
		}
		from.name(found)
		for _, m := range []mode{checkMode, runMode} {
			checkEdits(t, s, s.rewrite(m))
		}
		_, _ = s.glue()
		sameShifted(t, blank, found)
	})
}

// allFindings are those that need no clang.
func allFindings(s *source) []Finding {
	return slices.Concat(s.rules(), s.outsideRules(), s.warnings(), s.runRules())
}

func checkTokens(t *testing.T, s *source) {
	at := 0
	for _, x := range s.tokens {
		if x.pos < at || x.end <= x.pos || x.end > len(s.text) || string(s.text[x.pos:x.end]) != x.text {
			t.Fatalf("token %q at [%d, %d) after %d", x.text, x.pos, x.end, at)
		}
		at = x.end
	}
}

func checkEdits(t *testing.T, s *source, e edits) {
	out := e.apply(s.text)
	at := 0
	for _, x := range e { // in order after apply
		if x.pos < at || x.end < x.pos {
			t.Fatalf("edit [%d, %d) to %q after %d", x.pos, x.end, x.text, at)
		}
		at = x.end
	}
	if got, want := bytes.Count(out, []byte{'\n'}), bytes.Count(s.text, []byte{'\n'}); got != want {
		t.Errorf("%d lines became %d", want, got)
	}
	for line := range len(s.lines) + 2 {
		e.original(s.lexed, line, 1+line%7)
	}
}

// sameShifted: a line before the text moves what is found, and changes nothing.
func sameShifted(t *testing.T, text []byte, want []Finding) {
	got := allFindings(parse(append([]byte("// A line.\n"), text...)))
	order := func(list []Finding) {
		sort.SliceStable(list, func(i, j int) bool {
			a, b := list[i], list[j]
			return a.Line < b.Line || a.Line == b.Line && (a.Col < b.Col || a.Col == b.Col && a.Text < b.Text)
		})
	}
	for i := range got {
		got[i].Line--
	}
	order(got)
	order(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %v, after a line more %v", want, got)
	}
}

// FuzzCheck leaves out, doubles or exchanges tokens of sources that are right: whatever
// comes of it, clang has a message that is placed in the text, and the check a verdict.
func FuzzCheck(f *testing.F) {
	f.Add(uint8(0), uint16(0), uint8(0))
	f.Add(uint8(11), uint16(40), uint8(1))
	f.Add(uint8(24), uint16(30), uint8(2))
	files, err := filepath.Glob(filepath.Join("testdata", "accepted", "*.metal"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file uint8, at uint16, change uint8) {
		src, err := os.ReadFile(files[int(file)%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		tokens := lex(src).tokens
		x, y := tokens[int(at)%len(tokens)], tokens[(int(at)+1)%len(tokens)]
		var text []byte
		switch change % 3 {
		case 0:
			text = slices.Concat(src[:x.pos], src[x.end:])
		case 1:
			text = slices.Concat(src[:x.end], []byte(" "+x.text+" "), src[x.end:])
		case 2:
			text = slices.Concat(src[:x.pos], []byte(y.text), src[x.end:])
		}
		list, err := Check(t.Context(), "fuzz.metal", text)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(text, []byte{'\n'}) + 1
		for _, x := range list {
			if x.Line < 1 || x.Line > lines || x.Col < 1 {
				t.Errorf("out of the text: %s", x)
			}
		}
	})
}
