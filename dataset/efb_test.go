package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/internal/pytest"
)

// le appends numbers of 32 bits.
func le(b []byte, v ...uint32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// twoSamples is a file by hand: targets of two elements; three ids of which the last
// does not count; no ids.
func twoSamples() []byte {
	b := le([]byte("EFB1"), 2, 2)
	b = le(b, 3, 7, 0, 0x7fffffff)
	b = append(b, 1, 1, 0)
	b = le(b, 0x3f800000, 0xc0000000)
	return le(b, 0, 0, 0x3f000000)
}

var twoSamplesRead = []Sample{
	{[]int32{7, 0, math.MaxInt32}, []uint8{1, 1, 0}, []float32{1, -2}},
	{[]int32{}, []uint8{}, []float32{0, 0.5}},
}

func put(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// samples reads all samples of a source.
func samples(t testing.TB, src Source) []Sample {
	t.Helper()
	list := make([]Sample, src.Len())
	for i := range list {
		if err := src.Read(i, &list[i]); err != nil {
			t.Fatal(err)
		}
		if n := src.Tokens(i); n != len(list[i].IDs) {
			t.Errorf("sample %d should have %d ids, it has %d", i, n, len(list[i].IDs))
		}
	}
	return list
}

// same reports whether two lists hold equal samples; no elements are no elements.
func same(a, b []Sample) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i].IDs) != len(b[i].IDs) || len(a[i].Target) != len(b[i].Target) {
			return false
		}
		for j := range a[i].IDs {
			if a[i].IDs[j] != b[i].IDs[j] || a[i].Mask[j] != b[i].Mask[j] {
				return false
			}
		}
		for j := range a[i].Target {
			if a[i].Target[j] != b[i].Target[j] {
				return false
			}
		}
	}
	return true
}

