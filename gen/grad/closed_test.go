package grad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// instance returns the first instance of a shipped spec in f32 with the given
// choices, in pairs of name and value.
func instance(t *testing.T, name string, choices ...string) (*expr.Program, *expr.Spec) {
	t.Helper()
	s := shipped(t, name)
	for _, p := range s.Instances {
		ok := !slices.ContainsFunc(p.Types, func(d expr.DType) bool { return d != expr.F32 })
		for i := 0; i < len(choices); i += 2 {
			ok = ok && slices.Contains(p.Static, expr.Choice{Name: choices[i], Value: choices[i+1]})
		}
		if ok {
			return p, s
		}
	}
	t.Fatalf("%s has no such instance", name)
	return nil, nil
}

// cotangents runs the derived gradient of a shipped spec.
func cotangents(t *testing.T, name string, call oracle.Call, next func() float64, choices ...string) []oracle.Array {
	t.Helper()
	p, s := instance(t, name, choices...)
	if call.Params == nil {
		call.Params = oracle.Defaults(p)
	}
	return gradient(t, p, declOf(s), call, next)
}

func normal(rng *rand.Rand, shape ...int) oracle.Array { return filled(shape, rng.NormFloat64) }

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// TestSoftmaxClosedForm: dx = y*(dy - sum(dy*y)).
func TestSoftmaxClosedForm(t *testing.T) {
	rng := newRand()
	x := normal(rng, 2, 5)
	p, _ := instance(t, "softmax")
	y := forward(t, p, oracle.Call{Ins: []oracle.Array{x}})[0]
	dy := normal(rng, 2, 5)
	got := cotangents(t, "softmax", oracle.Call{Ins: []oracle.Array{x}}, counting(dy.Data...))
	want := make([]float64, 10)
	for r := range 2 {
		dot := 0.0
		for d := range 5 {
			dot += dy.Data[r*5+d] * y.Data[r*5+d]
		}
		for d := range 5 {
			want[r*5+d] = y.Data[r*5+d] * (dy.Data[r*5+d] - dot)
		}
	}
	near(t, "dx", got[0].Data, want, 1e-14)
}

// TestLayerNormClosedForm: with h = (x-mean)*rstd and g = dy*gamma,
// dx = rstd*(g - mean(g) - h*mean(g*h)), dgamma = sum(dy*h), dbeta = sum(dy).
func TestLayerNormClosedForm(t *testing.T) {
	const rows, width = 3, 6
	rng := newRand()
	x, gamma, beta, dy := normal(rng, rows, width), normal(rng, width), normal(rng, width), normal(rng, rows, width)
	call := oracle.Call{Ins: []oracle.Array{x, gamma, beta}}
	next := counting(dy.Data...)
	got := cotangents(t, "layernorm", call, next)
	dx, dgamma, dbeta := make([]float64, rows*width), make([]float64, width), make([]float64, width)
	for r := range rows {
		line, g := x.Data[r*width:(r+1)*width], dy.Data[r*width:(r+1)*width]
		mean := sum(line) / width
		variance := 0.0
		for _, v := range line {
			variance += (v - mean) * (v - mean) / width
		}
		rstd := 1 / math.Sqrt(variance+1e-5)
		var mg, mgh float64
		for d, v := range line {
			h := (v - mean) * rstd
			mg += g[d] * gamma.Data[d] / width
			mgh += g[d] * gamma.Data[d] * h / width
			dgamma[d] += g[d] * h
			dbeta[d] += g[d]
		}
		for d, v := range line {
			dx[r*width+d] = rstd * (g[d]*gamma.Data[d] - mg - (v-mean)*rstd*mgh)
		}
	}
	near(t, "dx", got[0].Data, dx, 1e-8) // eps is a float32 in the spec
	near(t, "dgamma", got[1].Data, dgamma, 1e-8)
	near(t, "dbeta", got[2].Data, dbeta, 1e-8)
}

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// TestCrossEntropyClosedForm: dx = (softmax(x) - onehot)*dloss, 0 for an ignored
// row.
func TestCrossEntropyClosedForm(t *testing.T) {
	rng := newRand()
	x := normal(rng, 3, 4)
	target := row(2, -100, 0)
	dloss := []float64{0.5, 7, -2}
	call := oracle.Call{Ins: []oracle.Array{x, target}}
	got := cotangents(t, "cross_entropy", call, counting(dloss...))
	want := make([]float64, 12)
	for _, r := range []int{0, 2} {
		total := 0.0
		for v := range 4 {
			total += math.Exp(x.Data[r*4+v])
		}
		for v := range 4 {
			want[r*4+v] = math.Exp(x.Data[r*4+v]) / total * dloss[r]
		}
		want[r*4+int(target.Data[r])] -= dloss[r]
	}
	near(t, "dlogits", got[0].Data, want, 1e-14)
}

