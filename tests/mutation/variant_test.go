package mutation

import (
	"fmt"
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
	functions := map[string]*ir.Func{}
	for _, s := range res.Specs {
		for _, op := range ops(s) {
			for _, f := range op.Bound.C {
				functions[f.Symbol] = f
			}
		}
	}
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
					x.kernels = append(x.kernels, functions[k.C])
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

// mutants returns the operators of every variant of res: those that compute
// places and conditions, then those that compute values. It ruins the kernels.
func mutants(t *testing.T, res *gen.Result) [][]mutant {
	t.Helper()
	var list [][]mutant
	for _, v := range variants(res) {
		var places, values []mutant
		for k, f := range v.kernels {
			for n, b := range operators(f) {
				if b.Type().Elem == ir.F32 {
					values = append(values, mutant{k, n})
				} else {
					places = append(places, mutant{k, n})
				}
			}
		}
		if len(values) == 0 {
			t.Fatalf("%s computes nothing", v.test)
		}
		list = append(list, append(places, values...))
	}
	return list
}

// operators returns what ir.Corrupt exchanges in f, in its order, and has
// exchanged all of it.
func operators(f *ir.Func) []*ir.Bin {
	var list []*ir.Bin
	for {
		before := map[*ir.Bin]ir.Op{}
		each(f, func(b *ir.Bin) { before[b] = b.Op })
		if _, ok := ir.Corrupt(f, len(list)); !ok { // the opposite of an operator has one, too
			return list
		}
		var changed *ir.Bin
		each(f, func(b *ir.Bin) {
			if b.Op != before[b] {
				changed = b
			}
		})
		list = append(list, changed)
	}
}

func each(f *ir.Func, visit func(*ir.Bin)) {
	ir.WalkExprs(f.Body, func(e ir.Expr) {
		if b, ok := e.(*ir.Bin); ok {
			visit(b)
		}
	})
}

// corrupt exchanges one operator and returns what that did.
func (v *variant) corrupt(t *testing.T, m mutant) string {
	t.Helper()
	did, ok := ir.Corrupt(v.kernels[m.kernel], m.operator)
	if !ok {
		t.Fatalf("%s: there is no operator %v", v.test, m)
	}
	return v.kernels[m.kernel].Symbol + ": " + did
}
