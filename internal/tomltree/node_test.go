package tomltree

import "testing"

// The nearest key is meant, the first of equally near ones; one that is far is none.
func TestKeyHint(t *testing.T) {
	known := []string{"dtypes", "types", "out", "beta1", "beta2"}
	for name, want := range map[string]string{
		"types_": "did you mean types?",
		"OUT":    "did you mean out?",
		"beta":   "did you mean beta1?",
		"rate":   "known keys: dtypes types out beta1 beta2",
	} {
		if got := KeyHint(name, known); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
