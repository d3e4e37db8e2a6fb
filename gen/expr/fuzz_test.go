package expr

import (
	"path/filepath"
	"testing"

	"github.com/kernelgen/kgen/gen/spec"
)

// FuzzCheck checks that no spec file upsets the checker, that every mistake has
// a place, and that a program it accepts holds together.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("../../specs/*/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, more...) {
		f.Add(read(f, file))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		set, list := spec.ParseSet("specs/g/k.toml", src)
		specs, more := Check(set)
		for _, d := range append(list, more...) {
			if !d.Pos.IsValid() || d.Pos.File != "specs/g/k.toml" || d.Msg == "" {
				t.Fatalf("%q: a mistake without a place: %+v", src, d)
			}
		}
		if len(list) > 0 {
			return
		}
		for _, s := range specs {
			for _, p := range s.Instances {
				if err := Verify(p); err != nil {
					t.Fatalf("%q: %v", src, err)
				}
			}
		}
	})
}
