// Package pytest runs Python in tests that compare a file format with the
// implementation that others use. scripts/python.sh makes the environment.
package pytest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Run runs a script with arguments and returns what it prints. A script that
// fails fails the test with what it says. Where the environment is missing, the
// test is skipped, which `make test` does not let pass.
func Run(t testing.TB, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command(interpreter(t), append([]string{"-c", script}, args...)...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, errors.Bytes())
	}
	return string(out)
}

// interpreter returns the environment's Python.
func interpreter(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
	python := filepath.Join(dir, "build", "python", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no build/python: run scripts/python.sh")
	}
	return python
}
