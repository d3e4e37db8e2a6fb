package safetensors

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/internal/pytest"
)

// every returns a tensor of each type, and some shapes. All bytes are below 128,
// so that floats are finite, and those of BOOL are 0 or 1.
func every() []Source {
	var list []Source
	for i, d := range []DType{Bool, U8, I8, F8E5M2, F8E4M3, U16, I16, F16, BF16, U32, I32, F32, U64, I64, F64} {
		data := make([]byte, 6*d.Size())
		for j := range data {
			data[j] = byte(j*7+i) % 100
			if d == Bool {
				data[j] %= 2
			}
		}
		list = append(list, Source{"of " + string(d), d, []int{3, 2}, bytes.NewReader(data)})
	}
	return append(list,
		Source{"scalar", F32, nil, bytes.NewReader([]byte{0, 0, 128, 63})},
		Source{"empty", F16, []int{0, 3}, bytes.NewReader(nil)},
		Source{"näme \"quoted\"\n\u2028", U8, []int{1}, bytes.NewReader([]byte{9})})
}

var everyMetadata = map[string]string{"step": "12", "Ünicode": "<&>\u2028 \"x\"\n"}

// Python's implementation reads what was written.
func TestPythonReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "every.safetensors")
	if err := WriteFile(path, everyMetadata, every()); err != nil {
		t.Fatal(err)
	}
	got := pytest.Run(t, `
import sys, safetensors
path = sys.argv[1]
with safetensors.safe_open(path, "np") as f:
    print(sorted(f.metadata().items()))
    print(float(f.get_tensor("scalar")), f.get_tensor("of I64").dtype, f.get_tensor("of F16").shape)
for name, t in sorted(safetensors.deserialize(open(path, "rb").read())):
    print(repr(name), t["dtype"], t["shape"], t["data"].hex())
`, path)
	var want strings.Builder
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := strings.SplitN(got, "\n", 3)
	if lines[0] != `[('step', '12'), ('Ünicode', '<&>\u2028 "x"\n')]` {
		t.Errorf("Python reads the metadata %s", lines[0])
	}
	if lines[1] != "1.0 int64 (3, 2)" {
		t.Errorf("Python reads the arrays %s", lines[1])
	}
	for _, name := range names(f) {
		info, _ := f.Lookup(name)
		quoted := "'" + strings.NewReplacer("\n", `\n`, "\u2028", `\u2028`).Replace(name) + "'"
		shape := strings.ReplaceAll(fmt.Sprint(info.Shape), " ", ", ")
		fmt.Fprintf(&want, "%s %s %s %x\n", quoted, info.DType, shape, f.Data(info))
	}
	if lines[2] != want.String() {
		t.Errorf("Python reads\n%swant\n%s", lines[2], want.String())
	}
}

// Files that Python's implementation wrote are read.
func TestReadsPython(t *testing.T) {
	path := filepath.Join(t.TempDir(), "python.safetensors")
	pytest.Run(t, `
import sys, numpy as np
from safetensors.numpy import save_file
save_file({
    "w": np.array([[1, 2], [3, -4.5]], np.float32),
    "h": np.array([1, -2], np.float16),
    "ids": np.array([7, -1], np.int64),
    "mask": np.array([True, False, True]),
    "step": np.array(9, np.int32),
    "none": np.zeros((0, 4), np.uint8),
}, sys.argv[1], {"epoch": "3"})
`, path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Metadata()["epoch"] != "3" {
		t.Errorf("metadata %v, want epoch 3", f.Metadata())
	}
	for _, want := range []struct {
		info, data string
	}{
		{"w F32[2 2]", "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x90\xc0"},
		{"h F16[2]", "\x00\x3c\x00\xc0"},
		{"ids I64[2]", "\x07\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"},
		{"mask BOOL[3]", "\x01\x00\x01"},
		{"step I32[]", "\x09\x00\x00\x00"},
		{"none U8[0 4]", ""},
	} {
		name, _, _ := strings.Cut(want.info, " ")
		info, ok := f.Lookup(name)
		if !ok || info.String() != want.info || string(f.Data(info)) != want.data {
			t.Errorf("%v with %q, want %s with %q", info, f.Data(info), want.info, want.data)
		}
	}
	if len(f.Tensors()) != 6 {
		t.Errorf("%d tensors, want 6", len(f.Tensors()))
	}
}

// What is taken here is taken by Python's implementation too: nothing passes
// because a check was forgotten. It need not be so the other way round.
func TestPythonTakesWhatIsTaken(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for name, data := range welcome() {
		n++
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := pytest.Run(t, `
import os, sys, safetensors
for name in os.listdir(sys.argv[1]):
    try:
        safetensors.deserialize(open(os.path.join(sys.argv[1], name), "rb").read())
        print("ok")
    except Exception as e:
        print(name, e)
`, dir)
	if got != strings.Repeat("ok\n", n) {
		t.Errorf("of %d files:\n%s", n, got)
	}
}

// names returns the names of the tensors in alphabetical order.
func names(f *File) []string {
	var list []string
	for _, t := range f.Tensors() {
		list = append(list, t.Name)
	}
	slices.Sort(list)
	return list
}
