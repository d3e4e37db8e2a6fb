package lower_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/simt"
	"github.com/kernelgen/kgen/gen/plan"
)

// A read asks whether it is inside only where nothing else says so: the requirements of
// the spec, or the choice whose side it is, if nothing else needs what it reads.
func TestReadsAskOnce(t *testing.T) {
	const y = "[param.k]\ntype = \"i32\"\n[out.y]\nshape = \"R N\"\n"
	for name, c := range map[string]struct {
		text string
		asks int
	}{
		"unknown":   {"[axes]\nN = \"size(C)\"\n" + y + "expr = \"x[R, N + k]\"\n", 1},
		"required":  {"[axes]\nN = \"size(C) - k\"\n[require]\nk = \"k >= 0 && k <= size(C)\"\n" + y + "expr = \"x[R, N + k]\"\n", 0},
		"chosen":    {"[axes]\nN = \"size(C) + k\"\n[require]\nk = \"k >= 0\"\n" + y + "expr = \"where(N >= k, x[R, N - k], 7)\"\n", 0},
		"rejected":  {"[axes]\nN = \"size(C) + k\"\n[require]\nk = \"k >= 0\"\n" + y + "expr = \"where(N < k, 7, x[R, N - k])\"\n", 0},
		"half":      {"[axes]\nN = \"size(C) + 2*k\"\n[require]\nk = \"k >= 0\"\n" + y + "expr = \"where(N >= k, x[R, N - k], 7)\"\n", 1},
		"elsewhere": {"[axes]\nN = \"size(C) + k\"\n[require]\nk = \"k >= 0\"\n" + y + "expr = \"where(N >= k, x[R, N - k], 7) + x[R, N - k]\"\n", 1},
		"bounded":   {"[in.id]\nshape = \"C\"\ntype = \"i32\"\nbounds = \"size(R)\"\nfill = 0\n[axes]\nN = \"size(C) + k\"\n[require]\nk = \"k >= 0\"\n" + y + "expr = \"f32(where(N >= k, id[N - k], 7)) + 0 * x[R, 0]\"\n", 2},
		"inside":    {"[axes]\nN = \"size(C) + k\"\n[require]\nk = \"k >= 0\"\n" + y + "expr = \"where(N >= k, x[R, N - k] * 2, 7)\"\n", 1},
	} {
		pl, err := plan.New(program(t, name, c.text))
		if err != nil {
			t.Fatal(err)
		}
		k, err := simt.Lower(pl, pl.Kernels[0], name, &lower.Block{})
		if err != nil {
			t.Fatal(err)
		}
		// A map has one loop for whole parts and one for what is left.
		got, want := 0, 2*c.asks
		ir.WalkExprs(k.Func.Body, func(e ir.Expr) {
			if l, ok := e.(*ir.Load); ok && l.If != nil {
				got++
			}
		})
		if got != want {
			t.Errorf("%s: %d conditions, want %d\n%s", name, got, want, ir.Format(k.Func))
		}
	}
}
