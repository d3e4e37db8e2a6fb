package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kernelgen/kgen/internal/mmap"
)

// JSONL is the samples of a file with an object of JSON in each line: "input_ids"
// with or without an "attention_mask", or else "text", and as one likes "target".
type JSONL struct {
	path   string
	data   []byte
	encode Encoder
	dim    int
	lines  []jsonLine
	mapped *mmap.Map
}

// jsonLine is where a sample stands.
type jsonLine struct {
	begin, end int64
	number     int // from 1
	tokens     int32
}

// OpenJSONL maps a file and checks every line; the error lists the first ten that
// are wrong. encode gives the ids of lines that have a text only; nil if there are
// none. Close it when done.
func OpenJSONL(path string, encode Encoder) (*JSONL, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	f, err := decodeJSONL(path, m.Bytes, encode)
	if err != nil {
		m.Close()
		return nil, err
	}
	f.mapped = m
	return f, nil
}

func decodeJSONL(path string, data []byte, encode Encoder) (*JSONL, error) {
	f := &JSONL{path: path, data: data, encode: encode, dim: -1}
	var errs []error
	var s Sample
	at := int64(0)
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		at = 3
	}
	for number := 1; at < int64(len(data)) && len(errs) < mostErrors; number++ {
		line := jsonLine{begin: at, end: int64(len(data)), number: number}
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			line.end = at + int64(n)
		}
		at = line.end + 1
		if len(bytes.TrimSpace(data[line.begin:line.end])) == 0 {
			continue
		}
		if err := f.read(line, &s); err != nil {
			errs = append(errs, err)
			continue
		}
		f.dim = len(s.Target)
		line.tokens = int32(len(s.IDs))
		f.lines = append(f.lines, line)
	}
	f.dim = max(f.dim, 0)
	return f, errors.Join(errs...)
}

// Close ends the mapping.
func (f *JSONL) Close() error {
	f.data = nil
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// Len returns the number of samples.
func (f *JSONL) Len() int { return len(f.lines) }

// Tokens returns the number of ids of sample i.
func (f *JSONL) Tokens(i int) int { return int(f.lines[i].tokens) }

// Dim returns the number of elements of each target.
func (f *JSONL) Dim() int { return f.dim }

// Read reads sample i.
func (f *JSONL) Read(i int, s *Sample) error { return f.read(f.lines[i], s) }

// read reads the sample of a line.
func (f *JSONL) read(line jsonLine, s *Sample) error {
	if err := f.decode(f.data[line.begin:line.end], s); err != nil {
		return fmt.Errorf("dataset: %s:%d: (byte %d) %w", f.path, line.number, line.begin, err)
	}
	return nil
}

func (f *JSONL) decode(line []byte, s *Sample) error {
	in := struct {
		Text   *string  `json:"text"`
		IDs    integers `json:"input_ids"`
		Mask   integers `json:"attention_mask"`
		Target floats   `json:"target"`
	}{Target: s.Target[:0]}
	if err := json.Unmarshal(line, &in, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	switch {
	case in.IDs != nil:
		s.IDs = append(s.IDs[:0], in.IDs...)
	case in.Text == nil:
		return errors.New("there is neither input_ids nor text")
	case in.Mask != nil:
		return errors.New("there is an attention_mask for a text, whose ids nobody knows")
	case f.encode == nil:
		return errors.New("there is a text without input_ids, and no tokenizer")
	default:
		s.IDs = f.encode(s.IDs[:0], *in.Text)
	}
	if len(s.IDs) > math.MaxInt32 {
		return fmt.Errorf("there are %d ids, the most is %d", len(s.IDs), math.MaxInt32)
	}
	if err := in.Mask.mask(s); err != nil {
		return err
	}
	s.Target = in.Target
	dim := f.dim
	if dim < 0 {
		dim = len(s.Target) // the first sample says it
	}
	return s.check(dim)
}

// integers is an array of JSON of whole numbers, nil if it is not there.
type integers []int32

// UnmarshalJSONFrom reads the array.
func (n *integers) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = make(integers, 0, 64)
	return numbers(dec, func(v []byte) error {
		x, err := strconv.ParseInt(string(v), 10, 32)
		if err != nil {
			return fmt.Errorf("%.40s is no whole number of 32 bits", v)
		}
		*n = append(*n, int32(x))
		return nil
	})
}

// mask sets the mask of a sample: all ones where the file has none.
func (n integers) mask(s *Sample) error {
	s.Mask = s.Mask[:0]
	if n == nil {
		for range s.IDs {
			s.Mask = append(s.Mask, 1)
		}
		return nil
	}
	for i, m := range n {
		if m != 0 && m != 1 {
			return fmt.Errorf("attention_mask[%d] is %d, must be 0 or 1", i, m)
		}
		s.Mask = append(s.Mask, uint8(m))
	}
	return nil
}

// floats is an array of JSON of numbers.
type floats []float32

// UnmarshalJSONFrom reads the array.
func (n *floats) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = (*n)[:0]
	return numbers(dec, func(v []byte) error {
		x, err := strconv.ParseFloat(string(v), 32)
		if err != nil {
			return fmt.Errorf("%.40s is no number that a float32 holds", v)
		}
		*n = append(*n, float32(x))
		return nil
	})
}

// numbers hands the elements of an array that must be there to add.
func numbers(dec *jsontext.Decoder, add func(v []byte) error) error {
	if kind := dec.PeekKind(); kind != '[' {
		return fmt.Errorf("there is %v, must be an array of numbers", kind)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := add(v); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}
