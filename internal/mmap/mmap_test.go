package mmap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	for _, want := range []string{"", "x", strings.Repeat("page", 5000)} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Bytes) != want {
			t.Errorf("%d bytes mapped, the file has %d others", len(m.Bytes), len(want))
		}
		for range 2 {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A file that is replaced by a rename stays what it was for whoever has it mapped.
func TestReplacedFile(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	for name, content := range map[string]string{path: "old", other: "new"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if string(m.Bytes) != "old" {
		t.Errorf("the mapping holds %q, want old", m.Bytes)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		if m, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) = %v, %v; want an error that names it", path, m, err)
		}
	}
}
