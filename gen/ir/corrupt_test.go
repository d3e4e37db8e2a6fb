package ir

import "testing"

// Corrupt changes each operator that it can once, and says when there are no
// more.
func TestCorrupt(t *testing.T) {
	lit := &Lit{T: Scalar(I32), I: 1}
	sum := &Bin{Op: Add, X: lit, Y: lit}
	body := func() []Stmt {
		s := &Bin{Op: Mul, X: sum, Y: sum} // the sum is one operator, used twice
		return []Stmt{&If{C: &Bin{Op: Lt, X: s, Y: lit}, Then: []Stmt{&Decl{V: &Var{Name: "x"}, X: &Un{Op: Neg, X: lit}}}}}
	}
	for n, want := range []string{
		"lt(mul(add(1, 1), add(1, 1)), 1) became ge(mul(add(1, 1), add(1, 1)), 1)",
		"mul(add(1, 1), add(1, 1)) became add(add(1, 1), add(1, 1))",
		"add(1, 1) became sub(1, 1)",
	} {
		sum.Op = Add
		if got, ok := Corrupt(&Func{Body: body()}, n); !ok || got != want {
			t.Errorf("Corrupt %d: %q, %t; want %q", n, got, ok, want)
		}
	}
	sum.Op = Add
	if got, ok := Corrupt(&Func{Body: body()}, 3); ok {
		t.Errorf("Corrupt 3 did %q, but there are three operators", got)
	}
}
