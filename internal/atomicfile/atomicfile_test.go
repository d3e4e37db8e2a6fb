package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes content to path as a whole.
func put(t *testing.T, path, content string) {
	t.Helper()
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// alone checks that a folder holds these names and no others.
func alone(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "first")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("sec"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "first" {
		t.Errorf("the file holds %q before Commit, want first", got)
	}
	if _, err := f.WriteString("ond"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if got := content(t, path); got != "second" {
		t.Errorf("the file holds %q after Commit, want second", got)
	}
	alone(t, dir, "file")
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	alone(t, dir)
}

// What a killed writer left is longer than the new content.
func TestLeftover(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(filepath.Join(dir, ".file.partial"), []byte("left by another"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, path, "new")
	if got := content(t, path); got != "new" {
		t.Errorf("the file holds %q, want new", got)
	}
	alone(t, dir, "file")
}

func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), "another writer") {
		t.Errorf("a second writer got %v, want an error", err)
	}
	if _, err := f.WriteString("first"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	put(t, path, "second")
	if got := content(t, path); got != "second" {
		t.Errorf("the file holds %q, want second", got)
	}
}

func TestLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	put(t, link, "through a link that leads nowhere yet")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	put(t, link, "new")
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if content(t, path) != "new" || info.Mode() != 0o640 {
		t.Errorf("the file holds %q with mode %v, want new with 0640", content(t, path), info.Mode())
	}
	alone(t, dir, "file", "link")
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, loop, filepath.Join(dir, "missing", "file")} {
		if _, err := Create(path); err == nil || !strings.Contains(err.Error(), path[:len(dir)]) {
			t.Errorf("Create(%s): %v, want an error that names it", path, err)
		}
	}
}
