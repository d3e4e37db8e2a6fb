package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// file returns a file with this header, filled up with spaces to a number of
// bytes that leaves a remainder of pad modulo eight, and data behind it.
func file(header string, data string, pad int) []byte {
	for len(header)%8 != pad {
		header += " "
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// exact returns a file whose header has no spaces behind it.
func exact(header, data string) []byte { return file(header, data, len(header)%8) }

// one returns a file with a single tensor t.
func one(dtype, shape, offsets, data string) []byte {
	return file(fmt.Sprintf(`{"t":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets), data, 0)
}

// two returns a file with tensors a and b of two bytes each.
func two(a, b, data string) []byte {
	return file(fmt.Sprintf(`{"a":{"dtype":"U8","shape":[2],"data_offsets":%s},"b":{"dtype":"U8","shape":[2],"data_offsets":%s}}`, a, b), data, 0)
}

const good = `{"__metadata__":{"step":"7"},"w":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]}}`

// A hostile file is refused with an error that says want.
type hostile struct {
	name string
	data []byte
	want string
}

func hostiles() []hostile {
	whole := file(good, "abcdefg", 0)
	list := []hostile{
		{"shape beyond the data", one(`"F32"`, `[1000,1000]`, `[0,4]`, "abcd"), `tensor "t": data_offsets [0 4] are 4 bytes, shape [1000 1000] of F32 has 4000000`},
		{"shape beyond the data without padding", exact(`{"t":{"dtype":"F32","shape":[1000,1000],"data_offsets":[0,4]}}`, "abcd"), `has 4000000`},
		{"offsets beyond the data", one(`"F32"`, `[2]`, `[0,8]`, "abcd"), `tensor "t": bytes [0, 8) lie beyond the 4`},
		{"cut by a byte", whole[:len(whole)-1], "lie beyond the 6"},
		{"cut in the header", whole[:40], "the header should have"},
		{"a zip archive", append([]byte{0x50, 0x4b, 3, 4, 0, 0, 8, 8}, make([]byte, 100)...), "the header should have 578712552184433488 bytes, 100 follow"},
		{"largest header length", append(bytes.Repeat([]byte{0xff}, 8), "{}"...), "18446744073709551615"},
		{"a byte at the end", append(slices.Clone(whole), 0), "1 bytes at the end belong to no tensor"},
		{"no header", make([]byte, 8), "does not begin with {"},
		{"spaces before the header", exact(` {}`, ""), "does not begin with {"},
		{"header is an array", exact(`[]`, ""), "does not begin with {"},
		{"header is cut JSON", exact(`{"t":`, ""), "header: "},
		{"header goes on after its end", exact(`{}{}`, ""), "header: "},
		{"zeros behind the header", exact("{}\x00", ""), "header: "},
		{"overlap", two(`[0,2]`, `[1,3]`, "abc"), `tensor "b": bytes [1, 3) overlap those of "a"`},
		{"same bytes twice", two(`[0,2]`, `[0,2]`, "ab"), `overlap`},
		{"hole", two(`[0,2]`, `[3,5]`, "abcde"), `tensor "b": bytes [2, 3) come before it and belong to no tensor`},
		{"hole at the start", one(`"U8"`, `[2]`, `[2,4]`, "abcd"), `bytes [0, 2) come before it`},
		{"zero elements beyond the data", one(`"U8"`, `[0]`, `[5,5]`, ""), `lie beyond`},
		{"begin after end", one(`"U8"`, `[2]`, `[2,0]`, "ab"), `data_offsets [2 0] are no range`},
		{"negative begin", one(`"U8"`, `[2]`, `[-2,0]`, "ab"), `-2 is no natural number`},
		{"offset with exponent", one(`"U8"`, `[1000]`, `[0,1e3]`, strings.Repeat("a", 1000)), `1e3 is no natural number`},
		{"offset with fraction", one(`"U8"`, `[2]`, `[0,2.0]`, "ab"), `2.0 is no natural number`},
		{"offset as string", one(`"U8"`, `[2]`, `[0,"2"]`, "ab"), `"2" is no natural number`},
		{"offset null", one(`"U8"`, `[2]`, `[null,2]`, "ab"), `null is no natural number`},
		{"offset beyond 63 bits", one(`"U8"`, `[2]`, `[0,9223372036854775808]`, "ab"), `is no natural number`},
		{"one offset", one(`"U8"`, `[2]`, `[2]`, "ab"), `must be two numbers`},
		{"three offsets", one(`"U8"`, `[2]`, `[0,1,2]`, "ab"), `must be two numbers`},
		{"shape overflows", one(`"F32"`, `[4294967296,4294967296]`, `[0,4]`, "abcd"), `has more bytes than an int64 holds`},
		{"shape overflows to the right size", one(`"F32"`, `[4611686018427387905]`, `[0,4]`, "abcd"), `has more bytes than an int64 holds`},
		{"shape overflows before a zero", one(`"F32"`, `[4294967296,4294967296,0]`, `[0,0]`, ""), `has more bytes than an int64 holds`},
		{"dimension beyond 63 bits", one(`"U8"`, `[18446744073709551617]`, `[0,1]`, "a"), `is no natural number`},
		{"negative dimensions", one(`"U8"`, `[-1,-2]`, `[0,2]`, "ab"), `-1 is no natural number`},
		{"shape null", one(`"U8"`, `null`, `[0,1]`, "a"), `it has no shape`},
		{"dimension null", one(`"U8"`, `[null]`, `[0,0]`, ""), `null is no natural number`},
		{"shape is a number", one(`"U8"`, `2`, `[0,2]`, "ab"), `must be an array of numbers`},
		{"dtype F33", one(`"F33"`, `[1]`, `[0,4]`, "abcd"), `tensor "t": dtype "F33" is not known`},
		{"dtype in small letters", one(`"f32"`, `[1]`, `[0,4]`, "abcd"), `dtype "f32" is not known`},
		{"dtype null", one(`null`, `[1]`, `[0,4]`, "abcd"), `it has no dtype`},
		{"dtype is a number", one(`32`, `[1]`, `[0,4]`, "abcd"), `dtype`},
		{"no shape", file(`{"t":{"dtype":"U8","data_offsets":[0,1]}}`, "a", 0), `it has no shape`},
		{"no offsets", file(`{"t":{"dtype":"U8","shape":[1]}}`, "a", 0), `must be two numbers`},
		{"unknown member", file(`{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"order":"F"}}`, "a", 0), `order`},
		{"member in other case", file(`{"t":{"DTYPE":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `DTYPE`},
		{"doubled member", file(`{"t":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `duplicate`},
		{"tensor is null", file(`{"t":null}`, "", 0), `it has no dtype`},
		{"tensor is a string", file(`{"t":"U8"}`, "", 0), `tensor "t"`},
		{"doubled name", file(`{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `duplicate`},
		{"doubled name by escape", file(`{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0074":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `duplicate`},
		{"empty name", file(`{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `empty name`},
		{"metadata as tensor", file(`{"__metadata__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `__metadata__ must be an object of strings`},
		{"metadata with number", file(`{"__metadata__":{"step":7}}`, "", 0), `__metadata__ must be an object of strings`},
		{"metadata with null", file(`{"__metadata__":{"step":null}}`, "", 0), `"step" is null`},
		{"metadata null", file(`{"__metadata__":null}`, "", 0), `__metadata__ must be an object of strings`},
		{"metadata doubled", file(`{"__metadata__":{},"__metadata__":{}}`, "", 0), `duplicate`},
		{"name of invalid UTF-8", file("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", "a", 0), `UTF-8`},
		{"name with half a surrogate pair", file(`{"\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0), `surrogate`},
		{"deep arrays", file(`{"t":`+strings.Repeat("[", 1<<20), "", 0), `depth`},
		{"deep objects", file(strings.Repeat(`{"t":`, 1<<20), "", 0), `depth`},
		{"deep shape", one(`"U8"`, strings.Repeat("[", 9000)+strings.Repeat("]", 9000), `[0,1]`, "a"), `is no natural number`},
	}
	for n := range 8 {
		list = append(list, hostile{fmt.Sprintf("%d bytes", n), whole[:n], fmt.Sprintf("%d bytes are too few", n)})
	}
	return list
}

// C064: safetensors: offsets, truncation, header length.
func TestC064HostileFiles(t *testing.T) {
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hostile.safetensors")
			if err := os.WriteFile(path, h.data, 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Open(path)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatalf("the file is taken, want an error with %q", h.want)
			}
			if !strings.Contains(err.Error(), h.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q, want one with %q and the path", err, h.want)
			}
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<10+16*len(h.data)); used > most {
				t.Errorf("%d bytes allocated for a file of %d, want at most %d", used, len(h.data), most)
			}
		})
	}
}

// A header may be as long as the format's own implementation takes, and one byte
// more is an error that says so. The file has a hole, so that it takes no space.
func TestC064HugeHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.safetensors")
	const n = 132095296
	if err := os.WriteFile(path, binary.LittleEndian.AppendUint64(nil, n), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 8+n); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	if want := "the header has 132095296 bytes, the most that is read is 100000000"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	header := good + strings.Repeat(" ", MaxHeader-len(good))
	if _, err := Decode(exact(header, "abcdefg")); err != nil {
		t.Errorf("a header of %d bytes: %v", MaxHeader, err)
	}
}

// welcome returns files that are unusual and right.
func welcome() map[string][]byte {
	files := map[string][]byte{
		"nothing":               exact(`{}`, ""),
		"metadata only":         exact(`{"__metadata__":{}}`, ""),
		"scalar":                one(`"F32"`, `[]`, `[0,4]`, "abcd"),
		"no elements":           one(`"F32"`, `[3,0]`, `[0,0]`, ""),
		"no elements of many":   one(`"F32"`, `[0,9223372036854775807,9223372036854775807]`, `[0,0]`, ""),
		"no elements between":   file(`{"z":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, "abcd", 0),
		"not in order of bytes": two(`[2,4]`, `[0,2]`, "abcd"),
		"members in any order":  file(`{ "t" : { "data_offsets" : [ 0 , 2 ] , "shape" : [ 2 ] , "dtype" : "U8" } }`, "ab", 0),
		"escaped name":          file(`{"\u0074\n\"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "a", 0),
	}
	for pad := range 8 {
		files[fmt.Sprintf("data start %d modulo 8", pad)] = file(good, "abcdefg", pad)
	}
	return files
}

// C064 (f), (g): no elements, scalars, and data that begins at any byte.
func TestC064UnusualFiles(t *testing.T) {
	for name, data := range welcome() {
		if _, err := Decode(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "good.safetensors")
	if err := os.WriteFile(path, file(good, "abcdefg", 3), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(f.Metadata(), map[string]string{"step": "7"}) {
		t.Errorf("metadata %v, want step 7", f.Metadata())
	}
	if got := fmt.Sprint(f.Tensors()); got != "[w F16[2 1] b U8[3]]" {
		t.Errorf("tensors %s", got)
	}
	w, ok := f.Lookup("w")
	if !ok || w.Bytes() != 4 || string(f.Data(w)) != "abcd" {
		t.Errorf("w is %v, %v with %q", w, ok, f.Data(w))
	}
	b, ok := f.Lookup("b")
	if !ok || string(f.Data(b)) != "efg" {
		t.Errorf("b is %v, %v with %q", b, ok, f.Data(b))
	}
	if _, ok := f.Lookup("c"); ok {
		t.Error("c is there, want it missing")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// What is taken is written again with the same content, and that again with the
// same bytes.
func FuzzDecode(f *testing.F) {
	for _, h := range hostiles() {
		if len(h.data) < 1<<16 {
			f.Add(h.data)
		}
	}
	for _, data := range welcome() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := Decode(data)
		if err != nil {
			return
		}
		again := encode(t, first)
		second, err := Decode(again)
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if !maps.Equal(first.Metadata(), second.Metadata()) {
			t.Fatalf("metadata %v became %v", first.Metadata(), second.Metadata())
		}
		if len(first.Tensors()) != len(second.Tensors()) {
			t.Fatalf("%d tensors became %d", len(first.Tensors()), len(second.Tensors()))
		}
		for _, want := range first.Tensors() {
			got, ok := second.Lookup(want.Name)
			if !ok || got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) || !bytes.Equal(first.Data(want), second.Data(got)) {
				t.Fatalf("%v became %v", want, got)
			}
		}
		if third := encode(t, second); !bytes.Equal(again, third) {
			t.Fatal("the same tensors were written as other bytes")
		}
	})
}

// encode writes the tensors of a file.
func encode(t *testing.T, f *File) []byte {
	var list []Source
	for _, info := range f.Tensors() {
		list = append(list, Source{info.Name, info.DType, info.Shape, bytes.NewReader(f.Data(info))})
	}
	var out bytes.Buffer
	if err := Encode(&out, f.Metadata(), list); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
