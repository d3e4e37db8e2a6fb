package gpu

import (
	"os"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/ir"
)

// No name of a spec becomes a word that MSL or its library has.
func TestMangledNamesAreFree(t *testing.T) {
	data, err := os.ReadFile("../../sim/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for w := range strings.FieldsSeq(string(data)) {
		words[w] = true
	}
	if len(words) < 500 {
		t.Fatalf("only %d words", len(words))
	}
	for w := range words {
		for _, name := range []string{w, strings.TrimSuffix(w, "_"), strings.TrimSuffix(w, "_u")} {
			if id := Mangle(name); name != "" && words[id] {
				t.Errorf("%s becomes %s, a word of MSL", name, id)
			}
		}
	}
}

func TestMangleKeepsNamesApart(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"x", "x_", "x__", "_x", "_x_", "_x_u", "x_u", "__x", "x_2", "x2"} {
		id := Mangle(name)
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s both become %s", name, other, id)
		}
		seen[id] = name
	}
}

// An extent and a parameter of one name stay apart.
func TestFieldNames(t *testing.T) {
	a := &ir.Field{Name: "size_D", Type: ir.I64}
	b := &ir.Field{Name: "size_D", Type: ir.I32, Offset: 8}
	names := fieldNames([]*ir.Field{a, b})
	if names[a] != "size_D_" || names[b] != "size_D_2" {
		t.Errorf("names are %q and %q", names[a], names[b])
	}
}

func TestFloatLiterals(t *testing.T) {
	for x, want := range map[float64]string{1: "1.0f", -2.5: "-2.5f", 1e-5: "1e-05f", 0.1: "0.1f", 1e39: "INFINITY", 16777216: "1.6777216e+07f"} {
		if got := float(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}
