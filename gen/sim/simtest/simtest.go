// Package simtest is for tests that run Metal sources.
package simtest

import (
	"testing"

	"github.com/kernelgen/kgen/gen/sim"
)

// Need skips a test on a machine that cannot check and run Metal sources, and says what
// that machine lacks.
func Need(t testing.TB) {
	t.Helper()
	if err := sim.Tools(); err != nil {
		t.Skip(err)
	}
}
