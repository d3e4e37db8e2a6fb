package spec

import (
	"strings"
	"testing"
	"testing/fstest"
)

const rawText = `doc = "Moves x."
dtypes = ["f32"]
[in.x]
shape = "P..."
[out.y]
shape = "P..."
[raw.move]
items = ["P"]
`

// TestRawSources reads the sources beside a spec as specs are read.
func TestRawSources(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const source = "void move(void) {}"
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string // the first mistake
	}{
		"all there": {fstest.MapFS{"specs/g/k.c": file("\xef\xbb\xbf" + source + "\r\n"), "specs/g/k.go.txt": file("package k")}, ""},
		"no C":      {fstest.MapFS{"specs/g/k.go.txt": file("package k")}, "specs/g/k.toml:7:2: the C source of a kernel with [raw] is not there: specs/g/k.c"},
		"no reference": {fstest.MapFS{"specs/g/k.c": file(source)},
			"specs/g/k.toml:7:2: the reference in Go of a kernel with [raw] is not there: specs/g/k.go.txt"},
		"a lone carriage return": {fstest.MapFS{"specs/g/k.c": file(source + "\n\n  \r "), "specs/g/k.go.txt": file("package k")},
			"specs/g/k.c:3:3: the file holds a carriage return that is not part of a line end"},
		"no function": {fstest.MapFS{"specs/g/k.c": file("void remove(void) {}"), "specs/g/k.go.txt": file("package k")},
			"specs/g/k.c:1:1: the source has no function move, which is launched"},
		"Metal without groups": {fstest.MapFS{"specs/g/k.c": file(source), "specs/g/k.go.txt": file("package k"), "specs/g/k.metal": file(source)},
			"specs/g/k.toml:7:6: [raw.move] lacks the keys groups and threads"},
	} {
		c.files["specs/g/k.toml"] = file(rawText)
		set, list := Load(c.files, "specs")
		got := ""
		if len(list) > 0 {
			got = list[0].Pos.String() + ": " + list[0].Msg
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if c.want == "" {
			if raw := set.Specs[0].Raw; raw.C.Text != source+"\n" || raw.Metal != nil || len(raw.Sources()) != 2 {
				t.Errorf("%s: sources %q", name, raw.C.Text)
			}
			if text := string(set.Source("specs/g/k.c")); text != source+"\n" {
				t.Errorf("%s: the set holds %q", name, text)
			}
		}
	}
}

// A source may use every name that its spec declares: those that mean something
// else there are refused.
func TestRawNames(t *testing.T) {
	for name, want := range map[string]string{
		"fine": "", "threadgroup": "is a word of C, Metal or Go", "func": "is a word of C, Metal or Go", "linux": "is a word of C, Metal or Go",
		"kg_load": "is reserved", "call": "part of every kernel with [raw]", "move": "which is that of the tensor",
		"threads_move": "which is that of the tensor", "T": "which is that of the type variable",
	} {
		_, list := Parse("specs/g/k.toml", []byte(strings.ReplaceAll(rawText, "in.x", "in."+name)))
		var got []string
		for _, d := range list {
			got = append(got, d.Msg)
		}
		if text := strings.Join(got, "; "); want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: mistakes %q, want %q", name, text, want)
		}
	}
}
