package parity_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/runtime"
)

// TestSameBits: every function gives the same bits, results and gradients, for
// any number of workers and each time it runs.
func TestSameBits(t *testing.T) {
	var devices []device
	for _, n := range []int{1, 2, 3, 8} {
		devices = append(devices, device{fmt.Sprintf("%d workers", n), open(t, runtime.WithWorkers(n))})
	}
	for i, s := range firstSlice() {
		t.Run(fmt.Sprintf("%02d/%s", i, s.spec), func(t *testing.T) {
			n := 4097
			if s.long {
				n = 20011 // enough that the work is shared
			}
			for _, p := range s.programs(t) {
				s.sameBits(t, devices, p, n)
			}
		})
	}
}

func (s *sized) sameBits(t *testing.T, devices []device, p *expr.Program, n int) {
	t.Helper()
	const repeats = 20
	c := s.call(t, p, n)
	outs, _, err := c.run(t, devices[0].Device, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cts, wrt := cotangents(p, outs), differentiable(p)
	var want []array
	for _, d := range devices {
		times := 1
		if d.Workers() == 8 {
			times = repeats
		}
		for time := range times {
			outs, grads, err := c.run(t, d.Device, cts, wrt)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Concat(outs, grads)
			if want == nil {
				want = got
			}
			for i := range got {
				if msg := identical(got[i], want[i]); msg != "" {
					t.Fatalf("%s %v with %s, run %d: result %d %s", programName(p), c.ins, d.name, time, i, msg)
				}
			}
		}
	}
}

// TestOddOffsets: sub-views that start at an odd element, which no vector load
// is aligned to, give the bits that tensors of their own give.
func TestOddOffsets(t *testing.T) {
	devices := everywhere(t)
	for i, s := range firstSlice() {
		t.Run(fmt.Sprintf("%02d/%s", i, s.spec), func(t *testing.T) {
			for _, p := range s.programs(t) {
				for _, n := range []int{1, 33, 1025} {
					for _, d := range devices {
						s.atOffset(t, d, s.call(t, p, n))
					}
				}
			}
		})
	}
}

func (s *sized) atOffset(t *testing.T, d device, c *call) {
	t.Helper()
	p := c.form.program
	outs, _, err := c.run(t, d.Device, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cts, wrt := cotangents(p, outs), differentiable(p)
	var at [2][]array
	for offset := range at {
		c.offset = offset
		outs, grads, err := c.run(t, d.Device, cts, wrt)
		if err != nil {
			t.Fatal(err)
		}
		at[offset] = slices.Concat(outs, grads)
	}
	for i, got := range at[1] {
		if msg := identical(got, at[0][i]); msg != "" {
			t.Errorf("%s %v on %s: result %d %s", programName(p), c.ins, d.name, i, msg)
		}
	}
}
