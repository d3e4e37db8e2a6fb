package diag

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func at(line, col int) Pos { return Pos{File: "specs/g/n.toml", Line: line, Col: col} }

func TestPosString(t *testing.T) {
	for want, p := range map[string]Pos{
		"":                   {},
		"specs":              {File: "specs"},
		"specs/g/n.toml:7:3": at(7, 3),
	} {
		if got := p.String(); got != want {
			t.Errorf("%#v: got %q, want %q", p, got, want)
		}
	}
}

func TestSorted(t *testing.T) {
	var l List
	l.Add(at(2, 1), "b")
	l.Add(at(1, 9), "c")
	l.Add(at(2, 1), "a")
	l.Add(Pos{File: "a.toml", Line: 9, Col: 9}, "d")
	l.Add(at(2, 1), "b")
	l.AddHint(at(2, 1), "hint", "b")
	var got []string
	for _, d := range l.Sorted() {
		got = append(got, d.Error())
	}
	want := []string{"a.toml:9:9: d", "specs/g/n.toml:1:9: c", "specs/g/n.toml:2:1: a", "specs/g/n.toml:2:1: b", "specs/g/n.toml:2:1: b (hint)"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(l) != 6 || l[0].Msg != "b" {
		t.Error("Sorted changed the list")
	}
}

func TestErr(t *testing.T) {
	if err := (List{}).Err(); err != nil {
		t.Errorf("empty list: %v", err)
	}
	var l List
	l.Add(at(2, 1), "second %d", 2)
	l.Add(at(1, 1), "first")
	err := l.Err()
	if got, want := err.Error(), "specs/g/n.toml:1:1: first\nspecs/g/n.toml:2:1: second 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var d Diagnostic
	if !errors.As(fmt.Errorf("check: %w", err), &d) || d.Msg != "first" {
		t.Errorf("errors.As gives %v", d)
	}
}

func TestRender(t *testing.T) {
	long := strings.Repeat("a", 300) + "X" + strings.Repeat("b", 300)
	source := map[string]string{"specs/g/n.toml": "one = 1\n\t\ttwo =\t\"äb\"\r\n" + long + "\nbad \x01\xff end\nlast"}
	tests := []struct {
		name string
		d    Diagnostic
		want string
	}{
		{"start", Diagnostic{Pos: at(1, 1), Msg: "m"}, "specs/g/n.toml:1:1: m\n\tone = 1\n\t^\n"},
		{"tabs", Diagnostic{Pos: at(2, 9), Msg: "m"}, "specs/g/n.toml:2:9: m\n\t\t\ttwo =\t\"äb\"\n\t\t\t     \t^\n"},
		{"runes", Diagnostic{Pos: at(2, 12), Msg: "m"}, "specs/g/n.toml:2:12: m\n\t\t\ttwo =\t\"äb\"\n\t\t\t     \t  ^\n"},
		{"hint", Diagnostic{Pos: at(1, 7), Msg: "m", Hint: "h"}, "specs/g/n.toml:1:7: m\n\tone = 1\n\t      ^\n\thint: h\n"},
		{"end of line", Diagnostic{Pos: at(1, 8), Msg: "m"}, "specs/g/n.toml:1:8: m\n\tone = 1\n\t       ^\n"},
		{"beyond the line", Diagnostic{Pos: at(1, 99), Msg: "m"}, "specs/g/n.toml:1:99: m\n\tone = 1\n\t       ^\n"},
		{"long", Diagnostic{Pos: at(3, 301), Msg: "m"}, "specs/g/n.toml:3:301: m\n\t..." + strings.Repeat("a", 100) + "X" + strings.Repeat("b", 99) + "...\n\t" + strings.Repeat(" ", 103) + "^\n"},
		{"long, start", Diagnostic{Pos: at(3, 2), Msg: "m"}, "specs/g/n.toml:3:2: m\n\t" + strings.Repeat("a", 101) + "...\n\t ^\n"},
		{"not printable", Diagnostic{Pos: at(4, 8), Msg: "m"}, "specs/g/n.toml:4:8: m\n\tbad ?? end\n\t       ^\n"},
		{"last line", Diagnostic{Pos: at(5, 1), Msg: "m"}, "specs/g/n.toml:5:1: m\n\tlast\n\t^\n"},
		{"no such line", Diagnostic{Pos: at(9, 1), Msg: "m"}, "specs/g/n.toml:9:1: m\n"},
		{"file only", Diagnostic{Pos: Pos{File: "specs"}, Msg: "m"}, "specs: m\n"},
		{"nowhere", Diagnostic{Msg: "m"}, "m\n"},
		{"unknown file", Diagnostic{Pos: Pos{File: "x", Line: 1, Col: 1}, Msg: "m"}, "x:1:1: m\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			err := Render(&b, List{tt.d}, func(f string) []byte { return []byte(source[f]) })
			if err != nil || b.String() != tt.want {
				t.Errorf("got\n%q\nwant\n%q (%v)", b.String(), tt.want, err)
			}
		})
	}
}

// TestRenderWithoutSource checks that positions are printed when no text is at
// hand.
func TestRenderWithoutSource(t *testing.T) {
	var b strings.Builder
	if err := Render(&b, List{{Pos: at(1, 1), Msg: "m"}}, nil); err != nil || b.String() != "specs/g/n.toml:1:1: m\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
