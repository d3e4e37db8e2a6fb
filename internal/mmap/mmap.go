// Package mmap gives the bytes of a file without a copy of them: mapped where
// the system can do it, read where not. It knows nothing of formats.
package mmap

import (
	"fmt"
	"os"
)

// A Map is the content of a file. Its bytes are read only: a write to them ends
// the program. The file must not be cut short while it is mapped, which ends a
// program that reads what is gone; replacing it by a rename is fine.
type Map struct {
	Bytes []byte
	unmap func() error
}

// Open maps a file.
func Open(path string) (*Map, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is not a regular file", path)
	}
	if info.Size() != int64(int(info.Size())) {
		return nil, fmt.Errorf("%s: %d bytes are more than this machine can address", path, info.Size())
	}
	if info.Size() == 0 {
		return &Map{}, nil
	}
	m, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot map %d bytes: %w", path, info.Size(), err)
	}
	return m, nil
}

// Close ends the mapping: its bytes must not be used any more. A second Close
// does nothing.
func (m *Map) Close() error {
	unmap := m.unmap
	m.Bytes, m.unmap = nil, nil
	if unmap == nil {
		return nil
	}
	return unmap()
}
