package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxHeader is the most bytes that a header may have. The reference
// implementation has the same limit.
const MaxHeader = 100_000_000

// metadataKey is the member of the header that is not a tensor.
const metadataKey = "__metadata__"

// Decode reads the content of a safetensors file, which it keeps: nothing is
// copied. Every byte behind the header must belong to one tensor, and every
// tensor have the bytes that its type and shape need.
func Decode(content []byte) (*File, error) {
	if len(content) < 8 {
		return nil, fmt.Errorf("%d bytes are too few for a safetensors file, which begins with 8 for the length of its header", len(content))
	}
	n := binary.LittleEndian.Uint64(content)
	if rest := uint64(len(content)) - 8; n > rest {
		return nil, fmt.Errorf("the header should have %d bytes, %d follow: the file is cut or is no safetensors file", n, rest)
	}
	if n > MaxHeader {
		return nil, fmt.Errorf("the header has %d bytes, the most that is read is %d", n, MaxHeader)
	}
	header, data := content[8:8+n], content[8+n:]
	if n == 0 || header[0] != '{' {
		return nil, errors.New("the header does not begin with {: this is no safetensors file")
	}
	f := &File{data: data}
	if err := f.decodeHeader(header); err != nil {
		return nil, err
	}
	if err := f.checkLayout(); err != nil {
		return nil, err
	}
	return f, nil
}

// decodeHeader reads the JSON. Doubled names, invalid UTF-8 and deep nesting are
// errors of the JSON decoder.
func (f *File) decodeHeader(header []byte) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(header, &members); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if m, ok := members[metadataKey]; ok {
		var err error
		if f.metadata, err = decodeMetadata(m); err != nil {
			return fmt.Errorf("%s must be an object of strings: %w", metadataKey, err)
		}
		delete(members, metadataKey)
	}
	f.tensors = make([]Info, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		t, err := decodeTensor(name, members[name])
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		f.tensors = append(f.tensors, t)
	}
	return nil
}

// decodeMetadata reads an object of strings, without null for one of them.
func decodeMetadata(value jsontext.Value) (map[string]string, error) {
	var texts map[string]*string
	if err := json.Unmarshal(value, &texts); err != nil {
		return nil, err
	}
	if texts == nil {
		return nil, errors.New("it is null")
	}
	metadata := make(map[string]string, len(texts))
	for name, s := range texts {
		if s == nil {
			return nil, fmt.Errorf("%q is null", name)
		}
		metadata[name] = *s
	}
	return metadata, nil
}

// decodeTensor reads one member of the header and checks it by itself.
func decodeTensor(name string, value jsontext.Value) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	var in struct {
		DType   *DType   `json:"dtype"`
		Shape   *numbers `json:"shape"`
		Offsets numbers  `json:"data_offsets"`
	}
	if err := json.Unmarshal(value, &in, json.RejectUnknownMembers(true)); err != nil {
		return Info{}, err
	}
	switch {
	case in.DType == nil:
		return Info{}, errors.New("it has no dtype")
	case in.Shape == nil:
		return Info{}, errors.New("it has no shape")
	case len(in.Offsets) != 2:
		return Info{}, fmt.Errorf("data_offsets %v must be two numbers", in.Offsets)
	}
	t := Info{Name: name, DType: *in.DType, Shape: *in.Shape, begin: int64(in.Offsets[0]), end: int64(in.Offsets[1])}
	n, err := count(t.DType, t.Shape)
	if err != nil {
		return Info{}, err
	}
	if t.end < t.begin {
		return Info{}, fmt.Errorf("data_offsets %v are no range of bytes", in.Offsets)
	}
	if t.Bytes() != n {
		return Info{}, fmt.Errorf("data_offsets %v are %d bytes, shape %v of %s has %d", in.Offsets, t.Bytes(), t.Shape, t.DType, n)
	}
	return t, nil
}

// numbers is an array of natural numbers, written as digits and no other way.
type numbers []int

// UnmarshalJSONFrom reads the array.
func (n *numbers) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '[' {
		return fmt.Errorf("there is %v, must be an array of numbers", kind)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	*n = numbers{}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		d, err := strconv.ParseUint(string(v), 10, strconv.IntSize-1)
		if err != nil {
			return fmt.Errorf("%.40s is no natural number of %d bits", v, strconv.IntSize-1)
		}
		*n = append(*n, int(d))
	}
	_, err := dec.ReadToken()
	return err
}

// checkLayout puts the tensors in the order of their bytes, and checks that they
// are all there with nothing between, on one another or behind.
func (f *File) checkLayout() error {
	slices.SortStableFunc(f.tensors, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	f.index = make(map[string]int, len(f.tensors))
	have, last := int64(0), ""
	for i, t := range f.tensors {
		switch {
		case t.end > int64(len(f.data)):
			return fmt.Errorf("tensor %q: bytes [%d, %d) lie beyond the %d that follow the header: the file is cut", t.Name, t.begin, t.end, len(f.data))
		case t.begin < have:
			return fmt.Errorf("tensor %q: bytes [%d, %d) overlap those of %q, which end at %d", t.Name, t.begin, t.end, last, have)
		case t.begin > have:
			return fmt.Errorf("tensor %q: bytes [%d, %d) come before it and belong to no tensor", t.Name, have, t.begin)
		}
		have, last = t.end, t.Name
		f.index[t.Name] = i
	}
	if more := int64(len(f.data)) - have; more > 0 {
		return fmt.Errorf("%d bytes at the end belong to no tensor", more)
	}
	return nil
}
