package sim

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestDump(t *testing.T) {
	for _, g := range []string{"accepted", "rejected"} {
		files, _ := filepath.Glob("testdata/" + g + "/*.metal")
		for _, f := range files {
			src, _ := os.ReadFile(f)
			list, err := Check(context.Background(), f, src)
			if err != nil {
				t.Error(err)
			}
			t.Log(f, Judge(list))
			for i, x := range list {
				if i < 6 {
					t.Log("     ", x)
				}
			}
		}
	}
}
