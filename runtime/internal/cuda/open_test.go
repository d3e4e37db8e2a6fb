package cuda

import (
	"strings"
	"testing"
)

// Where there is no card, the error says what is missing.
func TestOpen(t *testing.T) {
	d, err := Open(0)
	if err == nil {
		d.Close()
		return
	}
	if !strings.HasPrefix(err.Error(), "cuda: ") {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}
