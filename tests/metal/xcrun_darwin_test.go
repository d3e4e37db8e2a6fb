package metal

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"
)

// Apple's own compiler takes every source, where it is installed.
func TestAppleCompilesEverySource(t *testing.T) {
	if err := exec.Command("xcrun", "-sdk", "macosx", "-find", "metal").Run(); err != nil {
		t.Log("xcrun finds no metal: it comes with Xcode")
		return
	}
	paths := []string{"../../runtime/internal/metal/kernels.metal", "../../runtime/internal/testops/kernels.metal"}
	err := filepath.WalkDir("../../msl", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".metal" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out.air")
			if text, err := exec.Command("xcrun", "-sdk", "macosx", "metal", "-std=metal3.1", "-c", path, "-o", out).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
