package gen

import (
	"bytes"
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kernelgen/kgen/gen/out"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compile compiles a module that must be free of mistakes.
func compile(t *testing.T, dir string) *Result {
	t.Helper()
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, mistakes, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	return res
}

// TestGolden compares the Go sources of a small module, which uses every part
// of the language that shows in the typed API, with what they were. Whether
// they compile is the business of tests/script.
func TestGolden(t *testing.T) {
	for _, f := range compile(t, "testdata/module").Files() {
		if !golden(f) {
			continue
		}
		name := filepath.Join("testdata/golden", path.Base(f.Path)+".golden")
		if *update {
			if err := os.WriteFile(name, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if d := diff.Diff(name, want, f.Path, f.Data); d != nil {
			t.Errorf("rewrite the golden files with -update if this is as it should be:\n%s", d)
		}
	}
}

// golden reports whether there is a golden file for f: for typed functions,
// tests, tables of kernels and CUDA sources. References and kernels have theirs in the
// packages that write them.
func golden(f out.File) bool {
	base := path.Base(f.Path)
	switch {
	case path.Dir(f.Path) == opsDir+"/internal/ctables":
		return strings.HasPrefix(base, "kernels_")
	case path.Dir(f.Path) == opsDir:
		return path.Ext(base) == ".go" && !strings.HasSuffix(base, "_ref.go")
	}
	return base == "msl.go" || path.Ext(base) == ".cu"
}

// The same specs give the same bytes, wherever they lie and whenever they are
// compiled, and those bytes name no place.
func TestSameBytesAnywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.CopyFS(dir, os.DirFS("testdata/module")); err != nil {
		t.Fatal(err)
	}
	here, there := compile(t, "testdata/module").Files(), compile(t, dir).Files()
	if len(here) != len(there) {
		t.Fatalf("%d files here, %d there", len(here), len(there))
	}
	for i := range here {
		if here[i].Path != there[i].Path || !bytes.Equal(here[i].Data, there[i].Data) {
			t.Errorf("%s and %s differ", here[i].Path, there[i].Path)
		}
		if bytes.Contains(there[i].Data, []byte(dir)) {
			t.Errorf("%s holds an absolute path", there[i].Path)
		}
		if !out.Marked(here[i].Data) {
			t.Errorf("%s has no marker line", here[i].Path)
		}
	}
}

// A change of a spec changes its hash and that of the specs that inline it, and
// no other.
func TestHashFollowsInlinedSpecs(t *testing.T) {
	const head = "dtypes = [\"f32\"]\n[in.x]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\n"
	files := map[string]string{
		"go.mod":             "module example.com/hash\n",
		"specs/g/outer.toml": "doc = \"Inlines another spec.\"\n" + head + "expr = \"1 + inner(2*x)\"\n",
		"specs/g/inner.toml": "doc = \"Is inlined.\"\n" + head + "expr = \"x*x\"\n",
		"specs/g/other.toml": "doc = \"Stands alone.\"\n" + head + "expr = \"-x\"\n",
	}
	before := hashes(t, files)
	files["specs/g/inner.toml"] = strings.Replace(files["specs/g/inner.toml"], "x*x", "x*x*x", 1)
	after := hashes(t, files)
	for name, changes := range map[string]bool{"outer": true, "inner": true, "other": false} {
		if (before[name] != after[name]) != changes {
			t.Errorf("%s: hash %x before, %x after", name, before[name], after[name])
		}
	}
}

func hashes(t *testing.T, files map[string]string) map[string]uint64 {
	t.Helper()
	m := map[string]uint64{}
	for _, s := range compile(t, write(t, files)).Specs {
		m[s.Name] = s.Hash
	}
	return m
}

// write makes a module of the given files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Every mistake is reported in one run, those that only the gradient or the
// planner can find among them.
func TestMistakesOfAllStagesTogether(t *testing.T) {
	const in = "dtypes = [\"f32\"]\n[in.x]\nshape = \"P...\"\n"
	m, err := Open(write(t, map[string]string{
		"go.mod":               "module example.com/wrong\n",
		"specs/g/syntax.toml":  "doc = ",
		"specs/g/expr.toml":    "doc = \"Reads what is not there.\"\n" + in + "[out.y]\nshape = \"P...\"\nexpr = \"z\"\n",
		"specs/g/family.toml":  "doc = \"Is a map.\"\nfamily = \"rows\"\n" + in + "[out.y]\nshape = \"P...\"\nexpr = \"x\"\n",
		"specs/g/inplace.toml": "doc = \"Has no gradient.\"\n" + in + "[inout.w]\nshape = \"P...\"\nexpr = \"w + x\"\n[out.y]\nshape = \"P...\"\nexpr = \"x\"\n[grad]\nwrt = [\"x\"]\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	res, mistakes, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, d := range mistakes.Sorted() {
		files = append(files, d.Pos.String())
	}
	for _, want := range []string{"specs/g/expr.toml:7:9", "specs/g/family.toml:2:10", "specs/g/inplace.toml:5:8", "specs/g/syntax.toml:1:"} {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, want) }) {
			t.Errorf("no mistake at %s among %q", want, files)
		}
	}
	if len(res.Files()) > 0 {
		t.Errorf("%d files in spite of the mistakes", len(res.Files()))
	}
}
