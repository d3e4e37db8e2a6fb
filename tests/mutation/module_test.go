package mutation

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen"
	emitc "github.com/kernelgen/kgen/gen/emit/c"
	"github.com/kernelgen/kgen/gen/out"
)

// module is a Go module of its own that holds the specs in testdata and uses
// this repository from its source tree.
type module struct {
	*gen.Module
	env []string
}

func newModule(t *testing.T) *module {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, gen.SpecDir), os.DirFS("testdata/specs")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "\ngo ")
	text := fmt.Sprintf("module example.com/mutation\n\ngo %s\nrequire github.com/kernelgen/kgen v0.0.0\n\nreplace github.com/kernelgen/kgen => %q\n", rest, root)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := gen.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=1", "GOFLAGS=-buildvcs=false -mod=mod")
	return &module{m, env}
}

// compile compiles the specs anew: the caller may change the kernels.
func (m *module) compile(t *testing.T) *gen.Result {
	t.Helper()
	res, list, err := m.Compile()
	if err != nil || len(list) > 0 {
		t.Fatal(err, list)
	}
	return res
}

// build writes the files of res, with the C sources made of its kernels as they
// are now, and builds their tests.
func (m *module) build(t *testing.T, res *gen.Result, name string) *binary {
	t.Helper()
	files := res.Files()
	for _, s := range res.Specs {
		i, text := m.source(t, s, files)
		files[i].Data = text
	}
	if _, err := m.Tree().Apply(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	bin := &binary{filepath.Join(m.Root, name)}
	// No -trimpath: what the runtime needs has been built without it.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", bin.path, "./generated/ops")
	cmd.Dir, cmd.Env = m.Root, m.env
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, text)
	}
	return bin
}

// source emits the C kernels of s and returns their text with the position
// of their file in files.
func (m *module) source(t *testing.T, s *gen.Spec, files []out.File) (int, []byte) {
	t.Helper()
	base := s.Name + emitc.Ext
	i := slices.IndexFunc(files, func(f out.File) bool { return filepath.Base(f.Path) == base })
	if i < 0 {
		t.Fatalf("%s gives no file %s", s.File, base)
	}
	text, err := m.RenderC(s)
	if err != nil {
		t.Fatal(err)
	}
	return i, text
}

// sameSources fails the test unless the kernels, as they come, give the files
// that the generator writes: what differs in a mutant is the mutation alone.
func (m *module) sameSources(t *testing.T, res *gen.Result) {
	t.Helper()
	files := res.Files()
	for _, s := range res.Specs {
		if i, text := m.source(t, s, files); !bytes.Equal(files[i].Data, text) {
			t.Errorf("%s is not what its kernels give", files[i].Path)
		}
	}
}

// ops returns the spec's ops, then those of its gradient.
func ops(s *gen.Spec) []*gen.Op {
	list := slices.Clone(s.Ops)
	for _, op := range s.Ops {
		if op.Grad != nil {
			list = append(list, op.Grad.Op)
		}
	}
	return list
}
