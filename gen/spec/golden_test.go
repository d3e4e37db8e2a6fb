package spec

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestDiagnostics parses each testdata/NAME.toml and compares what is said
// about it with testdata/NAME.want.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".toml")
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			set, list := ParseSet("specs/test/"+name+".toml", src)
			golden(t, strings.TrimSuffix(f, ".toml")+".want", rendered(t, list, set))
		})
	}
}

func rendered(t *testing.T, list diag.List, set *Set) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := diag.Render(&b, list, set.Source); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
