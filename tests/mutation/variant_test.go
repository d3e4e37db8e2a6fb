package mutation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/ir"
)

// variant is an op for one binding of its types: what one parity test tests.
type variant struct {
	test    string     // name of its parity test
	kernels []*ir.Func // in order
}

// variants returns all variants of all ops in a fixed order.
func variants(res *gen.Result) []*variant {
	var list []*variant
	for _, s := range res.Specs {
		for i, op := range ops(s) {
			test := "Test" + s.GoName + "/"
			if i >= len(s.Ops) {
				test += "grad/"
			}
			for _, v := range op.Bound.Op.Variants {
				x := &variant{test: test + types(v.Ins) + "-" + types(v.Outs)}
				for _, k := range v.Kernels {
					at := slices.IndexFunc(op.Bound.C, func(f *ir.Func) bool { return f.Symbol == k.Symbol })
					x.kernels = append(x.kernels, op.Bound.C[at])
				}
				list = append(list, x)
			}
		}
	}
	return list
}

func types[T fmt.Stringer](list []T) string {
	var names []string
	for _, t := range list {
		names = append(names, t.String())
	}
	return strings.Join(names, ",")
}

// mutant is one operator of a variant.
type mutant struct{ kernel, operator int }

// mutants returns the operators of every variant of res, and ruins its kernels.
func mutants(res *gen.Result) [][]mutant {
	var list [][]mutant
	for _, v := range variants(res) {
		var ms []mutant
		for k, f := range v.kernels {
			for n := 0; ; n++ {
				if _, ok := ir.Corrupt(f, n); !ok { // it has as many operators as before
					break
				}
				ms = append(ms, mutant{k, n})
			}
		}
		list = append(list, ms)
	}
	return list
}

// corrupt exchanges one operator and returns what that did.
func (v *variant) corrupt(t *testing.T, m mutant) string {
	t.Helper()
	did, ok := ir.Corrupt(v.kernels[m.kernel], m.operator)
	if !ok {
		t.Fatalf("%s: no operator %v", v.test, m)
	}
	return v.kernels[m.kernel].Symbol + ": " + did
}
