package out

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// File is one rendered file.
type File struct {
	Path string // relative to the module root, slash-separated; one that the tree owns
	Data []byte
}

// Kind says what became, or would become, of a file.
type Kind uint8

// The kinds of change.
const (
	Create Kind = iota // rendered, not on disk
	Update             // on disk with other bytes
	Remove             // on disk with the generator's marker, no longer rendered
)

// Change is one difference between the rendered files and the disk.
type Change struct {
	Kind     Kind
	Path     string
	Old, New []byte // nil where there is no such side
}

// Diff returns the change as a unified diff with the names a/PATH and b/PATH
// (/dev/null for a side that is missing).
func (c Change) Diff() []byte {
	from, to := "a/"+c.Path, "b/"+c.Path
	switch c.Kind {
	case Create:
		from = "/dev/null"
	case Remove:
		to = "/dev/null"
	}
	return diff.Diff(from, c.Old, to, c.New)
}

// Tree is a module on disk and what in it belongs to the generator.
type Tree struct {
	Root  string   // the module root
	Owned []string // directories below Root, slash-separated, searched for orphans
	Files []string // files in directories of others, slash-separated
	// Partial says that the files given are not all there are, so nothing is
	// an orphan.
	Partial bool
}

// Compare returns what Apply would do to make the disk hold the files, in the
// order of their paths, and writes nothing. A file in the way that the
// generator did not write is an error; all such errors are reported together.
func (t Tree) Compare(files []File) ([]Change, error) {
	files, err := t.ordered(files)
	if err != nil {
		return nil, err
	}
	var changes []Change
	var errs []error
	for _, f := range files {
		c, differs, err := t.compareFile(f)
		if err != nil {
			errs = append(errs, err)
		} else if differs {
			changes = append(changes, c)
		}
	}
	if !t.Partial {
		orphans, err := t.orphans(files)
		if err != nil {
			errs = append(errs, err)
		}
		changes = append(changes, orphans...)
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, errors.Join(errs...)
}

// ordered returns the files sorted by path, or an error when two of them would
// be one file on some file system, or one lies outside the owned directories.
func (t Tree) ordered(files []File) ([]File, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	seen := make(map[string]string, len(files))
	for _, f := range files {
		if !t.owns(f.Path) {
			return nil, fmt.Errorf("%s: is outside of the generator's directories %s", f.Path, strings.Join(t.Owned, ", "))
		}
		folded := strings.ToLower(f.Path)
		if other, ok := seen[folded]; ok {
			return nil, fmt.Errorf("%s: two specs give this file and %s", f.Path, other)
		}
		seen[folded] = f.Path
	}
	return files, nil
}

func (t Tree) owns(p string) bool {
	if path.Clean(p) != p {
		return false
	}
	return slices.Contains(t.Files, p) || slices.ContainsFunc(t.Owned, func(dir string) bool { return strings.HasPrefix(p, dir+"/") })
}

func (t Tree) abs(p string) string { return filepath.Join(t.Root, filepath.FromSlash(p)) }

func (t Tree) compareFile(f File) (Change, bool, error) {
	old, err := os.ReadFile(t.abs(f.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return Change{Kind: Create, Path: f.Path, New: f.Data}, true, nil
	}
	if err != nil {
		return Change{}, false, relative(f.Path, err)
	}
	if bytes.Equal(old, f.Data) {
		return Change{}, false, nil
	}
	if len(old) > 0 && !Marked(old) {
		return Change{}, false, fmt.Errorf("%s: is in the way and was not written by kgen: move it or rename the spec", f.Path)
	}
	return Change{Kind: Update, Path: f.Path, Old: old, New: f.Data}, true, nil
}

// orphans returns a Remove for each file in the owned directories that carries
// the generator's marker and is not among the files.
func (t Tree) orphans(files []File) ([]Change, error) {
	keep := make(map[string]bool, len(files))
	for _, f := range files {
		keep[f.Path] = true
	}
	var changes []Change
	var errs []error
	for _, dir := range t.Owned {
		err := t.walk(dir, func(p string) error {
			if keep[p] {
				return nil
			}
			marked, err := markedFile(t.abs(p))
			if err != nil || !marked {
				return relative(p, err)
			}
			old, err := os.ReadFile(t.abs(p))
			if err != nil {
				return relative(p, err)
			}
			changes = append(changes, Change{Kind: Remove, Path: p, Old: old})
			return nil
		})
		if err != nil {
			errs = append(errs, err)
		}
	}
	return changes, errors.Join(errs...)
}

// walk calls visit for every file, or link to a file, below the owned
// directory dir. The directory itself may be a link; links to directories
// below it are not followed.
func (t Tree) walk(dir string, visit func(path string) error) error {
	root, err := filepath.EvalSymlinks(t.abs(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return relative(dir, err)
	}
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		if relErr != nil {
			return relErr
		}
		p := path.Join(dir, filepath.ToSlash(rel))
		if err != nil {
			return relative(p, err)
		}
		if !isFile(name, d) {
			return nil
		}
		return visit(p)
	})
}

// isFile reports whether the entry is a regular file or a link to one.
func isFile(name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// relative names a file of the module in err, in place of its absolute path.
func relative(p string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pe):
		return fmt.Errorf("%s: %s: %w", p, pe.Op, pe.Err)
	case errors.As(err, &le):
		return fmt.Errorf("%s: %s: %w", p, le.Op, le.Err)
	}
	return fmt.Errorf("%s: %w", p, err)
}