// TestMatmulClosedForm: dA = dC*op(B)^T and dB = op(A)^T*dC for every choice of
// transposes.
func TestMatmulClosedForm(t *testing.T) {
	const m, k, n = 3, 4, 5
	for _, ta := range []string{"n", "t"} {
		for _, tb := range []string{"n", "t"} {
			rng := newRand()
			a, b, dc := stored(rng, ta, m, k), stored(rng, tb, k, n), normal(rng, m, n)
			got := cotangents(t, "matmul", oracle.Call{Ins: []oracle.Array{a, b}}, counting(dc.Data...), "ta", ta, "tb", tb)
			var da, db []float64
			da, db = make([]float64, m*k), make([]float64, k*n)
			for i := range m {
				for j := range n {
					for l := range k {
						da[place(ta, i, l, m, k)] += dc.Data[i*n+j] * b.Data[place(tb, l, j, k, n)]
						db[place(tb, l, j, k, n)] += dc.Data[i*n+j] * a.Data[place(ta, i, l, m, k)]
					}
				}
			}
			near(t, "da "+ta+tb, got[0].Data, da, 1e-13)
			near(t, "db "+ta+tb, got[1].Data, db, 1e-13)
		}
	}
}

// stored draws a matrix that is stored transposed if trans is t.
func stored(rng *rand.Rand, trans string, rows, cols int) oracle.Array {
	if trans == "t" {
		return normal(rng, cols, rows)
	}
	return normal(rng, rows, cols)
}

// place is where element i, j of a rows by cols matrix is stored.
func place(trans string, i, j, rows, cols int) int {
	if trans == "t" {
		return j*rows + i
	}
	return i*cols + j
}

// TestEmbeddingClosedForm: repeated ids add up, rows without an id are zero.
func TestEmbeddingClosedForm(t *testing.T) {
	call := oracle.Call{Ins: []oracle.Array{row(2, 2, 2, 0), oracle.NewArray(4, 2)}}
	got := cotangents(t, "embedding", call, counting(1))
	near(t, "dW", got[0].Data, []float64{1, 1, 0, 0, 3, 3, 0, 0}, 0)
}

// TestEmbeddingOutOfRange: an id outside the table stops the gradient, too.
func TestEmbeddingOutOfRange(t *testing.T) {
	p, s := instance(t, "embedding")
	r := derive(t, p, declOf(s))
	for _, id := range []float64{5, 6, -1, math.MinInt32} {
		_, err := oracle.Run(r.Program, oracle.Call{Ins: []oracle.Array{row(0, id), oracle.NewArray(5, 3), oracle.NewArray(2, 3)}})
		if err == nil {
			t.Errorf("id %v of 5 rows is no error", id)
		}
	}
}

// TestConvolutionBackward: the worked example of a strided, padded convolution
// with overlapping windows: the gradient of the columns by matmul, of the
// sequence by col2im.
func TestConvolutionBackward(t *testing.T) {
	params := map[string]int64{"dilation": 1, "stride": 2, "pad_left": 1, "pad_right": 1}
	p, s := instance(t, "im2col")
	call := oracle.Call{Ins: []oracle.Array{array([]int{1, 6, 1}, 1, 2, 3, 4, 5, 6)}, Free: map[string][]int{"K": {3}}}
	for _, q := range p.Params {
		call.Params = append(call.Params, oracle.Int(params[q.Name]))
	}
	w, dy := []float64{1, 10, 100}, []float64{1, 10, 100}
	cols := forward(t, p, call)[0]
	var dcols []float64
	dw := make([]float64, 3)
	for l, g := range dy {
		for k, v := range w {
			dcols = append(dcols, g*v)
			dw[k] += g * cols.Data[l*3+k]
		}
	}
	near(t, "dw", dw, []float64{420, 531, 642}, 0)
	got := gradient(t, p, declOf(s), call, counting(dcols...))
	near(t, "dx", got[0].Data, []float64{10, 110, 100, 1100, 1000, 10000}, 0)
}

// TestCol2ImIsTheAdjoint: <im2col(x), c> = <x, col2im(c)> for strides,
// dilations and paddings.
func TestCol2ImIsTheAdjoint(t *testing.T) {
	rng := newRand()
	p, s := instance(t, "im2col")
	r := derive(t, p, declOf(s))
	for range 200 {
		params := map[string]int64{
			"dilation": 1 + rng.Int64N(3), "stride": 1 + rng.Int64N(4), "pad_left": rng.Int64N(5), "pad_right": rng.Int64N(5),
		}
		k := 1 + rng.IntN(4)
		call := oracle.Call{Free: map[string][]int{"K": {k}}}
		for _, q := range p.Params {
			call.Params = append(call.Params, oracle.Int(params[q.Name]))
		}
		length := int(params["dilation"])*(k-1) + 1 + rng.IntN(8)
		call.Ins = []oracle.Array{normal(rng, 2, length, 3)}
		outs := forward(t, p, call)
		c := filled(outs[0].Shape, rng.NormFloat64)
		dx := backward(t, r, call, outs, []oracle.Array{c})[0]
		left, right := dot(outs[0].Data, c.Data), dot(call.Ins[0].Data, dx.Data)
		if math.Abs(left-right) > 1e-11 {
			t.Fatalf("with %v and %d taps of %d: %v and %v", params, k, length, left, right)
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// TestGELUClosedForm: the derivatives at 0, 1 and -1.
func TestGELUClosedForm(t *testing.T) {
	x := row(0, 1, -1)
	near(t, "tanh form", cotangents(t, "gelu", oracle.Call{Ins: []oracle.Array{x}}, counting(1))[0].Data, []float64{0.5, 1.08296408, -0.08296408}, 1e-8)
	near(t, "erf form", cotangents(t, "gelu_erf", oracle.Call{Ins: []oracle.Array{x}}, counting(1))[0].Data, []float64{0.5, 1.08331547, -0.08331547}, 1e-8)
}
