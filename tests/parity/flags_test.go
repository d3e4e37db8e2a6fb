package parity_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// C015: no generated package is compiled with flags that delete checks for NaN
// and infinities.
func TestC015NoFastMath(t *testing.T) {
	files, err := filepath.Glob("../../generated/ops/internal/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no generated C packages: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"fast-math", "Ofast", "finite-math-only", "unsafe-math"} {
			if bytes.Contains(text, []byte("-f"+flag)) || bytes.Contains(text, []byte(`"`+flag)) || flag == "Ofast" && bytes.Contains(text, []byte("-Ofast")) {
				t.Errorf("%s has %s", name, flag)
			}
		}
	}
}
