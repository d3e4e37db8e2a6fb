package catalogue_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen"
)

//go:embed names.txt
var names string

// entry is a line of names.txt.
type entry struct {
	name    string
	derived bool
	of      string // the kernel that this is the gradient of
}

func entries(t *testing.T) []entry {
	t.Helper()
	var list []entry
	for line := range strings.Lines(names) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" || strings.HasPrefix(words[0], "#") {
			continue
		}
		e := entry{name: words[1], derived: slices.Contains(words, "derived")}
		if len(words) == 5 && words[2] == "gradient" {
			e.of = words[4]
		}
		list = append(list, e)
	}
	if len(list) < 80 {
		t.Fatalf("names.txt has %d names", len(list))
	}
	return list
}

// TestNames: every name is in the list that `kgen list --json` prints, in all
// three float types and with kernels for each target, and has its gradient.
func TestNames(t *testing.T) {
	m, err := gen.Open("../..")
	if err != nil {
		t.Fatal(err)
	}
	res, list, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	rows := map[string]gen.Row{}
	for _, r := range res.Rows() {
		rows[r.Name] = r
	}
	for _, e := range entries(t) {
		row, ok := rows[e.name]
		if !ok {
			t.Errorf("kgen list has no %s", e.name)
			continue
		}
		if msg := complete(row); msg != "" {
			t.Errorf("%s %s", e.name, msg)
		}
		if e.derived && row.Grad == "" {
			t.Errorf("%s has no derived gradient", e.name)
		}
		if g, ok := rows[row.Grad]; row.Grad != "" && (!ok || complete(g) != "") {
			t.Errorf("%s: its gradient %s %s", e.name, row.Grad, complete(g))
		}
		if e.of != "" && rows[e.of].Grad != e.name {
			t.Errorf("%s is not the gradient of %s, %q is", e.name, e.of, rows[e.of].Grad)
		}
	}
}

// complete says what a row lacks, "" if nothing.
func complete(r gen.Row) string {
	for _, t := range []string{"c", "msl", "cuda"} {
		if !slices.Contains(r.Targets, t) {
			return "has no kernels for " + t
		}
	}
	for _, d := range []string{"f32", "f16", "bf16"} {
		if !slices.ContainsFunc(r.DTypes, func(t string) bool { return t == d || strings.HasPrefix(t, d+"/") }) {
			return "has no variant for " + d
		}
	}
	return ""
}
