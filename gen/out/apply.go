package out

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// Apply makes the disk hold the files and returns what it changed, in the
// order of the paths. Files that already hold their bytes are not touched. All
// new contents are on disk, beside their targets, before the first file is
// replaced, so a full disk or a directory that cannot be written leaves
// everything as it was; each file is replaced by a rename and so holds either
// its old bytes or its new ones. A file keeps its mode, and an output that is a
// link stays one. Runs that overlap wait for each other.
func (t Tree) Apply(ctx context.Context, files []File) ([]Change, error) {
	unlock, locked, err := lock(t.Root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if locked {
		if err := t.sweep(); err != nil {
			return nil, err
		}
	}
	changes, err := t.Compare(files)
	if err != nil {
		return nil, err
	}
	staged, err := t.stage(ctx, changes)
	defer discard(staged)
	if err != nil {
		return nil, err
	}
	var done []Change
	for i, c := range changes {
		if err := t.commit(c, &staged[i]); err != nil {
			return done, err
		}
		done = append(done, c)
	}
	return done, nil
}

// staging is the new content of one file, waiting for its rename. The names
// are empty for a removal and once the rename is done.
type staging struct {
	temp, target string
}

// stage writes the new content of each change beside its target.
func (t Tree) stage(ctx context.Context, changes []Change) ([]staging, error) {
	staged := make([]staging, len(changes))
	for i, c := range changes {
		if err := ctx.Err(); err != nil {
			return staged, err
		}
		if c.Kind == Remove {
			continue
		}
		var err error
		if staged[i], err = t.stageFile(c); err != nil {
			return staged, relative(c.Path, err)
		}
	}
	return staged, nil
}

func (t Tree) stageFile(c Change) (staging, error) {
	if err := os.MkdirAll(filepath.Dir(t.abs(c.Path)), 0o777); err != nil {
		return staging{}, err
	}
	target, err := resolve(t.abs(c.Path))
	if err != nil {
		return staging{}, err
	}
	temp, err := writeTemp(target, c.New)
	return staging{temp, target}, err
}

// commit puts one change into force.
func (t Tree) commit(c Change, s *staging) error {
	if c.Kind == Remove {
		return t.remove(c.Path)
	}
	if err := os.Rename(s.temp, s.target); err != nil {
		return relative(c.Path, err)
	}
	*s = staging{}
	return nil
}

// remove deletes an orphan and the directories that it leaves empty.
func (t Tree) remove(p string) error {
	if err := os.Remove(t.abs(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return relative(p, err)
	}
	for dir := path.Dir(p); t.owns(dir); dir = path.Dir(dir) {
		if os.Remove(t.abs(dir)) != nil {
			break // not empty
		}
	}
	return nil
}

// discard removes the temporary files that no rename has used.
func discard(staged []staging) {
	for _, s := range staged {
		if s.temp != "" {
			os.Remove(s.temp)
		}
	}
}

// Temporary files are named .kgen-NUMBER.tmp: a leading dot keeps them out of
// Go packages.
const tempPrefix, tempSuffix = ".kgen-", ".tmp"

// writeTemp writes data to a new file in the directory of target, with the
// mode that target has.
func writeTemp(target string, data []byte) (name string, err error) {
	f, err := createTemp(filepath.Dir(target))
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			os.Remove(f.Name())
			name = ""
		}
	}()
	if info, err := os.Stat(target); err == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return "", err
		}
	}
	_, err = f.Write(data)
	return f.Name(), err
}

var temps atomic.Int64 // numbers the temporary files of the process

// createTemp creates a new file in dir with the mode that the process gives to
// new files, which os.CreateTemp does not do.
func createTemp(dir string) (*os.File, error) {
	for {
		name := tempPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(temps.Add(1), 10) + tempSuffix
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// sweep removes temporary files of runs that were killed. It must be called
// under the lock: then no other run is using them.
func (t Tree) sweep() error {
	for _, dir := range t.Owned {
		if err := t.walk(dir, t.sweepFile); err != nil {
			return err
		}
	}
	for _, f := range t.Files {
		entries, err := os.ReadDir(t.abs(path.Dir(f)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return relative(path.Dir(f), err)
		}
		for _, e := range entries {
			if err := t.sweepFile(path.Join(path.Dir(f), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepFile removes a file if it is a temporary one.
func (t Tree) sweepFile(p string) error {
	base := path.Base(p)
	if !strings.HasPrefix(base, tempPrefix) || !strings.HasSuffix(base, tempSuffix) {
		return nil
	}
	return relative(p, os.Remove(t.abs(p)))
}

// resolve follows links from name to the file that they stand for, which need
// not exist.
func resolve(name string) (string, error) {
	const limit = 40 // as in the kernel
	for range limit {
		link, err := os.Readlink(name)
		if err != nil {
			return name, nil // no link, or nothing there
		}
		if !filepath.IsAbs(link) {
			// The directory may be a link itself, so ".." counts from its target.
			dir, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		name = link
	}
	return "", fmt.Errorf("more than %d links", limit)
}
