//go:build cudatest && linux && cgo

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Writes where nothing is.
var wildSource = faultStruct + `
struct kt_wild_args { long long at; };
extern "C" __global__ void kt_wild(void *const *buf, const kt_wild_args *args, kg_fault *fault, int op) {
	*(volatile int *)args->at = 1;
}
`

// TestWild is the last test, which the name of its file sees to: an address that is not the program's ends the context,
// which all devices of the process share.
func TestWild(t *testing.T) {
	d := open(t)
	in := take(t, build(t, d, 0, single("kt_wild", &wildSource, 0, 16)))
	in.Bind(nil, []uint64{0})
	done := make(chan backend.Result, 1)
	go func() { done <- d.Run(1, in) }()
	select {
	case r := <-done:
		if r.Err == nil || errors.Is(r.Err, backend.ErrMemory) || !strings.Contains(r.Err.Error(), "compute-sanitizer") {
			t.Errorf("%+v", r)
		}
	case <-time.After(time.Minute):
		t.Fatal("the program hangs")
	}
	if r := d.Run(2, in); r.Err == nil {
		t.Errorf("a later program: %+v", r)
	}
}
