//go:build proof

package fuzz

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMended tries the specs that showed faults which are mended.
func TestMended(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "mended", "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no specs in testdata/mended: %v", err)
	}
	b := newBench(t)
	b.lab.sim = b.sim
	var list []specimen
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checked(string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		list = append(list, specimen{text: string(text), seed: uint64(i), calls: 4})
	}
	for _, f := range b.lab.try(list) {
		t.Errorf("%s: %v", files[f.at], &f)
	}
	b.finish(t)
}
