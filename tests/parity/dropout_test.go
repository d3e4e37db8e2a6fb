package parity_test

import (
	"math"
	"testing"
)

// TestDropout checks the mask of dropout: the published first word of
// Philox4x32-10 for counter and key zero is 0x6627e8d5, which makes 0.39904;
// the share that is dropped; that offsets go on in the same sequence; and that
// every device and the gradient have the same mask.
func TestDropout(t *testing.T) {
	const n, shift = 4097, 5
	devices := everywhere(t)
	for _, p := range specs()["dropout"].Instances {
		f := formOf(t, p)
		of := func(n int) array {
			x := array{dtype: dtypeOf(p.Ins[0].Type), shape: []int{n}, data: make([]float64, n)}
			for i := range x.data {
				x.data[i] = 1
			}
			return x
		}
		run := func(d device, n int, prob f32, offset uint64) (y, dx array) {
			c := call{form: f, ins: []array{of(n)}, params: []any{prob, uint64(0), offset}}
			outs, grads, err := c.run(t, d.Device, []array{of(n)}, []int{0})
			if err != nil {
				t.Fatal(err)
			}
			return outs[0], grads[0]
		}
		var first array
		for _, d := range devices {
			if y, _ := run(d, 1, 0.399, 0); y.data[0] == 0 {
				t.Errorf("%s on %s: 0.39904 is less than 0.399", programName(p), d.name)
			}
			if y, _ := run(d, 1, 0.3991, 0); y.data[0] != 0 {
				t.Errorf("%s on %s: 0.39904 is not less than 0.3991", programName(p), d.name)
			}
			y, dx := run(d, n, 0.5, 0)
			if first.data == nil {
				first = y
			}
			if msg := identical(y, first); msg != "" {
				t.Errorf("%s on %s: %s", programName(p), d.name, msg)
			}
			if msg := identical(dx, y); msg != "" {
				t.Errorf("%s on %s: the gradient of ones %s", programName(p), d.name, msg)
			}
			later, _ := run(d, n-shift, 0.5, shift)
			y.shape, y.data = []int{n - shift}, y.data[shift:]
			if msg := identical(later, y); msg != "" {
				t.Errorf("%s on %s: from offset %d on %s", programName(p), d.name, shift, msg)
			}
		}
		kept := 0.0
		for _, v := range first.data {
			if v != 0 && v != 2 {
				t.Fatalf("%s: %v is neither dropped nor doubled", programName(p), v)
			}
			kept += v / 2
		}
		if share := kept / n; math.Abs(share-0.5) > 0.04 { // five standard deviations
			t.Errorf("%s: keeps %v of the values, want 0.5", programName(p), share)
		}
	}
}
