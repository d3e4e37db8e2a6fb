//go:build proof

package fuzz

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/kernelgen/kgen/gen/sim"
)

// TestSeeds draws specs from the seeds 0, 1, 2, … for KGEN_FUZZ_MINUTES minutes
// (one, when it is not set), and reports each that a stage gets wrong, shrunk.
func TestSeeds(t *testing.T) {
	minutes := 1
	if s := os.Getenv("KGEN_FUZZ_MINUTES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("KGEN_FUZZ_MINUTES: %v", err)
		}
		minutes = n
	}
	cc, err := newCC(t.TempDir(), "-O1")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{c: cc, sim: &simTarget{dir: t.TempDir(), san: sim.Address | sim.Undefined}}
	seed := uint64(0)
	for end := time.Now().Add(time.Duration(minutes) * time.Minute); time.Now().Before(end); {
		var list []specimen
		for range 16 {
			m := write(rolled(seed))
			list = append(list, specimen{model: m, text: m.text(), seed: seed, calls: 3})
			seed++
		}
		l.report(t, list)
	}
	t.Log(&l.stats)
}

// report tries the specimens and shrinks the first finding of each.
func (l *lab) report(t *testing.T, list []specimen) {
	t.Helper()
	done := map[int]bool{}
	for _, f := range l.try(list) {
		if done[f.at] {
			continue
		}
		done[f.at] = true
		s, g := l.shrink(list[f.at], f, 20*time.Second)
		t.Errorf("seed %d: %v\n%s", s.seed, &g, s.text)
	}
}
