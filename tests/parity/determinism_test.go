package parity_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

// TestSameBits: every function, in every type and choice, gives the same bits,
// results and gradients, for any number of workers and each time it runs, on
// the longest golden case.
func TestSameBits(t *testing.T) {
	var devices []device
	for _, n := range []int{1, 2, 3, 8} {
		devices = append(devices, device{fmt.Sprintf("%d workers", n), open(t, runtime.WithWorkers(n))})
	}
	for _, op := range golden.Ops() {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			for _, g := range pick(t, op, 1<<30) {
				g.sameBits(t, devices)
			}
		})
	}
}

// pick returns for each program of an op the golden case whose arguments have
// about the given number of elements.
func pick(t *testing.T, op string, elements int) []*goldenCase {
	t.Helper()
	s := specs()[op]
	file, err := golden.Load(op)
	if err != nil || s == nil {
		t.Fatalf("no golden values or no spec of %s: %v", op, err)
	}
	var list []*goldenCase
	for _, p := range s.Instances {
		c, err := exact.Nearest(file.Cases, p, elements)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, newGoldenCase(t, p, c))
	}
	return list
}

// sameBits runs the call with each number of workers, repeatedly with the most.
func (g *goldenCase) sameBits(t *testing.T, devices []device) {
	t.Helper()
	var want []array
	most := devices[len(devices)-1]
	for _, d := range append(slices.Clone(devices), slices.Repeat([]device{most}, repeats-1)...) {
		outs, grads, err := g.call.run(t, d.Device, g.cotangents, g.wrt)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(outs, grads)
		if want == nil {
			want = got
		}
		for i := range got {
			if msg := identical(got[i], want[i]); msg != "" {
				t.Fatalf("%s, %s with %s: result %d %s", programName(g.call.form.program), g.Name, d.name, i, msg)
			}
		}
	}
}

// TestOddOffsets: sub-views that start at an odd element, which no vector load
// is aligned to, give the bits that tensors of their own give.
func TestOddOffsets(t *testing.T) {
	devices := targets(t)
	for _, op := range golden.Ops() {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			for _, elements := range offsetElements {
				for _, g := range pick(t, op, elements) {
					for _, d := range devices {
						g.atOffset(t, d)
					}
				}
			}
		})
	}
}

func (g *goldenCase) atOffset(t *testing.T, d device) {
	t.Helper()
	var at [2][]array
	for offset := range at {
		c := g.call
		c.offset = offset
		outs, grads, err := c.run(t, d.Device, g.cotangents, g.wrt)
		if err != nil {
			t.Fatal(err)
		}
		at[offset] = slices.Concat(outs, grads)
	}
	for i, got := range at[1] {
		msg := identical(got, at[0][i])
		if msg != "" && d.name == withLibraries {
			msg = differ(got, at[0][i], g.terms(t)[i])
		}
		if msg != "" {
			t.Errorf("%s, %s on %s: result %d %s", programName(g.call.form.program), g.Name, d.name, i, msg)
		}
	}
}
