package expr

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestDiagnostics checks each testdata/NAME.toml, together with the specs of
// testdata/lib that it may call, and compares what is said about it with
// testdata/NAME.want.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".toml")
		t.Run(name, func(t *testing.T) {
			fsys := library(t)
			path := "specs/test/" + name + ".toml"
			fsys[path] = &fstest.MapFile{Data: read(t, f)}
			set, list := spec.Load(fsys, "specs")
			_, more := Check(set)
			golden(t, strings.TrimSuffix(f, ".toml")+".want", about(append(list, more...), path, set))
		})
	}
}

func library(t *testing.T) fstest.MapFS {
	t.Helper()
	files, err := filepath.Glob("testdata/lib/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys["specs/lib/"+filepath.Base(f)] = &fstest.MapFile{Data: read(t, f)}
	}
	return fsys
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// about renders the diagnostics of one file.
func about(list diag.List, file string, set *spec.Set) []byte {
	var mine diag.List
	for _, d := range list {
		if d.Pos.File == file {
			mine = append(mine, d)
		}
	}
	var b bytes.Buffer
	if err := diag.Render(&b, mine, set.Source); err != nil {
		panic(err)
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
	if want := read(t, file); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
