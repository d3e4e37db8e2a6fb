package gpu

import (
	"os"
	"strings"
	"testing"
)

// Each helper of the prelude is found by its name and stands after what it uses.
func TestPreludeOrder(t *testing.T) {
	for _, name := range []string{"../msl/prelude/prelude.metal", "../cuda/prelude/prelude.cu"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		preludeOrder(t, string(data))
	}
}

func preludeOrder(t *testing.T, text string) {
	t.Helper()
	all := parsePrelude(text)
	for i, x := range all {
		for _, later := range all[i+1:] {
			for word := range strings.FieldsFuncSeq(x.text, func(r rune) bool {
				return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
			}) {
				if word == later.name {
					t.Errorf("%s uses %s, which stands after it", x.name, later.name)
				}
			}
		}
	}
}
