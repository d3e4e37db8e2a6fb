package grad_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen/grad"
)

// constructs are specs for what the catalogue does not use, each compared with
// central differences.
var constructs = []struct {
	name, spec string
	wrt        []string
}{
	{"prod", `
[in.x]
shape = "R... D"
[out.y]
shape  = "R..."
over   = "D"
reduce = "prod"
expr   = "x * x + x"
`, []string{"x"}},
	{"max over two axes", `
[in.x]
shape = "A B C"
[out.y]
shape  = "B"
over   = "A C"
reduce = "max"
expr   = "x * x"
`, []string{"x"}},
	{"min, and its position", `
[in.x]
shape = "R... D"
[let.low]
over   = "D"
reduce = "min"
expr   = "x"
[out.y]
shape = "R... D"
expr  = "(x - low) * x"
[out.at]
shape  = "R..."
type   = "i32"
over   = "D"
reduce = "argmin"
expr   = "x"
`, []string{"x"}},
	{"mean over two axes", `
[in.x]
shape = "A B C"
[in.s]
shape = "B"
[let.m]
over   = "A C"
reduce = "mean"
expr   = "x * s"
[out.y]
shape = "A B"
expr  = "m * s"
`, []string{"x", "s"}},
	{"flip", `
[in.x]
shape = "R... L"
[out.y]
shape = "R... L"
expr  = "x[R, size(L) - 1 - L] * x"
`, []string{"x"}},
	{"convolution", `
[param.stride]
type = "i32"
[param.pad]
type = "i32"
[in.x]
shape = "B L C"
fill  = 0
[in.w]
shape = "O C K"
[axes]
Lout = "(size(L) + 2*pad - size(K))/stride + 1"
[require]
stride = "stride > 0"
window = "pad >= 0 && size(K) > 0 && size(L) + 2*pad >= size(K)"
[out.y]
shape  = "B Lout O"
over   = "C K"
reduce = "sum"
expr   = "x[B, Lout*stride + K - pad, C] * w"
`, []string{"x", "w"}},
	{"nearest upsampling", `
[in.x]
shape = "R... L"
fill  = 0
[axes]
N = "2*size(L)"
[out.y]
shape = "R... N"
expr  = "exp(x[R, N/2])"
`, []string{"x"}},
	{"index remainder", `
[in.x]
shape = "L D"
fill  = 0
[axes]
N = "7"
[out.y]
shape = "N D"
expr  = "x[(N*N) % max(size(L), 1), D]"
`, []string{"x"}},
	{"own axis as another index", `
[in.x]
shape = "L D"
fill  = 0
[in.s]
shape = "L D"
[out.y]
shape = "L D"
expr  = "x[L*L, D] * s"
`, []string{"x", "s"}},
	{"diagonal", `
[in.x]
shape = "B C"
fill  = 0
[out.y]
shape = "B"
expr  = "x[B, B] * x[B, 0]"
`, []string{"x"}},
	{"gather of a let", `
[in.ids]
shape  = "N..."
type   = "i32"
bounds = "size(V)"
[in.w]
shape = "V D"
[let.e]
expr = "exp(w)"
[out.y]
shape = "N... D"
expr  = "e[ids, D] * e[ids, D]"
`, []string{"w"}},
	{"stop", `
[in.x]
shape = "R... D"
[let.m]
over   = "D"
reduce = "sum"
expr   = "x"
[out.y]
shape = "R... D"
expr  = "x * x + 0 * stop(m)"
`, []string{"x"}},
	{"power by a tensor", `
[in.a]
shape = "R... D"
[in.b]
shape = "D"
[out.y]
shape = "R... D"
expr  = "pow(a, b) + pow(a, 3) + pow(b, 1)"
`, []string{"a", "b"}},
	{"intrinsics", `
[in.a]
shape = "R... D"
[in.b]
shape = "D"
[out.y]
shape = "R... D"
expr  = "fma(a, b, log1p(a * a)) + expm1(b) + floor(a) * b + round(b) - sign(a) + abs(a) * erf(b) + min(a, b) / (2 + tanh(max(a, b)))"
`, []string{"a", "b"}},
	{"attention", `
[in.q]
shape = "B M D"
[in.k]
shape = "B N D"
[in.v]
shape = "B N E"
[let.s]
over   = "D"
reduce = "sum"
expr   = "q * k"
[let.top]
over   = "N"
reduce = "max"
expr   = "s"
[let.e]
expr = "exp(s - stop(top))"
[let.total]
over   = "N"
reduce = "sum"
expr   = "e"
[let.p]
expr = "e / total"
[out.y]
shape  = "B M E"
over   = "N"
reduce = "sum"
expr   = "p * v"
`, []string{"q", "k", "v"}},
	{"product of sums in one step", `
[in.a]
shape = "M K"
[in.s]
shape = "K"
[in.b]
shape = "K N"
[in.c]
shape = "K N"
[out.y]
shape  = "M N"
over   = "K"
reduce = "sum"
expr   = "(a + 1) * s * (b - c)"
`, []string{"a", "s", "b", "c"}},
	{"output that is a let, and a saved value", `
[in.x]
shape = "R... D"
[let.m]
over   = "D"
reduce = "mean"
expr   = "x * x"
[let.r]
expr = "sqrt(m + 1)"
[out.norm]
shape = "R..."
expr  = "r"
[out.y]
shape = "R... D"
expr  = "x / r"
[save]
names = ["m"]
`, []string{"x"}},
	{"sum of what does not vary", `
[in.x]
shape = "R..."
[in.s]
shape = ""
[in.z]
shape = "R... D"
[out.y]
shape  = "R..."
over   = "D"
reduce = "sum"
expr   = "s * x + z + where(z > 0, s, x * s)"
`, []string{"x", "s", "z"}},
	{"moved flat position", `
[param.seed]
type = "u64"
[in.x]
shape = "R... L"
[out.y]
shape = "R... L"
expr  = "x[R, size(L) - 1 - L] * uniform(philox(seed, flat(y)))"
`, []string{"x"}},
	{"flat position in an input of other axes", `
[param.seed]
type = "u64"
[in.x]
shape = "R... L"
[in.z]
shape = "L"
[out.y]
shape = "R... L"
expr  = "x * uniform(philox(seed, flat(z)))"
`, []string{"x"}},
	{"two biases of one shape", `
[in.x]
shape = "R... D"
[in.a]
shape = "D"
[in.b]
shape = "D"
[out.y]
shape = "R... D"
expr  = "x + a + b"
`, []string{"x", "a", "b"}},
	{"step by minus two", `
[param.step]
type = "i32"
[in.x]
shape = "L D"
fill  = 0
[axes]
N = "size(L)/2"
[require]
step = "0 < step && step < 3"
[out.y]
shape = "N D"
expr  = "x[-2*N + size(L) - 1, D] + x[N*(2*step) - (-N), D] * x[step*N + step, 0]"
`, []string{"x"}},
	{"step that may be zero", `
[param.step]
type = "i32"
[in.x]
shape = "L D"
fill  = 0
[out.y]
shape = "L D"
expr  = "x[L*step, D]"
`, []string{"x"}},
	{"read that is never inside", `
[in.x]
shape = "L D"
fill  = 2
[out.y]
shape = "L D"
expr  = "x[L + size(L), D] * 3"
`, []string{"x"}},
	{"the same choice twice", `
[in.x]
shape = "R... D"
[in.s]
shape = "R..."
[out.y]
shape = "R... D"
expr  = "where(s > 0, where(s > 0, x * x, x), where(s > 0, 2*x, 3*x*s))"
`, []string{"x", "s"}},
	{"quotient of reductions", `
[in.x]
shape = "R... D"
[in.w]
shape = "D"
[let.m]
over   = "D"
reduce = "mean"
expr   = "x"
[let.v]
over   = "D"
reduce = "mean"
expr   = "(x - m) * (x - m) * w / (1 + w * w)"
[let.k]
over   = "D"
reduce = "mean"
expr   = "(m - x) * (x - m) / (1 + v)"
[out.y]
shape = "R... D"
expr  = "(x - m) / sqrt(v * v + 1) * k"
`, []string{"x", "w"}},
	{"logsumexp with guards", `
[in.x]
shape = "R... D"
[let.top]
over   = "D"
reduce = "max"
expr   = "x"
[let.total]
over   = "D"
reduce = "sum"
expr   = "exp(x - top)"
[out.lse]
shape = "R..."
expr  = "top + log(total)"
[out.p]
shape = "R... D"
expr  = "exp(x - top) / total"
`, []string{"x"}},
	{"no derivative", `
[in.x]
shape = "R... D"
[out.y]
shape = "R... D"
expr  = "floor(x)"
`, []string{"x"}},
	{"value of an output below a broadcast", `
[in.x]
shape = "R... D"
[in.s]
shape = ""
[out.y]
shape = "R... D"
expr  = "tanh(s) * sigmoid(x) + s"
`, []string{"x", "s"}},
}

func TestConstructs(t *testing.T) {
	for _, c := range constructs {
		t.Run(c.name, func(t *testing.T) {
			for i, p := range written(t, c.spec).Instances {
				compare(t, p, grad.Decl{Wrt: c.wrt}, uint64(i)+100)
			}
		})
	}
}
