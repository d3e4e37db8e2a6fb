package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mark is a comment that says what the check must find in its line.
var mark = regexp.MustCompile(`// (error|outside|warning): (.*?)\s*$`)

// TestCases judges sources whose comments say what is wrong with which line: all of
// that is found, in that line, and nothing else.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.metal"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".metal"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			compareMarks(t, marks(string(src)), checkFile(t, path))
		})
	}
}

// expected is what a mark asks for.
type expected struct {
	line       int
	kind, text string
	found      bool
}

// marks reads the marks of a source. A line may have several, the last one first here.
func marks(src string) []*expected {
	var list []*expected
	for i, line := range strings.Split(src, "\n") {
		for m := mark.FindStringSubmatchIndex(line); m != nil; m = mark.FindStringSubmatchIndex(line) {
			last := strings.LastIndex(line, "// ")
			part := mark.FindStringSubmatch(line[last:])
			if part == nil {
				break
			}
			list = append(list, &expected{line: i + 1, kind: part[1], text: part[2]})
			line = line[:last]
		}
	}
	return list
}

func compareMarks(t *testing.T, want []*expected, list []Finding) {
	t.Helper()
	for _, f := range list {
		known := false
		for _, w := range want {
			if w.line == f.Line && w.kind == kindOf(f) && strings.Contains(f.Text, w.text) {
				known, w.found = true, true
			}
		}
		if !known {
			t.Errorf("not asked for: %s", f)
		}
	}
	for _, w := range want {
		if !w.found {
			t.Errorf("line %d: no %s with %q", w.line, w.kind, w.text)
		}
	}
}

func kindOf(f Finding) string {
	switch {
	case f.Outside:
		return "outside"
	case f.Warning:
		return "warning"
	}
	return "error"
}
