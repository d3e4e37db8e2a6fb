package kgen

import (
	"os/exec"
	"strings"
	"testing"
)

// The parts of the module build on each other in one direction: a generator
// that needed what it generates could not mend it, and a runtime that knew of
// the generator would come with it into every program.
func TestLayers(t *testing.T) {
	const module = "github.com/kernelgen/kgen/"
	for _, rule := range []struct {
		packages string
		never    []string
	}{
		{"./gen/...", []string{"runtime", "generated", "msl", "graph", "nn", "cmd"}},
		{"./cmd/kgen", []string{"runtime", "generated", "msl", "graph", "nn"}},
		{"./runtime/...", []string{"gen", "generated", "msl", "graph", "nn", "cmd"}},
	} {
		list, err := exec.Command("go", "list", "-deps", rule.packages).Output()
		if err != nil {
			t.Fatal(err)
		}
		for dep := range strings.FieldsSeq(string(list)) {
			for _, part := range rule.never {
				if dep == module+part || strings.HasPrefix(dep, module+part+"/") {
					t.Errorf("%s depends on %s", rule.packages, dep)
				}
			}
		}
	}
}
