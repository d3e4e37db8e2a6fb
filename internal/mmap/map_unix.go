//go:build unix && !solaris && !aix

package mmap

import (
	"os"
	"syscall"
)

func mapFile(f *os.File, size int) (*Map, error) {
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &Map{Bytes: b, unmap: func() error { return syscall.Munmap(b) }}, nil
}
