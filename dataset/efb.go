package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernelgen/kgen/internal/atomicfile"
	"github.com/kernelgen/kgen/internal/mmap"
)

// magic is how an EFB1 file begins. The number of samples and the number of
// elements of a target follow, then the samples: the number of ids, the ids, a byte
// of mask for each, the target. All numbers are little-endian of 32 bits.
const (
	magic     = "EFB1"
	efbHeader = 12
)

// EFB is the samples of an EFB1 file.
type EFB struct {
	path   string
	data   []byte
	dim    int
	begin  []int64 // of each sample, and the end of the last
	mapped *mmap.Map
}

// OpenEFB maps an EFB1 file and finds its samples, which must fill it. What they
// hold is checked when they are read. Close it when done.
func OpenEFB(path string) (*EFB, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	f, err := decodeEFB(path, m.Bytes)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("dataset: %s: %w", path, err)
	}
	f.mapped = m
	return f, nil
}

func decodeEFB(path string, data []byte) (*EFB, error) {
	if len(data) < efbHeader || string(data[:4]) != magic {
		return nil, fmt.Errorf("%d bytes that begin with %q are no EFB1 file", len(data), data[:min(4, len(data))])
	}
	count, dim := int64(binary.LittleEndian.Uint32(data[4:])), int64(binary.LittleEndian.Uint32(data[8:]))
	size := int64(len(data))
	if least := 4 + 4*dim; count > (size-efbHeader)/least {
		return nil, fmt.Errorf("%d samples with targets of %d elements have %d bytes at least, %d follow the header: the file is cut", count, dim, count*least, size-efbHeader)
	}
	f := &EFB{path: path, data: data, dim: int(dim), begin: make([]int64, 0, count+1)}
	at := int64(efbHeader)
	for i := range count {
		f.begin = append(f.begin, at)
		if size-at < 4 {
			return nil, fmt.Errorf("sample %d at byte %d: the file ends: it is cut", i, at)
		}
		n := int64(binary.LittleEndian.Uint32(data[at:]))
		if need := 4 + 5*n + 4*dim; need > size-at {
			return nil, fmt.Errorf("sample %d at byte %d: %d ids and a target of %d elements are %d bytes, %d are left: the file is cut", i, at, n, dim, need, size-at)
		}
		at += 4 + 5*n + 4*dim
	}
	f.begin = append(f.begin, at)
	if at != size {
		return nil, fmt.Errorf("%d bytes from byte %d on belong to no sample", size-at, at)
	}
	return f, nil
}

// Close ends the mapping.
func (f *EFB) Close() error {
	f.data = nil
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// Len returns the number of samples.
func (f *EFB) Len() int { return len(f.begin) - 1 }

// Tokens returns the number of ids of sample i.
func (f *EFB) Tokens(i int) int {
	return int((f.begin[i+1] - f.begin[i] - 4 - 4*int64(f.dim)) / 5)
}

// Dim returns the number of elements of each target.
func (f *EFB) Dim() int { return f.dim }

// Read reads sample i.
func (f *EFB) Read(i int, s *Sample) error {
	n, at := f.Tokens(i), f.begin[i]
	ids := f.data[at+4:]
	s.IDs = slices.Grow(s.IDs[:0], n)[:n]
	for j := range s.IDs {
		id := binary.LittleEndian.Uint32(ids[4*j:])
		if id > math.MaxInt32 {
			return f.wrong(i, fmt.Errorf("ids[%d] is %d, the most is %d", j, id, math.MaxInt32))
		}
		s.IDs[j] = int32(id)
	}
	s.Mask = append(s.Mask[:0], ids[4*n:5*n]...)
	s.Target = slices.Grow(s.Target[:0], f.dim)[:f.dim]
	for j := range s.Target {
		s.Target[j] = math.Float32frombits(binary.LittleEndian.Uint32(ids[5*n+4*j:]))
	}
	if err := s.check(f.dim); err != nil {
		return f.wrong(i, err)
	}
	return nil
}

func (f *EFB) wrong(i int, err error) error {
	return fmt.Errorf("dataset: %s: sample %d at byte %d: %w", f.path, i, f.begin[i], err)
}

// An EFBWriter writes an EFB1 file, sample after sample.
type EFBWriter struct {
	path  string
	file  *atomicfile.File
	out   *bufio.Writer
	dim   int
	count uint32
	buf   []byte
	err   error
}

// CreateEFB begins an EFB1 file whose targets have dim elements. The path holds
// what it held before until Commit.
func CreateEFB(path string, dim int) (*EFBWriter, error) {
	if dim < 0 || int64(dim) > math.MaxUint32 {
		return nil, fmt.Errorf("dataset: %s: a target of %d elements, must be in [0, %d]", path, dim, uint32(math.MaxUint32))
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	w := &EFBWriter{path: path, file: f, out: bufio.NewWriter(f), dim: dim}
	w.put(append(binary.LittleEndian.AppendUint32([]byte(magic), 0), binary.LittleEndian.AppendUint32(nil, uint32(dim))...))
	return w, nil
}

// put writes bytes and keeps the first error.
func (w *EFBWriter) put(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

// Write appends a sample. After an error the file cannot be had any more.
func (w *EFBWriter) Write(s *Sample) error {
	if w.err == nil {
		w.err = s.check(w.dim)
	}
	if w.err == nil && (w.count == math.MaxUint32 || int64(len(s.IDs)) > math.MaxUint32) {
		w.err = errors.New("the counts of the format have 32 bits")
	}
	b := binary.LittleEndian.AppendUint32(w.buf[:0], uint32(len(s.IDs)))
	for _, id := range s.IDs {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	b = append(b, s.Mask...)
	for _, v := range s.Target {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	w.buf = b
	w.put(b)
	if w.err != nil {
		return fmt.Errorf("dataset: %s: sample %d: %w", w.path, w.count, w.err)
	}
	w.count++
	return nil
}

// Commit puts the number of samples into the header and the file in its place.
func (w *EFBWriter) Commit() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		_, w.err = w.file.WriteAt(binary.LittleEndian.AppendUint32(nil, w.count), int64(len(magic)))
	}
	if w.err != nil {
		w.Discard()
		return fmt.Errorf("dataset: %s is not written: %w", w.path, w.err)
	}
	if err := w.file.Commit(); err != nil {
		return fmt.Errorf("dataset: %s: %w", w.path, err)
	}
	return nil
}

// Discard drops what was written. After Commit it does nothing.
func (w *EFBWriter) Discard() { w.file.Discard() }
