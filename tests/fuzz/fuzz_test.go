//go:build proof

package fuzz

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kernelgen/kgen/gen/sim"
)

const (
	batch      = 12 // specimens that are compiled as one source
	fixedSeeds = 36 // tried by TestSeeds
	moreSeeds  = 12 // tried by TestLong when no time is given
	simEvery   = 4  // one batch of so many runs on the simulated GPU too
	shrinkTime = 20 * time.Second
)

// leastNarrow is the share of the compared elements whose bounds must be narrow
// enough to tell right from wrong.
const leastNarrow = 0.5

// TestSeeds tries the specs of the first seeds.
func TestSeeds(t *testing.T) {
	b := newBench(t)
	for from := uint64(0); from < fixedSeeds; from += batch {
		b.try(t, from)
	}
	b.finish(t)
}

// TestLong goes on with the seeds after those of TestSeeds: for
// KGEN_FUZZ_MINUTES minutes, or a few when it is not set.
func TestLong(t *testing.T) {
	b := newBench(t)
	from := uint64(fixedSeeds)
	minutes, given := minutesGiven(t)
	if !given {
		for end := from + moreSeeds; from < end; from += batch {
			b.try(t, from)
		}
	}
	for end := time.Now().Add(minutes); time.Now().Before(end); from += batch {
		b.try(t, from)
	}
	b.finish(t)
}

func minutesGiven(t *testing.T) (time.Duration, bool) {
	text, given := os.LookupEnv("KGEN_FUZZ_MINUTES")
	if !given {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 {
		t.Fatalf("KGEN_FUZZ_MINUTES is %q: give a number of minutes above 0", text)
	}
	return time.Duration(n * float64(time.Minute)), true
}

// FuzzSpecs lets the bytes of the fuzzing engine decide what a spec looks like.
func FuzzSpecs(f *testing.F) {
	l := newBench(f).lab
	for seed := range uint64(3) {
		f.Add(bytesOf(seed))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		m := write(&dice{bytes})
		list := []specimen{{model: m, text: m.text(), calls: 2}}
		report(t, l, list, l.try(list))
	})
}

// bench is a lab that runs one batch in simEvery on the simulated GPU too.
type bench struct {
	lab     *lab
	sim     *simTarget
	batches int
}

func newBench(t testing.TB) *bench {
	cc, err := newCC(t.TempDir(), "-O1")
	if err != nil {
		t.Fatal(err)
	}
	s := &simTarget{dir: t.TempDir(), san: sim.Address | sim.Undefined}
	return &bench{lab: &lab{c: cc}, sim: s}
}

// try runs the specs of a batch of seeds.
func (b *bench) try(t *testing.T, from uint64) {
	t.Helper()
	b.lab.sim = nil
	if b.batches%simEvery == 0 {
		b.lab.sim = b.sim
	}
	b.batches++
	list := seeded(from, batch)
	report(t, b.lab, list, b.lab.try(list))
}

func seeded(from uint64, n int) []specimen {
	var list []specimen
	for i := range uint64(n) {
		m := write(rolled(from + i))
		list = append(list, specimen{model: m, text: m.text(), seed: from + i, calls: 3})
	}
	return list
}

// report fails for the first finding of each specimen, and shrinks it.
func report(t *testing.T, l *lab, list []specimen, found []finding) {
	t.Helper()
	done := map[int]bool{}
	for _, f := range found {
		if done[f.at] {
			continue
		}
		done[f.at] = true
		s := list[f.at]
		t.Errorf("seed %d: %v\n%s", s.seed, &f, s.text)
		small, g := l.shrink(s, f, shrinkTime)
		t.Errorf("shrunk: %v\n%s", &g, small.text)
	}
}

// finish prints the counts, and fails where they say that too little was seen.
func (b *bench) finish(t *testing.T) {
	t.Helper()
	s := &b.lab.stats
	t.Log(s)
	for _, why := range slices.Sorted(maps.Keys(s.reasons)) {
		t.Logf("%d programs not lowered: %s", s.reasons[why], why)
	}
	if s.launches == 0 || s.elements == 0 {
		t.Errorf("nothing was launched or compared: %v", s)
	}
	if float64(s.narrow) < leastNarrow*float64(s.elements) {
		t.Errorf("%d of %d elements have narrow bounds, want at least %.0f%%", s.narrow, s.elements, 100*leastNarrow)
	}
}
