package expr

import (
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
)

// TestProverSimplify: what the host guarantees decides a condition, and what is
// left of it stays.
func TestProverSimplify(t *testing.T) {
	at := diag.Pos{}
	a, b := &Axis{Name: "A"}, &Axis{Name: "B"}
	pad := &Param{Name: "pad", Type: ParamI32}
	q := &ParamRef{Node{K: Int}, pad}
	both := &Axis{Name: "N", Extent: AddOf(at, SizeOf(at, a), SizeOf(at, b))}
	p := &Program{
		Name: "p", Axes: []*Axis{a, b, both}, Params: []*Param{pad},
		Require: []Require{{Name: "pad", Cond: &Binary{Node: Node{K: Bool}, Op: Ge, X: q, Y: Whole(at, 0)}}},
	}
	moved := AddOf(at, IndexOf(at, b), SizeOf(at, a))
	shifted := AddOf(at, IndexOf(at, a), q)
	cmp := func(op BinaryOp, x, y Expr) Expr { return &Binary{Node: Node{K: Bool}, Op: op, X: x, Y: y} }
	prover := NewProver(p)
	for _, c := range []struct {
		cond Expr
		want string
	}{
		{cmp(Lt, moved, SizeOf(at, both)), "true"},
		{cmp(Lt, moved, SizeOf(at, a)), "false"},
		{cmp(Ge, moved, Whole(at, 0)), "true"},
		{cmp(Ge, shifted, Whole(at, 0)), "true"},
		{cmp(Eq, shifted, shifted), "true"},
		{cmp(Ne, moved, IndexOf(at, b)), "B + size(A) != B"},
		{cmp(Lt, shifted, SizeOf(at, a)), "A + pad < size(A)"},
		{AndOf(at, cmp(Ge, shifted, Whole(at, 0)), cmp(Lt, shifted, SizeOf(at, a))), "A + pad < size(A)"},
		{OrOf(at, cmp(Lt, shifted, Whole(at, 0)), cmp(Lt, shifted, SizeOf(at, a))), "A + pad < size(A)"},
		{NotOf(at, cmp(Lt, moved, SizeOf(at, a))), "true"},
	} {
		if got := Format(prover.Simplify(c.cond)); got != c.want {
			t.Errorf("%s is simplified to %s, want %s", Format(c.cond), got, c.want)
		}
	}
}

// TestProverGiven: a condition that holds, or does not, decides others.
func TestProverGiven(t *testing.T) {
	at := diag.Pos{}
	a, n := &Axis{Name: "A"}, &Axis{Name: "N"}
	prover := NewProver(&Program{Name: "p", Axes: []*Axis{a, n}})
	cmp := func(op BinaryOp, x, y Expr) Expr { return &Binary{Node: Node{K: Bool}, Op: op, X: x, Y: y} }
	rest := SubOf(at, IndexOf(at, n), SizeOf(at, a))
	below := cmp(Lt, IndexOf(at, n), SizeOf(at, a))
	for _, c := range []struct {
		holds bool
		cond  Expr
		want  string
	}{
		{false, cmp(Ge, rest, Whole(at, 0)), "true"},
		{true, cmp(Ge, rest, Whole(at, 0)), "false"},
		{false, cmp(Ge, rest, Whole(at, 1)), "N - size(A) >= 1"},
	} {
		if got := Format(prover.Given(below, c.holds).Simplify(c.cond)); got != c.want {
			t.Errorf("given that N < size(A) is %t, %s is simplified to %s, want %s", c.holds, Format(c.cond), got, c.want)
		}
	}
	if got := Format(prover.Simplify(cmp(Ge, rest, Whole(at, 0)))); got != "N - size(A) >= 0" {
		t.Errorf("given nothing, it is simplified to %s", got)
	}
}

// TestAffine: sums and multiples of a position fall into a factor and the rest.
func TestAffine(t *testing.T) {
	at := diag.Pos{}
	a, b := &Axis{Name: "A"}, &Axis{Name: "B"}
	i, j, n := IndexOf(at, a), IndexOf(at, b), SizeOf(at, b)
	for _, c := range []struct {
		e          Expr
		coef, rest string
	}{
		{AddOf(at, MulOf(at, i, n), j), "size(B)", "B"},
		{SubOf(at, j, MulOf(at, Whole(at, 3), i)), "-3", "B"},
		{MulOf(at, AddOf(at, i, j), n), "size(B)", "B * size(B)"},
		{j, "0", "B"},
	} {
		coef, rest, ok := Affine(c.e, a)
		if !ok || Format(coef) != c.coef || Format(rest) != c.rest {
			t.Errorf("%s is not split into %s*A + %s: %t", Format(c.e), c.coef, c.rest, ok)
		}
	}
	for _, e := range []Expr{MulOf(at, i, i), DivOf(at, i, n)} {
		if coef, rest, ok := Affine(e, a); ok {
			t.Errorf("%s is split into %s*A + %s", Format(e), Format(coef), Format(rest))
		}
	}
}
