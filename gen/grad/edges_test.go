package grad_test

import (
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/oracle"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// TestGELUFarOut: 1 and 0 where the argument of tanh would leave the range, at
// the infinities too, and NaN for NaN.
func TestGELUFarOut(t *testing.T) {
	for _, name := range []string{"gelu", "gelu_erf"} {
		x := row(12, 40, -12, -40, inf, -inf, nan)
		got := cotangents(t, name, oracle.Call{Ins: []oracle.Array{x}}, counting(1))
		near(t, name, got[0].Data, []float64{1, 1, 0, 0, 1, 0, nan}, 1e-12)
	}
}

// TestUnguardedGELU: the same for the plain formulas, in which an infinite
// factor meets a derivative that is zero.
func TestUnguardedGELU(t *testing.T) {
	for name, formula := range map[string]string{
		"sigmoid": "x * sigmoid(1.5957691216057308*(x + 0.044715*x*x*x))",
		"tanh":    "0.5*x*(1 + tanh(0.7978845608028654*(x + 0.044715*x*x*x)))",
		"erf":     "0.5*x*(1 + erf(x*0.7071067811865476))",
	} {
		p := written(t, "[in.x]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\nexpr = \""+formula+"\"\n").Instances[0]
		call := oracle.Call{Ins: []oracle.Array{row(40, 1e30, inf, -40, -1e30, nan)}}
		got := gradient(t, p, grad.Decl{Wrt: []string{"x"}}, call, counting(1))
		near(t, name, got[0].Data, []float64{1, 1, 1, 0, 0, nan}, 1e-12)
	}
}

// TestSoftmaxMasked: a row of -inf has a zero gradient, and does not touch its
// neighbours.
func TestSoftmaxMasked(t *testing.T) {
	x := array([]int{5, 3},
		-inf, -inf, -inf,
		-inf, 0, -inf,
		0, -inf, 0,
		1000, 1000, -inf,
		inf, 0, 0)
	got := cotangents(t, "softmax", oracle.Call{Ins: []oracle.Array{x}}, counting(1, 2, 3))
	near(t, "dx", got[0].Data, []float64{0, 0, 0, 0, 0, 0, -0.5, 0, 0.5, -0.25, 0.25, 0, nan, nan, nan}, 1e-12)
	got = cotangents(t, "log_softmax", oracle.Call{Ins: []oracle.Array{array([]int{2, 2}, -inf, -inf, 0, 0)}}, counting(1, 2))
	near(t, "log", got[0].Data, []float64{1, 2, -0.5, 0.5}, 1e-12)
}

// TestMaskedMean: what is masked out has a zero gradient whatever it holds; an
// empty mask has none.
func TestMaskedMean(t *testing.T) {
	x := array([]int{4, 3, 1}, 1, 2, 3, 1, nan, 3, 1, inf, 3, 6e4, 6e4, 6e4)
	mask := array([]int{4, 3}, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1)
	got := cotangents(t, "masked_mean", oracle.Call{Ins: []oracle.Array{x, mask}}, counting(1))
	third := 1.0 / 3
	near(t, "dx", got[0].Data, []float64{0, 0, 0, .5, 0, .5, .5, 0, .5, third, third, third}, 1e-15)
}

// TestMaskInALaterStep: a let that is infinite where a later step leaves it out
// gives no NaN.
func TestMaskInALaterStep(t *testing.T) {
	p := written(t, `
[in.x]
shape = "R... D"
[in.w]
shape = "R... D"
[in.mask]
shape = "R... D"
type  = "u8"
[let.p]
expr = "log(x) * w"
[let.total]
over   = "D"
reduce = "sum"
expr   = "where(mask != 0, p, 0)"
[out.y]
shape = "R..."
expr  = "total"
`).Instances[0]
	call := oracle.Call{Ins: []oracle.Array{
		array([]int{1, 4}, 2, 0, -1, 4), array([]int{1, 4}, 1, 1, inf, nan), array([]int{1, 4}, 1, 0, 0, 0),
	}}
	got := gradient(t, p, grad.Decl{Wrt: []string{"x", "w"}}, call, counting(1))
	near(t, "dx", got[0].Data, []float64{0.5, 0, 0, 0}, 1e-15)
	near(t, "dw", got[1].Data, []float64{math.Log(2), 0, 0, 0}, 1e-15)
}

// TestUnreadRows: a let of a table is not differentiated in rows that no id
// picks.
func TestUnreadRows(t *testing.T) {
	p := written(t, `
[in.ids]
shape  = "N..."
type   = "i32"
bounds = "size(V)"
[in.w]
shape = "V D"
[let.e]
expr = "log(w)"
[out.y]
shape = "N... D"
expr  = "e[ids, D]"
`).Instances[0]
	call := oracle.Call{Ins: []oracle.Array{row(1, 1), array([]int{3, 1}, 0, 4, 0)}}
	got := gradient(t, p, grad.Decl{Wrt: []string{"w"}}, call, counting(1))
	near(t, "dw", got[0].Data, []float64{0, 0.5, 0}, 1e-15)
}

// TestCrossEntropyIgnored: with every target ignored the gradient is zero, NaN
// logits or not.
func TestCrossEntropyIgnored(t *testing.T) {
	x := array([]int{2, 3}, 1, nan, 3, inf, 5, -inf)
	for _, name := range []string{"cross_entropy", "cross_entropy_mean"} {
		got := cotangents(t, name, oracle.Call{Ins: []oracle.Array{x, row(-100, -100)}}, counting(1))
		near(t, name, got[0].Data, make([]float64, 6), 0)
	}
	got := cotangents(t, "cross_entropy", oracle.Call{Ins: []oracle.Array{array([]int{2, 2}, 1000, 0, 1000, 0), row(0, 1)}}, counting(1))
	near(t, "far apart", got[0].Data, []float64{0, 0, 1, -1}, 1e-15)
}

// TestZeroRow: normalising a row of zeros.
func TestZeroRow(t *testing.T) {
	zero := oracle.NewArray(1, 4)
	ones := row(1, 1, 1, 1)
	got := cotangents(t, "rmsnorm", oracle.Call{Ins: []oracle.Array{zero, ones}}, counting(1))
	near(t, "rmsnorm", got[0].Data, []float64{316.22777, 316.22777, 316.22777, 316.22777}, 1e-2)
	got = cotangents(t, "l2_normalize", oracle.Call{Ins: []oracle.Array{zero}}, counting(1, 2, 3, 4))
	near(t, "l2_normalize", got[0].Data, []float64{1e12, 2e12, 3e12, 4e12}, 1e6)
	got = cotangents(t, "cosine_similarity", oracle.Call{Ins: []oracle.Array{zero, array([]int{1, 4}, 1, 1, 1, 1)}}, counting(1))
	near(t, "cosine", got[0].Data, []float64{5e5, 5e5, 5e5, 5e5}, 1)
	near(t, "cosine", got[1].Data, []float64{0, 0, 0, 0}, 0)
}

// ties are formulas of a and b at places where the derivative is chosen.
var ties = []struct {
	formula        string
	a, b           float64
	wantDA, wantDB float64
}{
	{"max(a, b)", 2, 2, 1, 0},
	{"min(a, b)", 2, 2, 1, 0},
	{"max(a, b)", 3, 2, 1, 0},
	{"min(a, b)", 3, 2, 0, 1},
	{"abs(a) + 0*b", 0, 0, 0, 0},
	{"abs(a) + 0*b", -2, 0, -1, 0},
	{"sqrt(a) + 0*b", 0, 1, 0, 0},
	{"pow(a, b)", 0, 0, 0, 0},
	{"pow(a, b)", 0, 1, 1, 0},
	{"pow(a, b)", 0, 2, 0, 0},
	{"pow(a, b)", -2, 0, 0, nan},
	{"pow(a, 2) + 0*b", 0, 1, 0, 0},
	{"pow(a, b)", 3, 2, 6, 9 * math.Log(3)},
	{"exp(a*a*-1)*b", inf, 1, 0, 0},
	{"f16(a) * b", 1.0002, 2, 2, 1},
	{"round(a) * b", 1.4, 2, 0, 1},
	{"stop(a) * b", 3, 2, 0, 3},
	{"a / b", 6, 3, 1.0 / 3, -2.0 / 3},
}

func TestTiesAndEdges(t *testing.T) {
	for _, c := range ties {
		p := written(t, "[in.a]\nshape = \"P...\"\n[in.b]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\nexpr = \""+c.formula+"\"\n").Instances[0]
		call := oracle.Call{Ins: []oracle.Array{row(c.a), row(c.b)}}
		got := gradient(t, p, grad.Decl{Wrt: []string{"a", "b"}}, call, counting(1))
		near(t, c.formula+" by a", got[0].Data, []float64{c.wantDA}, 1e-12)
		near(t, c.formula+" by b", got[1].Data, []float64{c.wantDB}, 1e-12)
	}
}

// TestTiedReductions: the lowest index has it all; a NaN has it before all
// others.
func TestTiedReductions(t *testing.T) {
	for _, c := range []struct {
		op   string
		want []float64
	}{{"max", []float64{0, 1, 0, 0}}, {"min", []float64{1, 0, 0, 0}}} {
		p := written(t, "[in.x]\nshape = \"R... D\"\n[out.y]\nshape = \"R...\"\nover = \"D\"\nreduce = \""+c.op+"\"\nexpr = \"x\"\n").Instances[0]
		d := grad.Decl{Wrt: []string{"x"}}
		got := gradient(t, p, d, oracle.Call{Ins: []oracle.Array{array([]int{1, 4}, 2, 5, 2, 5)}}, counting(1))
		near(t, c.op, got[0].Data, c.want, 0)
		got = gradient(t, p, d, oracle.Call{Ins: []oracle.Array{array([]int{1, 4}, 2, nan, 2, nan)}}, counting(1))
		near(t, c.op+" of NaN", got[0].Data, []float64{0, 1, 0, 0}, 0)
	}
}

// TestProductWithZeros: one zero leaves the product of the others to it, two
// leave nothing.
func TestProductWithZeros(t *testing.T) {
	p := written(t, "[in.x]\nshape = \"R... D\"\n[out.y]\nshape = \"R...\"\nover = \"D\"\nreduce = \"prod\"\nexpr = \"x\"\n").Instances[0]
	x := array([]int{3, 3}, 2, 3, 4, 2, 0, 4, 0, 3, 0)
	got := gradient(t, p, grad.Decl{Wrt: []string{"x"}}, oracle.Call{Ins: []oracle.Array{x}}, counting(1))
	near(t, "dx", got[0].Data, []float64{12, 8, 6, 0, 8, 0, 0, 0, 0}, 0)
}

// TestEmpty: extents of zero give empty or zero gradients.
func TestEmpty(t *testing.T) {
	got := cotangents(t, "matmul", oracle.Call{Ins: []oracle.Array{oracle.NewArray(2, 0), oracle.NewArray(0, 3)}}, counting(1), "ta", "n", "tb", "n")
	if len(got[0].Data) != 0 || len(got[1].Data) != 0 {
		t.Errorf("gradients of an empty product: %v", got)
	}
	got = cotangents(t, "matmul", oracle.Call{Ins: []oracle.Array{oracle.NewArray(2, 3), oracle.NewArray(3, 0)}}, counting(1), "ta", "n", "tb", "n")
	near(t, "da", got[0].Data, make([]float64, 6), 0)
	got = cotangents(t, "embedding", oracle.Call{Ins: []oracle.Array{row(), oracle.NewArray(3, 2)}}, counting(1))
	near(t, "dW", got[0].Data, make([]float64, 6), 0)
	cotangents(t, "layernorm", oracle.Call{Ins: []oracle.Array{oracle.NewArray(4, 0), row(), row()}}, counting(1))
	got = cotangents(t, "layernorm", oracle.Call{Ins: []oracle.Array{oracle.NewArray(0, 2), row(1, 1), row(0, 0)}}, counting(1))
	near(t, "dgamma", got[1].Data, []float64{0, 0}, 0)
}
