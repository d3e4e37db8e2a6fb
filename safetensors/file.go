package safetensors

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/kernelgen/kgen/internal/mmap"
)

// Info says what a tensor is and where its bytes lie.
type Info struct {
	Name  string
	DType DType
	Shape []int // empty for a scalar

	begin, end int64 // of the bytes, counted from the end of the header
}

// Bytes returns the number of bytes of the tensor.
func (t Info) Bytes() int64 { return t.end - t.begin }

// String formats the tensor as "w F32[2 3]".
func (t Info) String() string { return fmt.Sprintf("%s %s%v", t.Name, t.DType, t.Shape) }

// A File is the content of a safetensors file.
type File struct {
	metadata map[string]string
	tensors  []Info
	index    map[string]int
	data     []byte // what follows the header
	mapped   *mmap.Map
}

// Open maps the file at path and checks its header; what the tensors hold is read
// when it is used. Close it when done.
func Open(path string) (*File, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, err := Decode(m.Bytes)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	f.mapped = m
	return f, nil
}

// Metadata returns the strings that the header holds beside the tensors. The map
// is the caller's.
func (f *File) Metadata() map[string]string { return f.metadata }

// Tensors returns the tensors in the order of their bytes.
func (f *File) Tensors() []Info { return f.tensors }

// Lookup returns the tensor with this name.
func (f *File) Lookup(name string) (Info, bool) {
	i, ok := f.index[name]
	if !ok {
		return Info{}, false
	}
	return f.tensors[i], true
}

// Data returns the bytes of a tensor of this file: little-endian elements in
// row-major order. They are not a copy: they must not be written to, nor used
// after Close. Their address need not be a multiple of the element size.
func (f *File) Data(t Info) []byte { return f.data[t.begin:t.end:t.end] }

// Close ends the mapping of a file that Open gave; the bytes of its tensors are
// gone.
func (f *File) Close() error {
	f.data = nil
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// count returns the number of bytes of a tensor. No product on the way to it may
// overflow, also where a later dimension is zero: the reference implementation
// refuses such files.
func count(t DType, shape []int) (int64, error) {
	size := t.Size()
	if size == 0 {
		return 0, fmt.Errorf("dtype %q is not known", t)
	}
	n := uint64(size)
	over := false
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension", shape)
		}
		hi, lo := bits.Mul64(n, uint64(d))
		over = over || hi != 0 || int64(lo) < 0
		n = lo
	}
	if over {
		return 0, fmt.Errorf("shape %v of %s has more bytes than an int64 holds", shape, t)
	}
	return int64(n), nil
}

// checkName refuses names that the format has no room for.
func checkName(name string) error {
	switch name {
	case "":
		return errors.New("a tensor has the empty name")
	case metadataKey:
		return errors.New(metadataKey + " is the key of the metadata, not the name of a tensor")
	}
	return nil
}
