// Package atomicfile writes files that are never seen half written: whoever opens
// the path finds the old content or the new one, also after the writer was killed
// or the machine lost power.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A File is the new content of a path until Commit puts it there. It is written
// beside the path, in a hidden file that carries the path's name; what a killed
// writer left there, the next one writes over.
type File struct {
	*os.File
	target string
}

// Create begins to write the file at path. Another File for the same path that is
// open, in any process, is an error. A symbolic link stays one: the file that
// it names is written.
func Create(path string) (*File, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	old, err := os.Stat(target)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err == nil && !old.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is not a regular file", path)
	}
	dir, base := filepath.Split(target)
	f, err := openLocked(filepath.Join(dir, "."+base+".partial"))
	if err != nil {
		return nil, err
	}
	if old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err = errors.Join(err, f.Truncate(0)); err != nil {
		f.Close()
		return nil, err
	}
	return &File{f, target}, nil
}

// resolve follows symbolic links, also those that lead to a file that is not
// there yet.
func resolve(path string) (string, error) {
	for range 40 {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// openLocked opens the partial file for this writer alone.
func openLocked(partial string) (*os.File, error) {
	for {
		f, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: another writer is at work: %w", partial, err)
		}
		// Another writer may have moved the file to its place before the lock was had.
		ours, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		there, err := os.Stat(partial)
		if err == nil && os.SameFile(ours, there) {
			return f, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
}

// Commit makes what was written the content of the path, and returns when both
// the file and its name are on the disk. After an error the path is what it was,
// unless only the last of these could not be had.
func (f *File) Commit() error {
	if err := f.Sync(); err != nil {
		f.Discard()
		return err
	}
	if err := os.Rename(f.Name(), f.target); err != nil {
		f.Discard()
		return err
	}
	return errors.Join(f.Close(), syncDir(filepath.Dir(f.target)))
}

// Discard drops what was written. After Commit it does nothing.
func (f *File) Discard() {
	if _, err := f.Stat(); err != nil {
		return // it is closed
	}
	os.Remove(f.Name())
	f.Close()
}
