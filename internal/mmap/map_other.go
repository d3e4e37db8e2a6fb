//go:build !unix || solaris || aix

package mmap

import (
	"io"
	"os"
)

func mapFile(f *os.File, size int) (*Map, error) {
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return &Map{Bytes: b}, nil
}
