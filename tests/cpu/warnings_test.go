package cpu

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestSourcesGiveNoWarnings: no compiler here has anything to say about the generated
// kernels and the device that runs them.
func TestSourcesGiveNoWarnings(t *testing.T) {
	var files []string
	for _, pattern := range []string{"generated/ops/internal/c*/*.c", "runtime/internal/testops/*.c", "runtime/internal/cpu/*.c"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no files: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, g := range targets(t) {
		if len(g.run) > 0 {
			continue // the same compiler for another processor
		}
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			for _, file := range files {
				args := slices.Concat(g.cc[1:], []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-fsyntax-only", file})
				if out, err := exec.Command(g.cc[0], args...).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", file, err, out)
				}
			}
		})
	}
}
