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
