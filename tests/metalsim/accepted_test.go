package metalsim_test

import (
	"context"
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/sim"
)

// TestEverySourceIsAccepted: the check has nothing to say about any Metal source of the
// module, not even a warning.
func TestEverySourceIsAccepted(t *testing.T) {
	t.Parallel()
	m := compile(t)
	results, err := gen.CheckShaders(context.Background(), m.shaders)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for _, f := range r.Findings {
			t.Error(sim.Place(r.Path, f.File, f.String()))
		}
	}
}
