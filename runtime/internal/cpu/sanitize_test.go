//go:build cgo

package cpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The threads of the device under ThreadSanitizer, and its memory under
// AddressSanitizer.
func TestSanitizers(t *testing.T) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	for _, sanitizer := range []string{"thread", "address,undefined"} {
		t.Run(sanitizer, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "stress")
			args := strings.Fields("-std=gnu11 -O1 -g -pthread -fsanitize=" + sanitizer + " -o")
			args = append(args, exe, "testdata/stress.c", "device.c", "team.c", "isa.c")
			if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
				t.Skipf("%s cannot build with this sanitizer: %v\n%s", cc, err, out)
			}
			if out, err := exec.Command(exe).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
