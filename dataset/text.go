package dataset

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/kernelgen/kgen/internal/mmap"
)

// ReadText returns the ids of a whole file of UTF-8. A byte order mark is left
// out.
func ReadText(path string, encode Encoder) ([]int32, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	defer m.Close()
	text := string(m.Bytes)
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && n == 1 {
			line := 1 + bytes.Count(m.Bytes[:at], []byte("\n"))
			return nil, fmt.Errorf("dataset: %s:%d: byte %d is 0x%02x, which is no UTF-8", path, line, at, text[at])
		}
		at += n
	}
	const mark = "\ufeff"
	if len(text) >= len(mark) && text[:len(mark)] == mark {
		text = text[len(mark):]
	}
	return encode(nil, text), nil
}

// Windows is pieces of a long text, to learn what comes next: each sample has the
// ids of its piece and the one after them.
type Windows struct {
	ids            []int32
	length, stride int
}

// NewWindows cuts ids into pieces of length ids, of which each begins stride ids
// after the one before; the last may be shorter. With a stride of length every id
// but the first of the text is foretold once; with a smaller one the pieces overlap.
// It keeps ids.
func NewWindows(ids []int32, length, stride int) (*Windows, error) {
	if length < 1 || length >= math.MaxInt32 || stride < 1 || stride > length {
		return nil, fmt.Errorf("dataset: windows of %d ids, one every %d: must be positive, and the stride no longer than a window", length, stride)
	}
	return &Windows{ids, length, stride}, nil
}

// Len returns the number of pieces: the last is the first that comes to the end.
func (w *Windows) Len() int {
	if len(w.ids) < 2 {
		return 0
	}
	beyond := max(len(w.ids)-1-w.length, 0)
	return 1 + (beyond+w.stride-1)/w.stride
}

// Tokens returns the number of ids of sample i, the one to be foretold at its end
// included.
func (w *Windows) Tokens(i int) int { return min(w.length+1, len(w.ids)-i*w.stride) }

// Dim returns 0: there are no targets.
func (w *Windows) Dim() int { return 0 }

// Read reads sample i.
func (w *Windows) Read(i int, s *Sample) error {
	from := i * w.stride
	s.IDs = append(s.IDs[:0], w.ids[from:from+w.Tokens(i)]...)
	s.Target = s.Target[:0]
	return integers(nil).mask(s)
}
