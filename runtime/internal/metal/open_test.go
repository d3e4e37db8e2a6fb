//go:build !cgo || (!darwin && !(softmetal && linux))

package metal

import (
	"strings"
	"testing"
)

// Where there is no Metal, opening it says so.
func TestOpenWithoutMetal(t *testing.T) {
	d, err := Open(0)
	if d != nil || err == nil || !strings.Contains(err.Error(), "build on a Mac") {
		t.Errorf("%v, %v", d, err)
	}
}
