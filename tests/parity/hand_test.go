package parity_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/tests/golden"
)

// handCases are cases by hand for the programs that have no golden values.
type handCases struct {
	spec   string
	static map[string]string // the choices that have no golden values
	why    string
	cases  []golden.Case // none for dropout, see TestDropout
}

func (h handCases) serves(p *expr.Program) bool {
	if h.spec != p.Name {
		return false
	}
	for _, c := range p.Static {
		if want, ok := h.static[c.Name]; ok && want != c.Value {
			return false
		}
	}
	return true
}

// byHand lists every program that PyTorch has no operation for.
func byHand() []handCases {
	list := []handCases{
		{spec: "dropout", why: "random numbers: TestDropout checks the mask"},
		{spec: "clip_factor", why: "part of an optimiser step, no operation of its own in PyTorch", cases: clipCases()},
		{spec: "count_nonfinite", why: "an integer without a gradient", cases: []golden.Case{{
			Name: "five values",
			Ins:  tensors{"x": vector(1, math.Inf(1), math.NaN(), math.Inf(-1), 0)},
			Outs: tensors{"y": number(3)},
		}}},
		{spec: "global_norm_sq", static: map[string]string{"total": "without"}, why: "the golden cases add to a total", cases: []golden.Case{{
			Name: "three values",
			Ins:  tensors{"g": vector(1, -2, 3)},
			Outs: tensors{"y": number(14)},
		}}},
		{spec: "embedding_concat", why: "an embedding with another shape", cases: []golden.Case{embeddingConcatCase()}},
	}
	for n := 4; n <= 8; n++ {
		list = append(list, handCases{spec: "concat", static: map[string]string{"x": strconv.Itoa(n)},
			why: "moves values only; the golden cases have up to three pieces", cases: []golden.Case{concatCase(n)}})
	}
	return list
}

type tensors = map[string]golden.Tensor

func vector(v ...float64) golden.Tensor { return golden.Tensor{Shape: []int{len(v)}, Data: v} }

func number(v float64) golden.Tensor { return golden.Tensor{Data: golden.Floats{v}} }

// clipCases: the norm is sqrt(16) / 2.
func clipCases() []golden.Case {
	clip := func(name string, normSq, maxNorm, factor, skip float64) golden.Case {
		return golden.Case{Name: name, Params: map[string]any{"max_norm": maxNorm},
			Ins:  tensors{"norm_sq": number(normSq), "inv_scale": number(0.5)},
			Outs: tensors{"clip": number(factor), "skip": number(skip)}}
	}
	return []golden.Case{
		clip("above the largest norm", 16, 0.5, 0.25, 0),
		clip("below it", 16, 4, 1, 0),
		clip("no largest norm", 16, 0, 1, 0),
		clip("overflow", math.Inf(1), 0, 1, 1),
		clip("not a number", math.NaN(), 1, 1, 1),
	}
}

// embeddingConcatCase looks up two rows at a time.
func embeddingConcatCase() golden.Case {
	return golden.Case{
		Name: "two lists of two ids",
		Ins: tensors{
			"ids": {Shape: []int{2, 2}, Data: golden.Floats{0, 2, 1, 1}},
			"W":   {Shape: []int{3, 2}, Data: golden.Floats{1, 2, 3, 4, 5, 6}},
		},
		Outs:       tensors{"y": {Shape: []int{2, 4}, Data: golden.Floats{1, 2, 5, 6, 3, 4, 3, 4}}},
		Cotangents: tensors{"y": {Shape: []int{2, 4}, Data: golden.Floats{1, 2, 3, 4, 5, 6, 7, 8}}},
		Grads:      tensors{"W": {Shape: []int{3, 2}, Data: golden.Floats{1, 2, 12, 14, 3, 4}}},
	}
}

// concatCase joins n pieces of two rows, which are 1, 2, 1, 2, … wide and hold
// the numbers of their places in the result.
func concatCase(n int) golden.Case {
	c := golden.Case{Name: fmt.Sprintf("%d pieces", n), Ins: tensors{}, Grads: tensors{}}
	width := 0
	for i := range n {
		width += 1 + i%2
	}
	start := 0
	for i := range n {
		w := 1 + i%2
		piece := golden.Tensor{Shape: []int{2, w}}
		for r := range 2 {
			for j := range w {
				piece.Data = append(piece.Data, float64(r*width+start+j))
			}
		}
		name := fmt.Sprintf("x_%d", i+1)
		c.Ins[name], c.Grads[name] = piece, piece
		start += w
	}
	whole := golden.Tensor{Shape: []int{2, width}}
	for i := range 2 * width {
		whole.Data = append(whole.Data, float64(i))
	}
	c.Outs, c.Cotangents = tensors{"y": whole}, tensors{"y": whole}
	return c
}

// TestByHand runs the cases by hand like golden ones.
func TestByHand(t *testing.T) {
	devices := everywhere(t)
	for _, h := range byHand() {
		t.Run(h.spec, func(t *testing.T) {
			for _, p := range specs()[h.spec].Instances {
				for _, c := range h.cases {
					if !h.serves(p) {
						continue
					}
					g := newGoldenCase(t, p, c)
					for _, d := range devices {
						g.check(t, d)
					}
					g.checkImmediate(t, devices[0])
				}
			}
		})
	}
}

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
