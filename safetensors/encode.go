package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kernelgen/kgen/internal/atomicfile"
)

// A Source is a tensor to be written.
type Source struct {
	Name  string
	DType DType
	Shape []int // empty for a scalar
	// Data gives the elements, little-endian in row-major order. It is read from
	// the start to the end in pieces of whole elements, the last byte included.
	Data io.ReaderAt
}

// piece is how many bytes of a tensor are read and written at once.
const piece = 1 << 20

// WriteFile writes a file as a whole or not at all: the path holds what it held
// before, or all of the tensors, whenever the process or the machine stops.
func WriteFile(path string, metadata map[string]string, tensors []Source) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if err := Encode(f, metadata, tensors); err != nil {
		f.Discard()
		return fmt.Errorf("safetensors: %s: it is not written: %w", path, err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("safetensors: %s: %w", path, err)
	}
	return nil
}

// Encode writes tensors and metadata: those with large elements first, those of
// one type by name, so that each begins at a multiple of its element size and the
// same content gives the same bytes.
func Encode(w io.Writer, metadata map[string]string, tensors []Source) error {
	tensors = slices.Clone(tensors)
	slices.SortStableFunc(tensors, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.DType.Size(), a.DType.Size()), cmp.Compare(a.DType, b.DType), cmp.Compare(a.Name, b.Name))
	})
	sizes, err := check(tensors)
	if err != nil {
		return err
	}
	header, err := encodeHeader(metadata, tensors, sizes)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	buf := make([]byte, piece)
	for i, t := range tensors {
		if err := copyData(w, t.Data, sizes[i], buf); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
	}
	return nil
}

// check returns the bytes of each tensor.
func check(tensors []Source) ([]int64, error) {
	sizes := make([]int64, len(tensors))
	seen := map[string]bool{}
	total := int64(0)
	for i, t := range tensors {
		if err := checkName(t.Name); err != nil {
			return nil, err
		}
		n, err := count(t.DType, t.Shape)
		switch {
		case err != nil:
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		case seen[t.Name]:
			return nil, fmt.Errorf("tensor %q: the name is given twice", t.Name)
		case total+n < total:
			return nil, fmt.Errorf("tensor %q: all tensors together have more bytes than an int64 holds", t.Name)
		}
		seen[t.Name] = true
		sizes[i] = n
		total += n
	}
	return sizes, nil
}

// encodeHeader returns the length of the header and the header, with spaces
// behind it so that the tensors begin at a multiple of eight bytes.
func encodeHeader(metadata map[string]string, tensors []Source, sizes []int64) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 8))
	h := headerWriter{json: jsontext.NewEncoder(out)}
	h.token(jsontext.BeginObject)
	if len(metadata) > 0 {
		h.metadata(metadata)
	}
	offset := int64(0)
	for i, t := range tensors {
		h.tensor(t, offset, offset+sizes[i])
		offset += sizes[i]
	}
	h.token(jsontext.EndObject)
	if h.err != nil {
		return nil, h.err
	}
	b := bytes.TrimRight(out.Bytes(), "\n")
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	n := len(b) - 8
	if n > MaxHeader {
		return nil, fmt.Errorf("the header has %d bytes, the most that readers take is %d", n, MaxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b, nil
}

// headerWriter writes the parts of a header and keeps the first error.
type headerWriter struct {
	json *jsontext.Encoder
	err  error
}

func (h *headerWriter) token(t jsontext.Token) {
	if h.err == nil {
		h.err = h.json.WriteToken(t)
	}
}

func (h *headerWriter) text(texts ...string) {
	for _, s := range texts {
		if h.err != nil {
			return
		}
		if err := h.json.WriteToken(jsontext.String(s)); err != nil {
			h.err = fmt.Errorf("%q: %w", s, err)
		}
	}
}

func (h *headerWriter) metadata(m map[string]string) {
	h.text(metadataKey)
	h.token(jsontext.BeginObject)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		h.text(k, m[k])
	}
	h.token(jsontext.EndObject)
}

func (h *headerWriter) tensor(t Source, begin, end int64) {
	h.text(t.Name)
	h.token(jsontext.BeginObject)
	h.text("dtype", string(t.DType), "shape")
	h.token(jsontext.BeginArray)
	for _, d := range t.Shape {
		h.token(jsontext.Int(int64(d)))
	}
	h.token(jsontext.EndArray)
	h.text("data_offsets")
	h.token(jsontext.BeginArray)
	h.token(jsontext.Int(begin))
	h.token(jsontext.Int(end))
	h.token(jsontext.EndArray)
	h.token(jsontext.EndObject)
}

// copyData copies n bytes from a tensor.
func copyData(w io.Writer, data io.ReaderAt, n int64, buf []byte) error {
	for off := int64(0); off < n; {
		p := buf[:min(int64(len(buf)), n-off)]
		m, err := data.ReadAt(p, off)
		if m < len(p) {
			if err == nil || errors.Is(err, io.EOF) {
				err = fmt.Errorf("it has %d bytes, its shape needs %d", off+int64(m), n)
			}
			return err
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
		off += int64(m)
	}
	return nil
}
