package metal

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
)

// The kernels of the backend and those of the runtime's tests lie within the part of Metal
// that is checked, and are right there.
func TestSourcesWrittenByHand(t *testing.T) {
	simtest.Need(t)
	for _, path := range []string{"../../runtime/internal/metal/kernels.metal", "../../runtime/internal/testops/kernels.metal"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := sim.Check(context.Background(), path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			t.Errorf("%s:%s", path, f)
		}
	}
}

// The structs that the bridge and its kernels share are the same.
func TestSharedStructs(t *testing.T) {
	header, err := os.ReadFile("../../runtime/internal/metal/bridge.h")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../runtime/internal/metal/kernels.metal")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ c, metal string }{
		{"uint64_t seq;\n\tint64_t nafter, nword;\n\tuint64_t after[KGM_AFTER];", "ulong seq;\n\tlong nafter;\n\tlong nword;\n\tulong after[256];"},
		{"int32_t skipped, unused;", "int skipped;\n\tint unused;"},
		{"int32_t lock, set, op, tensor;\n\tint64_t pos, value, bound;", "atomic_uint lock;\n\tint set;\n\tint op;\n\tint tensor;\n\tlong pos;\n\tlong value;\n\tlong bound;"},
		{"KGM_HISTORY = 512, KGM_AFTER = 256,", "constant ulong history = 512;"},
	} {
		if !strings.Contains(string(header), s.c) || !strings.Contains(string(source), s.metal) {
			t.Errorf("bridge.h has not %q, or kernels.metal not %q", s.c, s.metal)
		}
	}
}
