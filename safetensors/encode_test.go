package safetensors

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func source(name string, t DType, data []byte, shape ...int) Source {
	return Source{name, t, shape, bytes.NewReader(data)}
}

func TestEncodeAlignsAndOrders(t *testing.T) {
	var first, second bytes.Buffer
	list := every()
	if err := Encode(&first, everyMetadata, list); err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	if err := Encode(&second, everyMetadata, list); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the order of the tensors changes the file")
	}
	f, err := Decode(first.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	start := int64(first.Len() - len(f.data))
	for _, info := range f.Tensors() {
		if (start+info.begin)%info.DType.Size() != 0 {
			t.Errorf("%v begins at byte %d", info, start+info.begin)
		}
	}
}

// A tensor of several pieces comes through whole.
func TestEncodeLarge(t *testing.T) {
	data := make([]byte, 2*piece+12)
	for i := range data {
		data[i] = byte(i % 251)
	}
	var out bytes.Buffer
	if err := Encode(&out, nil, []Source{source("x", F32, data, len(data)/4)}); err != nil {
		t.Fatal(err)
	}
	f, err := Decode(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := f.Lookup("x"); !bytes.Equal(f.Data(x), data) {
		t.Error("the bytes are others")
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the device is lost") }

// A file that cannot be written leaves what was there.
func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file.safetensors")
	if err := WriteFile(path, map[string]string{"is": "old"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		metadata map[string]string
		tensors  []Source
		want     string
	}{
		{nil, []Source{source("", U8, nil, 0)}, "empty name"},
		{nil, []Source{source("__metadata__", U8, nil, 0)}, "key of the metadata"},
		{nil, []Source{source("a\xff", U8, nil, 0)}, "UTF-8"},
		{map[string]string{"k": "\xff"}, nil, "UTF-8"},
		{nil, []Source{source("a", U8, nil, 0), source("a", F32, nil, 0)}, `tensor "a": the name is given twice`},
		{nil, []Source{source("a", "F33", nil, 0)}, `tensor "a": dtype "F33" is not known`},
		{nil, []Source{source("a", U8, nil, -1)}, "negative dimension"},
		{nil, []Source{source("a", F32, nil, 1<<40, 1<<40)}, "more bytes than an int64 holds"},
		{nil, []Source{source("a", U8, nil, 1<<62), source("b", U8, nil, 1<<62)}, "all tensors together"},
		{nil, []Source{source("a", F32, make([]byte, 7), 2)}, `tensor "a": it has 7 bytes, its shape needs 8`},
		{nil, []Source{{"a", U8, []int{1}, broken{}}}, `tensor "a": the device is lost`},
	} {
		err := WriteFile(path, c.metadata, c.tensors)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q and the path", err, c.want)
		}
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Metadata()["is"] != "old" {
		t.Errorf("the file holds %v, want what was there", f.Metadata())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v, want the file alone", entries)
	}
}

// Encode passes on what the writer says.
func TestEncodeToBrokenWriter(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	for _, list := range [][]Source{nil, {source("a", U8, []byte{1}, 1)}} {
		if err := Encode(w, nil, list); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("error %v, want %v", err, io.ErrClosedPipe)
		}
	}
}
