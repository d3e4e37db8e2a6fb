package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/ir"
)

// Share lets equal kernels of the given ops, which are those of one spec, be one
// function under the symbol of the first: the kernels between the steps of a
// gradient are often the same for all storage types, and so are the parts of a
// list of any length.
func Share(ops []*Result) {
	first := map[string]string{}
	for _, r := range ops {
		if len(r.Raw) > 0 || len(r.Unlowered) > 0 {
			continue // without both forms there is nothing to compare
		}
		for v := range r.Op.Variants {
			ks := r.Op.Variants[v].Kernels
			for k := range ks {
				ks[k].Symbol = r.share(first, ks[k].Symbol)
			}
		}
	}
}

// share returns the symbol of the first function that equals the one named
// symbol, which it drops when it is another one.
func (r *Result) share(first map[string]string, symbol string) string {
	c, msl := find(r.C, symbol), find(r.MSL, symbol)
	key := content(r.C[c]) + content(r.MSL[msl])
	if same, ok := first[key]; ok {
		r.C = slices.Delete(r.C, c, c+1)
		r.MSL = slices.Delete(r.MSL, msl, msl+1)
		return same
	}
	first[key] = symbol
	return symbol
}

func find(fs []*ir.Func, symbol string) int {
	return slices.IndexFunc(fs, func(f *ir.Func) bool { return f.Symbol == symbol })
}

// content is all of f but its symbol. The number by which a fault names a tensor
// is part of it.
func content(f *ir.Func) string {
	var b strings.Builder
	_, body, _ := strings.Cut(ir.Format(f), "\n")
	fmt.Fprintf(&b, "%t %t %d\n%s", f.SIMT, f.Guarded, f.Threads, body)
	ir.WalkStmts(f.Body, func(s ir.Stmt) {
		if fault, ok := s.(*ir.Fault); ok {
			fmt.Fprintf(&b, "fault names tensor %d\n", fault.B.Arg)
		}
	})
	return b.String()
}
