package goref_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/kernelgen/kgen/gen/emit/goref"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the text for a few specs that together use every kind of
// step: row and full reductions, lets that are scalars, indexed and affine
// reads, inouts, list inputs.
func TestGolden(t *testing.T) {
	golden := map[string]bool{
		"layernorm": true, "cross_entropy": true, "im2col": true, "adamw": true,
		"concat": true, "argmax": true, "dropout": true, "matmul_bias_gelu": true,
	}
	for _, s := range shipped(t) {
		if !golden[s.Name] {
			continue
		}
		delete(golden, s.Name)
		f := jen.NewFile("ref")
		p := s.Instances[len(s.Instances)/2]
		if err := goref.Func(f, s.Name+"Ref", p); err != nil {
			t.Error(err)
			continue
		}
		var got strings.Builder
		if err := f.Render(&got); err != nil {
			t.Error(err)
			continue
		}
		file := filepath.Join("testdata", s.Name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		} else if got.String() != string(want) {
			t.Errorf("%s differs from what is emitted; run go test ./gen/emit/goref -update and look at the difference", file)
		}
	}
	for name := range golden {
		t.Errorf("no spec %s", name)
	}
}