func writeEFB(t testing.TB, path string, dim int, list []Sample) {
	t.Helper()
	w, err := CreateEFB(path, dim)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if err := w.Write(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestEFB(t *testing.T) {
	f, err := OpenEFB(put(t, "two.efb", twoSamples()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := samples(t, f); !same(got, twoSamplesRead) || f.Dim() != 2 {
		t.Errorf("the file holds %v with targets of %d, want %v", got, f.Dim(), twoSamplesRead)
	}
	path := filepath.Join(t.TempDir(), "again.efb")
	writeEFB(t, path, 2, twoSamplesRead)
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, twoSamples()) {
		t.Errorf("written % x, %v, want % x", got, err, twoSamples())
	}
}

// Python's struct lays out the same file.
func TestEFBFromPython(t *testing.T) {
	path := filepath.Join(t.TempDir(), "python.efb")
	pytest.Run(t, `
import struct, sys
samples = [([7, 0, 2**31 - 1], [1, 1, 0], [1.0, -2.0]), ([], [], [0.0, 0.5])]
with open(sys.argv[1], "wb") as f:
    f.write(b"EFB1" + struct.pack("<II", len(samples), 2))
    for ids, mask, target in samples:
        f.write(struct.pack(f"<I{len(ids)}I{len(ids)}B2f", len(ids), *ids, *mask, *target))
`, path)
	f, err := OpenEFB(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := samples(t, f); !same(got, twoSamplesRead) {
		t.Errorf("the file holds %v, want %v", got, twoSamplesRead)
	}
}

func TestEFBRefuses(t *testing.T) {
	whole := twoSamples()
	// set returns the file with a number at a byte.
	set := func(at int, v uint32) []byte {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	mask := bytes.Clone(whole)
	mask[12+4+12+2] = 2
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "no EFB1 file"},
		{"cut header", whole[:11], "no EFB1 file"},
		{"another format", append([]byte("EFB2"), whole[4:]...), `begin with "EFB2" are no EFB1 file`},
		{"JSON", []byte(`{"text":"a long enough text"}`), "no EFB1 file"},
		{"cut by a byte", whole[:len(whole)-1], "sample 1 at byte 39: 0 ids and a target of 2 elements are 12 bytes, 11 are left"},
		{"cut in a count", whole[:41], "sample 1 at byte 39: the file ends"},
		{"a byte at the end", append(bytes.Clone(whole), 0), "1 bytes from byte 51 on belong to no sample"},
		{"one sample more", set(4, 3), "sample 2 at byte 51: the file ends"},
		{"one sample less", set(4, 1), "12 bytes from byte 39 on belong to no sample"},
		{"most samples", set(4, math.MaxUint32), "4294967295 samples with targets of 2 elements have 51539607540 bytes at least, 39 follow"},
		{"largest targets", set(8, math.MaxUint32), "2 samples with targets of 4294967295 elements"},
		{"largest length", set(12, math.MaxUint32), "sample 0 at byte 12: 4294967295 ids"},
		{"length one more", set(12, 4), "sample"},
		{"id of 32 bits", set(16, 1<<31), "sample 0 at byte 12: ids[0] is 2147483648, the most is 2147483647"},
		{"mask of 2", mask, "sample 0 at byte 12: mask[2] is 2, must be 0 or 1"},
		{"target NaN", set(len(whole)-4, 0x7fc00000), "sample 1 at byte 39: target[1] is NaN, must be finite"},
		{"target infinite", set(len(whole)-8, 0xff800000), "sample 1 at byte 39: target[0] is -Inf, must be finite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, "hostile.efb", c.data)
			f, err := OpenEFB(path)
			if err == nil {
				defer f.Close()
				err = Verify(f, math.MaxInt32+1)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want one with %q and the path", err, c.want)
			}
		})
	}
}

func TestEFBWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file.efb")
	writeEFB(t, path, 2, twoSamplesRead)
	good := twoSamplesRead[0]
	for _, c := range []struct {
		sample Sample
		want   string
	}{
		{Sample{good.IDs, good.Mask[:2], good.Target}, "sample 1: the mask has 2 elements, there are 3 ids"},
		{Sample{good.IDs, good.Mask, good.Target[:1]}, "sample 1: the target has 1 elements, must be 2"},
		{Sample{[]int32{-1}, []uint8{1}, good.Target}, "sample 1: ids[0] is -1, must not be negative"},
		{Sample{[]int32{1}, []uint8{3}, good.Target}, "sample 1: mask[0] is 3, must be 0 or 1"},
		{Sample{good.IDs, good.Mask, []float32{0, float32(math.NaN())}}, "sample 1: target[1] is NaN"},
	} {
		w, err := CreateEFB(path, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&good); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{w.Write(&c.sample), w.Write(&good), w.Commit()} {
			if err == nil || !strings.Contains(err.Error(), c.want[len("sample 1: "):]) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want one with %q and the path", err, c.want)
			}
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, twoSamples()) {
		t.Error("a writer that failed changed the file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v, want one file", entries)
	}
	if _, err := CreateEFB(path, -1); err == nil {
		t.Error("targets of -1 elements are taken")
	}
}

func TestVerifyCountsTheVocabulary(t *testing.T) {
	f, err := OpenEFB(put(t, "two.efb", twoSamples()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = Verify(f, math.MaxInt32)
	if want := "sample 0: ids[2] is 2147483647, the vocabulary has 2147483647"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestPart(t *testing.T) {
	f, err := OpenEFB(put(t, "two.efb", twoSamples()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := NewPart(f, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := samples(t, p); !same(got, twoSamplesRead[1:]) || p.Dim() != 2 {
		t.Errorf("the part holds %v, want %v", got, twoSamplesRead[1:])
	}
	for _, c := range [][2]int{{-1, 1}, {2, 1}, {0, 3}} {
		if _, err := NewPart(f, c[0], c[1]); err == nil {
			t.Errorf("samples [%d, %d) of 2 are a part", c[0], c[1])
		}
	}
}

// What is taken can be read, or is refused with an error; what can be read is
// written as the same bytes.
func FuzzEFB(f *testing.F) {
	f.Add(twoSamples())
	f.Add(le([]byte("EFB1"), 0, 5))
	f.Add(le([]byte("EFB1"), 3, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := decodeEFB("fuzz", data)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "again.efb")
		w, err := CreateEFB(path, src.Dim())
		if err != nil {
			t.Fatal(err)
		}
		defer w.Discard()
		var s Sample
		for i := range src.Len() {
			if src.Read(i, &s) != nil {
				return
			}
			if err := w.Write(&s); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("% x became % x, %v", data, again, err)
		}
	})
}
