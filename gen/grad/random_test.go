package grad_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/grad"
)

// TestRandomPrograms compares the gradients of drawn programs: chains of lets,
// with and without reductions, over inputs of different axes.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			spec := (&author{rng: rand.New(rand.NewPCG(seed, 11))}).spec()
			p := written(t, spec).Instances[0]
			d := grad.Decl{Wrt: []string{"a", "b", "c"}}
			compare(t, p, d, seed)
			if t.Failed() {
				t.Log(spec)
			}
		})
	}
}

// author writes specs that stay within the range where differences are exact.
type author struct {
	rng   *rand.Rand
	names []string
}

func (a *author) spec() string {
	var b strings.Builder
	b.WriteString("[in.a]\nshape = \"R... D\"\n[in.b]\nshape = \"D\"\n[in.c]\nshape = \"R...\"\n[in.ids]\nshape = \"R...\"\ntype = \"i32\"\nbounds = \"size(D)\"\n")
	a.names = []string{"a", "b", "c", "b[ids]"}
	for i := range 2 + a.rng.IntN(4) {
		name := fmt.Sprintf("t%d", i)
		fmt.Fprintf(&b, "[let.%s]\n", name)
		expr := a.expr(3)
		if over := [...]string{"", "", "D", "R"}[a.rng.IntN(4)]; over != "" {
			// The reduced axis must be one of the expression's.
			expr = fmt.Sprintf("tanh(%s) * a", expr)
			fmt.Fprintf(&b, "over = %q\nreduce = %q\n", over, [...]string{"sum", "mean", "max", "min", "prod"}[a.rng.IntN(5)])
		}
		fmt.Fprintf(&b, "expr = %q\n", expr)
		a.names = append(a.names, name)
	}
	all := strings.Join(a.names, " + ")
	fmt.Fprintf(&b, "[out.y]\nshape = \"R... D\"\nexpr = \"%s + (%s) * %s\"\n", a.expr(2), all, a.expr(2))
	fmt.Fprintf(&b, "[out.z]\nshape = \"D\"\nover = \"R\"\nreduce = \"mean\"\nexpr = \"%s * a\"\n", a.expr(2))
	return b.String()
}

func (a *author) expr(depth int) string {
	if depth == 0 || a.rng.IntN(6) == 0 {
		return a.names[a.rng.IntN(len(a.names))]
	}
	x, y := a.expr(depth-1), a.expr(depth-1)
	forms := []string{
		"(X + Y)", "(X - Y)", "X * Y", "sin", "tanh(X)", "sigmoid(X) * Y", "exp(-(X)*(X))", "X / (1.5 + tanh(Y))",
		"sqrt(1 + (X)*(X))", "where(Y > 0.1, X, Y)", "max(X, Y)", "min(X, 0.5)", "log(2 + tanh(X))", "rsqrt(1 + (X)*(X))", "abs(X)", "erf(X)",
	}
	form := forms[a.rng.IntN(len(forms))]
	if form == "sin" {
		form = "0.25 * X"
	}
	return "(" + strings.NewReplacer("X", "("+x+")", "Y", "("+y+")").Replace(form) + ")"
}
